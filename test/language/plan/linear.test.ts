import { expect, test } from 'vitest'
import { columnName } from '../../../src/language/ast/column-name.ts'
import { identities } from '../../../src/language/ast/identity.ts'
import { PlanningBudget } from '../../../src/language/ast/planning-budget.ts'
import { sessionsQuery } from '../../../src/language/catalog/sessions.ts'
import { clickhouse } from '../../../src/language/dialects/clickhouse/dialect.ts'
import type { Dialect } from '../../../src/language/dialects/dialect.ts'
import { duckdb } from '../../../src/language/dialects/duckdb/dialect.ts'
import { printQuery } from '../../../src/language/dialects/printer.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import type { PlanContext } from '../../../src/language/plan/context.ts'
import { footprintOf } from '../../../src/language/plan/footprint.ts'
import { passes } from '../../../src/language/plan/passes.ts'
import { propertyUses } from '../../../src/language/plan/property-uses.ts'
import { timeRange } from '../../../src/language/plan/time-range.ts'
import { resolve } from '../../../src/language/resolver/resolve.ts'
import type { TypedQuery } from '../../../src/language/resolver/typed.ts'

// How often the parts of the planner look at the nodes of a statement. A statement of twice the branches has twice the looks, and no pass needs many.

const context = {
  project: { id: 1, timezone: 'Europe/Berlin', weekStartDay: 1 as const },
  now: new Date('2024-06-01T12:00:00Z'),
  propertyType: () => null,
  cohort: () => undefined,
  hasMerges: true,
  eventId: (name: string) => name.length,
  slot: () => undefined,
}

/** The tree, and how often the kind of one of its nodes has been asked for. */
function counted(tree: TypedQuery): { readonly tree: TypedQuery; readonly looks: () => number } {
  const wrapped = new WeakMap<object, object>()
  let count = 0
  const wrap = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value
    const known = wrapped.get(value)
    if (known) return known
    const proxy: object = new Proxy(value, {
      get(target, key) {
        if (key === 'kind') count++
        const found: unknown = Reflect.get(target, key)
        return key === 'type' || key === 'row' || key === 'span' || key === 'via' ? found : wrap(found)
      },
    })
    wrapped.set(value, proxy)
    wrapped.set(proxy, proxy)
    return proxy
  }
  return { tree: wrap(tree) as TypedQuery, looks: () => count }
}

function looksOf(statement: string, dialect: Dialect): ReadonlyMap<string, number> {
  const planning = { budget: new PlanningBudget(), idOf: identities() }
  const planContext: PlanContext = {
    ...planning,
    capabilities: dialect.capabilities,
    projectId: 1,
    store: context,
    showsJson: false,
    view: (_, fields, fresh) => resolve(sessionsQuery(fields, {}), context, columnName, planning, fresh),
  }
  const looks = new Map<string, number>()
  const look = <T>(name: string, tree: TypedQuery, work: (tree: TypedQuery) => T): T => {
    const { tree: watched, looks: count } = counted(tree)
    const result = work(watched)
    looks.set(name, count())
    return result
  }
  let tree = resolve(parseQuery(statement), context, columnName, planning)
  for (const { name, run } of passes) {
    look(name, tree, (watched) => run(watched, planContext))
    tree = run(tree, planContext)
  }
  look('time range', tree, (watched) => timeRange(watched, context.now, 'Europe/Berlin'))
  look('property uses', tree, propertyUses)
  look('footprint', tree, (watched) => footprintOf(watched, { bytes: 2 ** 29, threads: 4 }))
  look('printer', tree, (watched) => printQuery(watched, dialect, { ...context.project, ...planning }))
  return looks
}

const repeated = (count: number, write: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(between)
const statements: Readonly<Record<string, (branches: number) => string>> = {
  AND: (n) =>
    `select count() from events where ${repeated(n, (i) => [`event != 'e${i}'`, `properties.p < ${i}`, `distinct_id = 'd${i}'`][i % 3]!, ' and ')}`,
  'a tree of OR and AND': (n) =>
    `select count() from events where ${repeated(n / 2, (i) => `(event = 'e${i}' and properties.p${i % 9} = 'x${i}')`, ' or ')}`,
  CASE: (n) => `select case ${repeated(n, (i) => `when event = 'e${i}' then ${i}`, ' ')} end as c, count() from events group by c`,
  IN: (n) => `select count() from events where event in (${repeated(n, (i) => `'e${i}'`, ', ')})`,
  'columns of properties': (n) => `select ${repeated(n, (i) => `properties.p${i} as c${i}`, ', ')} from events`,
  'aliases of aliases': (n) => `select 1 as a0, ${repeated(n, (i) => `a${Math.floor(i / 2)} + ${i} as a${i + 1}`, ', ')} from events`,
}
/** Of one part of the planner at one branch. A branch has three nodes to seven, and each is looked at by the one above it and by itself. */
const mostLooks = 60

for (const [engine, dialect] of Object.entries({ DuckDB: duckdb, ClickHouse: clickhouse }))
  for (const [name, write] of Object.entries(statements))
    test(`each part of the planner looks at each branch so often, however many there are: ${name}, for ${engine}`, () => {
      const [few, many] = [300, 600]
      const [small, large] = [looksOf(write(few), dialect), looksOf(write(many), dialect)]
      expect(large.size).toBe(passes.length + 4)
      for (const [part, looks] of large) {
        expect(looks, part).toBeLessThanOrEqual(2.1 * small.get(part)! + 50)
        expect(looks / many, part).toBeLessThan(mostLooks)
      }
    })
