import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import { naiveFunnel } from '../reference/funnels.ts'

// Every example of docs/funnels.md: the engine, the naive funnel and the page must say the same, and the people behind each number be as many.

interface ExampleEvent {
  readonly who: string
  /** Of the day, below 0 on the day before. */
  readonly minute: number
  readonly event: string
}
interface Example {
  readonly steps: readonly string[]
  readonly optional: readonly number[]
  readonly order: 'ordered' | 'strict' | 'unordered'
  readonly window: readonly [number, 'minute' | 'day']
  readonly exclude: { readonly event: string; readonly from: number; readonly to: number } | null
  readonly events: readonly ExampleEvent[]
  readonly counts: readonly number[]
  /** Of the day before; null: not compared. */
  readonly previous: readonly number[] | null
}

const page = readFileSync(join(import.meta.dirname, '../../docs/funnels.md'), 'utf8')
const examples = [...page.matchAll(/```funnel\n([\s\S]*?)```/g)].map((match) => read(match[1]!))

function read(text: string): Example {
  const lines = text.trim().split('\n')
  const setting = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const steps = setting('steps')!.split(', ')
  const [length, unit] = setting('window')!.split(' ')
  const counts = lines.find((line) => line.startsWith('=> '))!.slice(3).split('; previous ').map((list) => list.split(', ').map(Number)) // biome-ignore format: one list
  const exclude = /^(.+) from (\d+) to (\d+)$/.exec(setting('exclude') ?? '')
  return {
    steps: steps.map((step) => step.replace(/\?$/, '')),
    optional: steps.flatMap((step, i) => (step.endsWith('?') ? [i] : [])),
    order: (setting('order') ?? 'ordered') as Example['order'],
    window: [Number(length), unit!.replace(/s$/, '') as 'minute' | 'day'],
    exclude: exclude && { event: exclude[1]!, from: Number(exclude[2]) - 1, to: Number(exclude[3]) - 1 },
    events: lines.flatMap((line) => {
      const match = /^(\w+)\s+(the day before )?(\d\d):(\d\d)\s+(.+)$/.exec(line)
      return match ? [{ who: match[1]!, minute: Number(match[3]) * 60 + Number(match[4]) - (match[2] ? 1440 : 0), event: match[5]! }] : []
    }),
    counts: counts[0]!,
    previous: setting('compare') === 'the day before' ? counts[1]! : null,
  }
}

let waymark: LocalWaymark
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-02-01T00:00:00Z') })
})
afterAll(() => waymark.close())

const node = (event: string) => ({ kind: 'EventsNode', event, name: event })
const queryOf = (example: Example) => ({
  kind: 'FunnelsQuery',
  series: example.steps.map((step, i) => ({ ...node(step), optionalInFunnel: example.optional.includes(i) })),
  dateRange: { date_from: '2026-01-05', date_to: example.previous ? '2026-01-05' : '2026-01-06' },
  ...(example.previous && { compareFilter: { compare: true } }),
  funnelsFilter: {
    funnelOrderType: example.order,
    funnelWindowInterval: example.window[0],
    funnelWindowIntervalUnit: example.window[1],
    exclusions: example.exclude
      ? [{ ...node(example.exclude.event), funnelFromStep: example.exclude.from, funnelToStep: example.exclude.to }]
      : [],
  },
})

function naiveCounts(example: Example, all: readonly ExampleEvent[]): number[] {
  const people = [...new Set(all.map((e) => e.who))]
  const window = example.window[0] * (example.window[1] === 'day' ? 1440 : 1)
  const outcomes = people.map((who) => {
    const own = all.filter((e) => e.who === who)
    const events = own.map((e) => ({
      time: e.minute,
      steps: example.steps.flatMap((step, i) => (step === e.event ? [i] : [])),
      excludes: example.exclude?.event === e.event ? range(example.exclude.from, example.exclude.to) : [],
      value: e.event,
    }))
    const outcome = naiveFunnel(events, { order: example.order, steps: example.steps.length, window, optional: example.optional })
    return outcome?.steps ?? []
  })
  return example.steps.map((_, i) => outcomes.filter((steps) => steps.includes(i)).length)
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

describe('the examples of docs/funnels.md', () => {
  test.each(examples.map((example, i) => [`${i + 1}: ${example.steps.join(' → ')}`, example] as const))('%s', async (_, example) => {
    const project = await waymark.createProject({ name: 'funnel' })
    const day = Date.parse('2026-01-05T00:00:00Z')
    await project.ingest({
      batch: example.events.map((e) => ({
        event: e.event,
        distinct_id: e.who,
        timestamp: new Date(day + e.minute * 60_000).toISOString(),
      })),
    })
    const query = queryOf(example)
    const { results } = (await project.answer(query)) as { results: { count: number; compare_label?: string }[] }
    expect(results.map((step) => step.count)).toEqual([...example.counts, ...(example.previous ?? [])])
    for (const compare of ['current', 'previous'] as const) {
      const isCurrent = compare === 'current'
      const counts = isCurrent ? example.counts : example.previous
      if (!counts) continue
      if (example.previous) expect(results.filter((step) => step.compare_label === compare).map((step) => step.count)).toEqual(counts)
      const own = example.events.filter(({ minute }) => minute >= 0 === isCurrent)
      expect(naiveCounts(example, own)).toEqual(counts)
      for (const [i, count] of counts.entries()) {
        const source = { kind: 'FunnelsActorsQuery', source: query, funnelStep: i + 1, compare }
        const behind = (await project.answer({ kind: 'ActorsQuery', source, select: ['person'] })) as { results: unknown[] }
        expect(behind.results, `people of step ${i + 1}, ${compare}`).toHaveLength(count)
      }
    }
  })

  test('there are some', () => {
    expect(examples.length).toBeGreaterThan(8)
  })
})
