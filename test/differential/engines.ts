import fc from 'fast-check'
import { parseQuery } from '../../src/language/parser/parse.ts'
import type { JsonValue } from '../../src/queries/answers/rows.ts'
import { type ClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'
import { answerStatement } from '../reference/statements/interpreter.ts'
import { CannotAnswer, written } from '../reference/statements/values.ts'
import { worldOf } from '../reference/statements/world.ts'
import { cohortSize, events, groups, identify, numericProperties, persons, zones } from './data.ts'
import { type Drawn, statements } from './statements.ts'

// The same statements on both engines, and by a naive interpreter where it knows how, over the same events. A difference is a bug in a cell, a
// printer, a pass or the interpreter.

async function openProject(id: number, timezone: string): Promise<TestProject> {
  const project = await openTestProject({ id, timezone, weekStartDay: id % 2 ? 1 : 0 })
  await project.project.definePropertyTypes(numericProperties.map((name) => ({ type: 'event', name, property_type: 'Numeric' })))
  const { ids } = await project.project.importPersons(persons)
  await project.project.importGroups(groups)
  await project.project.createCohort({ id: 1, name: 'Some', is_static: true, person_ids: ids.slice(0, cohortSize) })
  await project.project.ingest({ batch: [...events] })
  await project.project.ingest({ batch: [identify] })
  return project
}

/** The same for the naive interpreter. */
const world = worldOf({
  events: [...events, identify],
  persons,
  groups,
  same: { u7: 'u6' },
  personless: ['u8'],
  cohort: persons.slice(0, cohortSize).flatMap((person) => person.distinct_ids),
  declared: Object.fromEntries(numericProperties.map((name) => [name, 'Numeric'])),
})

/** What the interpreter says: rows, or why it cannot say. */
function naive(statement: string, { timezone, weekStartDay }: TestProject['settings']): Answer | CannotAnswer {
  try {
    const { rows } = answerStatement(parseQuery(statement), world, { timezone, weekStartDay })
    return rows.map((row) => row.map((value) => written(value, timezone) as JsonValue))
  } catch (error) {
    if (error instanceof CannotAnswer) return error
    throw error
  }
}

export interface Difference {
  readonly statement: string
  readonly timezone: string
  readonly duckdb: string
  readonly clickhouse: string
  /** What the interpreter says. */
  readonly naive: string
  readonly sql: string
}
export interface Outcome {
  readonly runs: number
  readonly refusedByBoth: number
  readonly rows: number
  /** How many statements the interpreter answered too, and why it did not answer the others. */
  readonly answered: number
  readonly unanswered: ReadonlyMap<string, number>
  readonly axes: ReadonlyMap<string, number>
  readonly pairs: number
  readonly differences: readonly Difference[]
}

/** Differences that are known, each with its reason. One that no statement shows any more is reported as such. */
export const known: readonly { readonly matches: (statement: string) => boolean; readonly reason: string }[] = []

export interface Differential {
  /** `first`: statements to run before those that are drawn. */
  run(count: number, seed: number, first?: readonly string[]): Promise<Outcome>
  close(): Promise<void>
}

export async function openDifferential(): Promise<Differential> {
  const clickhouse: ClickHouse = await openClickHouse()
  const projects = await Promise.all(zones.map((zone, i) => openProject(i + 1, zone)))
  for (const project of projects) await clickhouse.load(project)
  return {
    async run(count, seed, first = []) {
      const axes = new Map<string, number>()
      const pairs = new Set<string>()
      const differences: Difference[] = []
      let rows = 0
      let refusedByBoth = 0
      let answered = 0
      const unanswered = new Map<string, number>()
      const sample: Drawn[] = [...first.map((sql) => ({ sql, axes: [] })), ...fc.sample(statements, { numRuns: count, seed })]
      for (const [i, { sql: statement, axes: met }] of sample.entries()) {
        const project = projects[i % projects.length]!
        const [a, b] = [await answer(project.rows(statement)), await answer(clickhouse.rows(statement, project))]
        const taken = [...new Set([...met, `zone:${project.settings.timezone}`])].sort()
        taken.forEach((axis, n) => {
          axes.set(axis, (axes.get(axis) ?? 0) + 1)
          for (const other of taken.slice(n + 1)) pairs.add(`${axis} × ${other}`)
        })
        if (typeof a !== 'string') rows += a.length
        if (typeof a === 'string' && typeof b === 'string') refusedByBoth++
        const c = naive(statement, project.settings)
        if (c instanceof CannotAnswer) unanswered.set(c.message, (unanswered.get(c.message) ?? 0) + 1)
        else answered++
        if ((agree(a, b) && (c instanceof CannotAnswer || agree(a, c))) || known.some((k) => k.matches(statement))) continue
        const { sql } = await project.compile(statement).then(
          (c) => c.printed,
          () => ({ sql: '' }),
        )
        const said = c instanceof CannotAnswer ? `cannot answer ${c.message}` : show(c)
        differences.push({ statement, timezone: project.settings.timezone, duckdb: show(a), clickhouse: show(b), naive: said, sql })
      }
      return { runs: count, refusedByBoth, rows, answered, unanswered, axes, pairs: pairs.size, differences }
    },
    async close() {
      await clickhouse.close()
      for (const project of projects) await project.close()
    },
  }
}

type Answer = readonly (readonly JsonValue[])[] | string
const answer = (work: Promise<JsonValue[][]>): Promise<Answer> =>
  work.then(
    (rows) => rows,
    (error: unknown) => `${error instanceof Error ? `${error.message}`.slice(0, 300) : error}`,
  )

const show = (found: Answer) => (typeof found === 'string' ? `refused: ${found}` : sorted(found).slice(0, 12).join(' '))
const sorted = (rows: readonly (readonly JsonValue[])[]) => rows.map((row) => JSON.stringify(row.map(rounded))).sort()
// Sums of floats are added in another order.
const rounded = (value: JsonValue): JsonValue =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(9)) : Array.isArray(value) ? value.map(rounded) : value

function agree(a: Answer, b: Answer): boolean {
  if (typeof a === 'string' || typeof b === 'string') return typeof a === typeof b
  const [x, y] = [sorted(a), sorted(b)]
  return x.length === y.length && x.every((row, i) => row === y[i])
}
