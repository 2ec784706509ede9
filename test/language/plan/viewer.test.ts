import { afterAll, beforeAll, expect, test } from 'vitest'
import { compile } from '../../../src/engine/execution/compile.ts'
import { clickhouse } from '../../../src/language/dialects/clickhouse/dialect.ts'
import type { Dialect } from '../../../src/language/dialects/dialect.ts'
import { duckdb } from '../../../src/language/dialects/duckdb/dialect.ts'
import type { TypedSelect } from '../../../src/language/resolver/typed.ts'
import { walk } from '../../../src/language/resolver/typed-walk.ts'
import { viewerRules } from '../../../src/queries/viewer/index.ts'
import { asQuery, openTestProject, type TestProject } from '../../harness/duckdb.ts'

// The part of a statement that reads the events of a viewer: which conditions stand in it, and what keeps the others out.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const filter = [{ type: 'event', key: 'customer', operator: 'exact', value: 'acme' }]

/** The parts, and the fields that the conditions of each read. */
async function partsOf(statement: string, dialect: Dialect) {
  const context = await project.context()
  const viewer = viewerRules({ kind: 'ViewerQuery', filter, source: { kind: 'SqlLikeQuery' } }, context)
  const { resolved } = compile(asQuery(statement), { context: { ...context, viewer }, dialect })
  const parts: { readonly part: TypedSelect; readonly fields: readonly string[] }[] = []
  walk(resolved, {
    query(query) {
      for (const { query: part } of query.ctes) {
        if (part.kind !== 'select' || part.from?.kind !== 'scan') continue
        const { reads } = part.from
        const fields = new Set<string>()
        walk(
          { ...part, columns: [], from: null },
          {
            expr(expr) {
              const read = expr.kind === 'column' && reads.find(({ name }) => name === expr.name)
              if (read) fields.add(read.json ? String(read.json.path[0]) : read.field)
            },
          },
        )
        parts.push({ part, fields: [...fields].sort() })
      }
    },
  })
  return parts
}

test.each<[why: string, statement: string, fields: readonly string[]]>([
  ['none', 'select count() from events', ['customer']],
  ['a time', "select count() from events where timestamp > '2026-03-10'", ['customer', 'timestamp']],
  ['a name, beside what may fail', "select count() from events where event = 'a' and intDiv(1, properties.n) = 1", ['customer', 'event']],
  ['both', "select count() from events where timestamp >= '2026-03-10' and event = 'a'", ['customer', 'event', 'timestamp']],
  ['one of several', "select count() from events where timestamp > '2026-03-10' or event = 'a'", ['customer']],
  ['a property', "select count() from events where properties.plan = 'pro'", ['customer']],
  ['a time that is computed', "select count() from events where addDays(timestamp, 1) > '2026-03-10'", ['customer']],
  ['a number that a row has', 'select count() from events where event = distinct_id', ['customer']],
  ['after groups', "select event from events group by event having event = 'a'", ['customer']],
  ['of the right side of a join', "select count() from events e left join events f on f.event = 'a' and e.uuid = f.uuid", ['customer']],
  ['beside a join', "select count() from events e left join events f on e.uuid = f.uuid where f.event = 'a'", ['customer']],
])('where the engine computes no part by itself, what may be computed for other rows stands in it: %s', async (_, statement, fields) => {
  const parts = await partsOf(statement, clickhouse)
  expect(parts.length).toBeGreaterThan(0)
  for (const { part, fields: found } of parts) {
    expect(found).toEqual(fields)
    expect(part.limit).toMatchObject({ limit: Number.MAX_SAFE_INTEGER, offset: 0 })
  }
})

test('where it does, it has the filter alone', async () => {
  const parts = await partsOf("select count() from events where timestamp > '2026-03-10' and event = 'a'", duckdb)
  expect(parts).toMatchObject([{ fields: ['customer'], part: { limit: null } }])
})
