import { afterAll, beforeAll, expect, test } from 'vitest'
import { rulesOfValues, values } from '../../docs/property-rule.ts'
import { hasClickHouse } from '../clickhouse/chdb.ts'
import { type ClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'

// The table of docs/properties.md at every count of values, before and behind the one that gives a key its columns, in both orders of arrival.

const calendar = { timezone: 'Europe/Berlin', weekStartDay: 1 } as const
let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(() => clickhouse.close())

const eventOf = (event: string, properties: object) => ({ event, distinct_id: 'u', timestamp: '2024-05-30T10:00:00Z', properties })
/** A key for each of the values: `x0` has nothing but the first one. */
const properties = Object.fromEntries([...values.map((value, i) => [`x${i}`, value]), ['ten', 10]])
const asked = eventOf('asked', properties)

const expressions = values.flatMap((_, i) =>
  rulesOfValues.map(({ expression }) => expression.replaceAll('properties.x', `properties.x${i}`)),
)
const statement = `select ${expressions.map((expression, i) => `${expression} as v${i}`).join(', ')} from events where event = 'asked'`
const expected = values.flatMap((_, i) => rulesOfValues.map(({ becomes }) => becomes[i]))

async function onDuckdb(project: TestProject): Promise<void> {
  expect((await project.rows(statement)).flat()).toEqual(expected)
}
/** It has no columns of properties, so the order of arrival is nothing to it. */
async function onClickHouse(project: TestProject): Promise<void> {
  if (!hasClickHouse) return
  await clickhouse.load(project)
  expect((await clickhouse.rows(statement, project)).flat()).toEqual(expected)
}

/** Waits until each slot that was given out is filled. */
async function slots(project: TestProject): Promise<number> {
  await project.facts()
  for (;;) {
    const rows = await project.instance.rows<{ slots: string; ready: string }>(
      `SELECT slots, ready_slots AS ready FROM "p1".main.property_keys WHERE name LIKE 'x%' AND slots <> ''`,
    )
    if (rows.every(({ slots, ready }) => slots === ready)) return rows.length
    await new Promise(setImmediate)
  }
}

test.each([1, 10, 999, 1_000, 1_001])('with %i values of each key', async (count) => {
  const others = Array.from({ length: count - 1 }, () => eventOf('other', properties))
  for (const parts of [
    [[asked], others],
    [others, [asked]],
  ]) {
    const project = await openTestProject(calendar)
    for (const batch of parts) if (batch.length) await project.project.ingest({ batch })
    expect(await slots(project)).toBe(count < 1_000 ? 0 : 8)
    await onDuckdb(project)
    if (count > 1_000 && parts[0] !== others) await onClickHouse(project)
    await project.close()
  }
})

test('with values of other kinds that come late', async () => {
  const project = await openTestProject(calendar)
  await project.project.ingest({ batch: [asked, ...Array.from({ length: 1_000 }, () => eventOf('other', properties))] })
  for (const late of [7, 'late', '7']) {
    await project.project.ingest({ batch: [eventOf('other', Object.fromEntries(values.map((_, i) => [`x${i}`, late])))] })
    await slots(project)
    await onDuckdb(project)
  }
  await onClickHouse(project)
  await project.close()
})
