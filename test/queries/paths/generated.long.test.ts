import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { PathsAnswer } from '../../../src/queries/paths/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { projectPool } from '../../harness/projects.ts'
import { earlierPaths, type ReferencePaths, type ReferencePathsAnswer, referencePathList, referencePaths } from '../../reference/paths.ts'
import { asPaths, pathEventArb, pathsArb, pathsAxes } from '../../reference/paths-cases.ts'
import type { ReferenceEvent } from '../../reference/trends.ts'
import { afterMerges, mergesArb } from '../../reference/trends-cases.ts'

// PathsQuery over generated events equals loops over the events, on both roads, and the actors of every edge have as many paths as the edge.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await pool.close()
  await clickhouse.close()
})

const runs = Number(process.env.WAYMARK_RUNS ?? 40)
const eventsArb = fc.array(pathEventArb, { minLength: 5, maxLength: 60, size: 'max' })
const queriesArb = fc.array(pathsArb, { minLength: 1, maxLength: 6, size: 'max' })

const rounded = ({ results, hasMore, unconnected }: ReferencePathsAnswer | PathsAnswer) => ({
  results: results.map(({ source, target, value, average_conversion_time: time, compare_label = null }) => ({
    edge: [source, target, value, Number(time.toFixed(3))],
    compare_label,
  })),
  hasMore,
  unconnected,
})

const met = new Map<string, number>()

test('generated paths over generated events answer what loops over the events answer', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        const right = rounded(referencePaths(afterMerges(events, merges), query))
        const ask = async (road: 'core' | 'sql') =>
          rounded((await answerQuery({ ...asPaths(query), modifiers: { road } }, project)) as PathsAnswer)
        expect(await ask('sql')).toEqual(right)
        expect(await ask('core')).toEqual(right)
        for (const value of new Set(pathsAxes(query))) met.set(value, (met.get(value) ?? 0) + 1)
      }
    }),
    { numRuns: runs },
  )
})

test('the queries met the values of all axes', () => {
  const all = [...new Set(fc.sample(pathsArb, { numRuns: 2_000, seed: 1 }).flatMap(pathsAxes))].sort()
  console.log(all.map((value) => `${value} ${met.get(value) ?? 0}`).join(', '))
  expect(all.length).toBe(52)
  if (runs >= 40) expect(all.filter((value) => met.has(value)).length).toBeGreaterThan(all.length * 0.75)
})

const persons = [1, 2, 3, 4].map((person) => ({ person, hasRecord: person !== 1 }))
const groups = ['g1', 'g2'].map((key) => ({ index: 0, key }))

/** Lists actors in several ways, and compares their numbers of paths. */
async function expectActors(
  events: readonly ReferenceEvent[],
  query: ReferencePaths,
  place: number,
  ask: (query: { readonly kind: string }) => Promise<object>,
): Promise<void> {
  const periods =
    query.compared === null
      ? [[null, query] as const]
      : ([
          ['current', query],
          ['previous', earlierPaths(query)],
        ] as const)
  for (const [compare, asked] of periods) {
    const paths = referencePathList(events, asked)
    const keys = paths.map(({ items }) => items.map((item, i) => `${i + 1}_${item}`))
    const through = [...new Set(keys.flat())]
    const key = through[place % Math.max(1, through.length)] ?? '1_nowhere'
    const next = keys.find((path) => path.includes(key))?.[Number.parseInt(key, 10)] ?? '2_nowhere'
    const cases: readonly (readonly [filter: object, count: (path: readonly string[]) => number])[] = [
      [{}, () => 1],
      [{ pathEndKey: key }, (path) => Number(path.includes(key))],
      [{ pathStartKey: key }, (path) => Number(path.includes(key) && path.at(-1) !== key)],
      [{ pathStartKey: key, pathEndKey: next }, (path) => Number(path.includes(key) && path.includes(next))],
      [{ pathDropoffKey: key }, (path) => Number(path.at(-1) === key)],
    ]
    for (const [filter, count] of cases) {
      const source = { kind: 'InsightActorsQuery', source: asPaths(query, filter), ...(compare && { compare }) }
      const answer = (await ask({ kind: 'ActorsQuery', source, select: ['id', 'event_count'], orderBy: [] } as { kind: string })) as {
        results: [string, number][]
      }
      const byActor = new Map<string, number>()
      for (const [i, path] of keys.entries()) {
        const n = count(path)
        if (n > 0) byActor.set(paths[i]!.actor, (byActor.get(paths[i]!.actor) ?? 0) + n)
      }
      const counted = (values: Iterable<number>) => [...values].sort((a, b) => a - b)
      expect([compare, filter, counted(answer.results.map(([, n]) => n))]).toEqual([compare, filter, counted(byActor.values())])
    }
  }
}

test('the actors of edges and items have as many paths as these', async () => {
  const whole = pathsArb.filter(({ sample }) => sample === undefined)
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, whole, fc.nat(), async (events, merges, query, place) => {
      const project = await pool.filled(query, events, { merges, groups, persons })
      await expectActors(afterMerges(events, merges), query, place, (asked) => answerQuery(asked, project))
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, queriesArb, fc.nat(), async (events, merges, [first, ...others], place) => {
      const project = await pool.filled(first!, events, { merges, groups, persons })
      await clickhouse.load(project)
      for (const drawn of [first!, ...others]) {
        // One load serves all queries, so they share a zone.
        const query = { ...drawn, zone: first!.zone }
        const answer = (await answerOnClickHouse(clickhouse, asPaths(query), project)) as PathsAnswer
        expect(rounded(answer)).toEqual(rounded(referencePaths(afterMerges(events, merges), query)))
      }
      if (first!.sample === undefined)
        await expectActors(afterMerges(events, merges), first!, place, (asked) => answerOnClickHouse(clickhouse, asked, project))
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})
