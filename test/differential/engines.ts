import fc from 'fast-check'
import type { JsonValue } from '../../src/queries/rows.ts'
import { type ClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'
import { type Drawn, statements } from './statements.ts'

// The same statements on both engines over the same events. A difference is a bug in a cell, a printer or a pass.

const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu'] as const

/** Few ids, equal timestamps, days on which clocks change, null beside '' and 'null', persons merged after the fact. */
function events(): object[] {
  const plans = ['pro', 'free', '', null, 'null', 'é', undefined]
  const times = [
    '2024-03-10T06:30:00Z',
    '2024-03-10T07:00:00Z',
    '2024-03-10T07:00:00.000001Z',
    '2024-03-30T18:14:59Z',
    '2024-03-31T00:30:00Z',
    '2024-02-29T23:59:59.999Z',
    '2024-04-01T12:00:00Z',
  ]
  const session = (n: number) => `018e27d3-2c14-7000-8000-${String(n).padStart(12, '0')}`
  return Array.from({ length: 120 }, (_, i) => {
    const plan = plans[i % plans.length]
    return {
      event: ['view', 'buy', '$pageview', '$autocapture'][i % 4],
      distinct_id: `u${i % 9}`,
      timestamp: times[(i * 5) % times.length],
      uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      properties: {
        i,
        ...(plan === undefined ? {} : { plan }),
        price: [1, 2.5, null, 0, -3, 10][i % 6],
        n: ['1', 'x', 2, '', null, '3.5', true][i % 7],
        'odd key': i % 3 ? `o'${i % 4}"` : null,
        nested: { a: i % 4 ? `n${i % 3}` : { b: [1, 'x'] } },
        list: i % 2 ? [`l${i % 3}`, 2] : [],
        ...(i % 5 ? { $session_id: session(i % 6) } : {}),
        ...(i % 3 ? { $groups: { company: `c${i % 2}` } } : {}),
        ...(i % 4 === 2
          ? {
              $current_url: `https://example.com/p${i % 5}?q=1`,
              utm_source: ['google', 'newsletter', ''][i % 3],
              ...(i % 8 === 2 ? { gclid: 'g' } : {}),
            }
          : {}),
        ...(i % 9 === 8 ? { $process_person_profile: false } : {}),
      },
    }
  })
}

async function openProject(id: number, timezone: string): Promise<TestProject> {
  const project = await openTestProject({ id, timezone, weekStartDay: id % 2 ? 1 : 0 })
  await project.project.definePropertyTypes([
    { type: 'event', name: 'price', property_type: 'Numeric' },
    { type: 'event', name: 'i', property_type: 'Numeric' },
  ])
  const { ids } = await project.project.importPersons(
    Array.from({ length: 6 }, (_, i) => ({
      distinct_ids: [`u${i}`],
      properties: { email: i % 2 ? `p${i}@example.com` : null, plan: ['pro', 'free', ''][i % 3] },
    })),
  )
  await project.project.importGroups([
    { group_type: 'company', group_key: 'c0', properties: { name: 'Zero' } },
    { group_type: 'company', group_key: 'c1', properties: {} },
  ])
  await project.project.createCohort({ id: 1, name: 'Some', is_static: true, person_ids: ids.slice(0, 3) })
  await project.project.ingest({ batch: events() })
  await project.project.ingest({
    batch: [{ event: '$identify', distinct_id: 'u6', properties: { $anon_distinct_id: 'u7', i: 120 }, timestamp: '2024-04-02T00:00:00Z' }],
  })
  return project
}

export interface Difference {
  readonly statement: string
  readonly timezone: string
  readonly duckdb: string
  readonly clickhouse: string
  readonly sql: string
}
export interface Outcome {
  readonly runs: number
  readonly refusedByBoth: number
  readonly rows: number
  readonly axes: ReadonlyMap<string, number>
  readonly pairs: number
  readonly differences: readonly Difference[]
}

/** Differences that are known, each with its reason. One that no statement shows any more is reported as such. */
export const known: readonly { readonly matches: (statement: string) => boolean; readonly reason: string }[] = []

export interface Differential {
  run(count: number, seed: number): Promise<Outcome>
  close(): Promise<void>
}

export async function openDifferential(): Promise<Differential> {
  const clickhouse: ClickHouse = await openClickHouse()
  const projects = await Promise.all(zones.map((zone, i) => openProject(i + 1, zone)))
  for (const project of projects) await clickhouse.load(project)
  return {
    async run(count, seed) {
      const axes = new Map<string, number>()
      const pairs = new Set<string>()
      const differences: Difference[] = []
      let rows = 0
      let refusedByBoth = 0
      const sample: Drawn[] = fc.sample(statements, { numRuns: count, seed })
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
        if (agree(a, b) || known.some((k) => k.matches(statement))) continue
        const { sql } = await project.compile(statement).then(
          (c) => c.printed,
          () => ({ sql: '' }),
        )
        differences.push({ statement, timezone: project.settings.timezone, duckdb: show(a), clickhouse: show(b), sql })
      }
      return { runs: count, refusedByBoth, rows, axes, pairs: pairs.size, differences }
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
