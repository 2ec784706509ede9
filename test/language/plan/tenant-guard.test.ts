import { expect, test } from 'vitest'
import { compile } from '../../../src/engine/execution/compile.ts'
import { InternalError } from '../../../src/errors/errors.ts'
import { noSpan } from '../../../src/errors/span.ts'
import { columnName } from '../../../src/language/ast/column-name.ts'
import { identities } from '../../../src/language/ast/identity.ts'
import { PlanningBudget } from '../../../src/language/ast/planning-budget.ts'
import { tables } from '../../../src/language/catalog/tables.ts'
import { clickhouse } from '../../../src/language/dialects/clickhouse/dialect.ts'
import { duckdb } from '../../../src/language/dialects/duckdb/dialect.ts'
import { printQuery } from '../../../src/language/dialects/printer.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import { tenantGuard } from '../../../src/language/plan/tenant-guard.ts'
import { resolve } from '../../../src/language/resolver/resolve.ts'
import { emptySelect, type ScanSource, type TypedQuery } from '../../../src/language/resolver/typed.ts'
import { eachSource } from '../../../src/language/resolver/typed-walk.ts'

const project = { id: 7, timezone: 'UTC', weekStartDay: 0 as const }
const context = { project, now: new Date(0), propertyType: () => null, cohort: () => ({ id: 1 }) }
const store = { hasMerges: true, eventId: () => 1, slot: () => undefined }

/** What ClickHouse does not do is printed too: a newer version may do it. */
const printing = { ...clickhouse, refused: () => null }
const printingDuckDb = { ...duckdb, hasQueriesInLambdas: true }

/** Every way that a statement can reach a table. */
const statements = [
  ...Object.keys(tables)
    .filter((name) => !name.startsWith('@'))
    .map((name) => `select * from ${name}`),
  'select person.properties.a, pdi.person.id, session.$channel_type, group_0.properties.x from events',
  'select count() from events a left join persons b on a.person_id = b.id full join groups c on a.event = c.key',
  'with recursive t as (select event from events union all select t.event from t join persons p on p.id is null) select * from t',
  'select (select count() from persons), exists(select 1 from events) from numbers(1) where 1 in (select cohort_id from cohort_people)',
  'select 1 from events where person_id in cohort 1 union all (select 2 from sessions except select 3 from persons)',
  'select arrayMap(x -> (select count() from events), [1])',
  'select sum((select 1 from events limit 1)) over (partition by (select 1 from persons limit 1)) from numbers(1)',
  'select 1 from numbers(1) array join (select groupArray(event) from events) as x',
  'select 1 from events e where exists (select 1 from persons p where p.id = e.person_id and not exists (select 1 from groups g where g.key = e.event))',
  'select 1 from events e where e.event in (select f.event from events f where f.person.created_at < e.timestamp limit 3)',
  'select exists (select 1 from sessions s where s.session_id = e.$session_id) from events e',
  'select l.key from events e cross join lateral (select key from groups g where g.key = e.event limit 1) l',
  'select 1 from numbers(1) order by (select 1 from events limit 1) limit 1 by (select 1 from persons limit 1)',
]

for (const statement of statements)
  test(`only the project's rows: ${statement}`, () => {
    const scans: ScanSource[] = []
    const { planned } = compile(parseQuery(statement), {
      context: { ...context, ...store },
      dialect: printingDuckDb,
    })
    eachSource(planned, (source) => {
      if (source.kind === 'scan') scans.push(source)
    })
    expect(scans.length).toBeGreaterThan(0)
    expect(scans.filter((scan) => scan.project !== 7)).toEqual([])

    // Names that are ours to give are blanked: what is left behind FROM is a place of the store, or a function over values.
    const duck = printQuery(planned, printingDuckDb, project).sql.replace(/"(?:[^"]|"")*"/g, (name) => (name === '"p7"' ? name : '_'))
    for (const [, place] of duck.matchAll(/\b(?:FROM|JOIN)\s+(?!LATERAL)([^\s()]+)/g))
      expect(place).toMatch(/^("p7"\.main\.\w+|_,?|range|generate_series|CAST)$/)

    const click = compile(parseQuery(statement), { context: { ...context, ...store }, dialect: printing }).printed.sql.replace(
      /`(?:[^`\\]|\\.)*`/g,
      '_',
    )
    const names = 'events|persons|distinct_ids|person_merges|groups|cohort_members'
    for (const [, table, after] of click.matchAll(new RegExp(`(?:FROM|JOIN) (${names})\\b(.{0,25})`, 'g')))
      expect(`${table}${after}`).toMatch(new RegExp(`^(${names}) WHERE project_id = 7\\)`))
  })

test('a scan that has not passed is refused by the printer', () => {
  for (const dialect of [duckdb, clickhouse])
    expect(() => printQuery(resolve(parseQuery('select event from events'), context, columnName), dialect, project)).toThrow(InternalError)
})

test('a table that is not in the catalog is refused, whoever asks', () => {
  const scan: ScanSource = { kind: 'scan', alias: 'x', table: 'meta', reads: [], sample: null, project: 7, withMerges: false, span: noSpan }
  const query: TypedQuery = { ...emptySelect, columns: [], from: scan, span: noSpan }
  const planContext = {
    capabilities: duckdb.capabilities,
    projectId: 7,
    store,
    showsJson: false,
    view: () => query,
    budget: new PlanningBudget(),
    idOf: identities(),
  }
  expect(() => tenantGuard(query, planContext)).toThrow(InternalError)
})
