import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  orderedValues,
  rulesOfFilters,
  rulesOfQueries,
  rulesOfRows,
  rulesOfTexts,
  rulesOfValues,
  values,
} from '../../docs/property-rule.ts'
import { answerQuery } from '../../src/engine/execution/answer.ts'
import { alias, field, order, select, table } from '../../src/language/ast/build.ts'
import { parseExpr, parseQuery } from '../../src/language/parser/parse.ts'
import { compileFilters } from '../../src/queries/filters/property-filters.ts'
import type { TrendsResponse } from '../../src/queries/trends/index.ts'
import { hasClickHouse } from '../clickhouse/chdb.ts'
import { type ClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { answerOnClickHouse } from '../harness/clickhouse-answer.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'

// The table of docs/properties.md, on both engines.

const calendar = { timezone: 'Europe/Berlin', weekStartDay: 1 } as const
let each: TestProject
let all: TestProject
let clickhouse: ClickHouse

const opened = async (id: number, given: readonly unknown[]): Promise<TestProject> => {
  const project = await openTestProject({ id, ...calendar })
  const batch = given.map((x, i) => ({
    event: 'e',
    distinct_id: 'u',
    timestamp: `2024-05-30T10:00:${String(i).padStart(2, '0')}Z`,
    properties: { x, ten: 10 },
  }))
  await project.project.ingest({ batch })
  await clickhouse.load(project)
  return project
}
beforeAll(async () => {
  clickhouse = await openClickHouse()
  each = await opened(1, values)
  all = await opened(2, orderedValues)
})
afterAll(async () => {
  await each.close()
  await all.close()
  await clickhouse.close()
})

const byTime = [order(field('timestamp'))]

test.each(rulesOfValues)('$where: $expression', async ({ expression, becomes }) => {
  const query = select({ columns: [alias(parseExpr(expression), 'v')], from: table('events'), orderBy: byTime })
  expect((await each.rows(query)).flat()).toEqual(becomes)
  if (hasClickHouse) expect((await clickhouse.rows(query, each)).flat()).toEqual(becomes)
})

test.each(rulesOfTexts)('$where: $expression', async ({ expression, becomes }) => {
  if ('refused' in becomes) {
    const query = `select ${expression}`
    const asked = answerQuery({ kind: 'SqlLikeQuery', query }, each)
    await expect(asked).rejects.toMatchObject({ code: 'type-mismatch', message: becomes.refused, position: { offset: 7 } })
    return
  }
  const query = select({ columns: [alias(parseExpr(expression), 'v')] })
  expect(await each.rows(query)).toEqual([[becomes.value]])
  if (hasClickHouse) expect(await clickhouse.rows(query, each)).toEqual([[becomes.value]])
})

test.each(rulesOfFilters)('the filter $operator $value', async ({ operator, value, keeps }) => {
  const where = compileFilters([{ key: 'x', type: 'event', operator, value }], 'event', await each.context())
  const query = select({ columns: [alias(parseExpr('toSecond(timestamp)'), 'i')], from: table('events'), where, orderBy: byTime })
  const kept = (rows: readonly (readonly unknown[])[]) => rows.map(([i]) => JSON.stringify(values[Number(i)]))
  const expected = keeps.map((kept) => JSON.stringify(kept))
  expect(kept(await each.rows(query))).toEqual(expected)
  if (hasClickHouse) expect(kept(await clickhouse.rows(query, each))).toEqual(expected)
})

test.each(rulesOfRows)('$where', async ({ statement, rows }) => {
  const answer = (await answerQuery({ kind: 'SqlLikeQuery', query: statement }, all)) as { results: unknown[][] }
  expect(answer.results).toEqual(rows)
  // A column has one type there.
  const texts = rows.map((row, i) =>
    row.map((value, k) => (typeof answer.results[i]![k] === 'number' && /min/.test(statement) ? String(value) : value)),
  )
  if (hasClickHouse) expect(await clickhouse.rows(parseQuery(statement), all)).toEqual(texts)
})

describe('queries', () => {
  const asked = (parts: object) => ({
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'e' }],
    dateRange: { date_from: '2024-05-30', date_to: '2024-05-30' },
    ...parts,
  })
  const shown = ({ results }: TrendsResponse) => results.map(({ label, data }) => [label, data?.[0]])

  test.each(rulesOfQueries)('$where', async ({ parts, rows }) => {
    expect(shown((await answerQuery(asked(parts), all)) as TrendsResponse)).toEqual(rows)
    if (hasClickHouse) expect(shown((await answerOnClickHouse(clickhouse, asked(parts), all)) as TrendsResponse)).toEqual(rows)
  })
})
