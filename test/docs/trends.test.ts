import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { TrendsResponse } from '../../src/queries/trends/index.ts'

// Every example of docs/trends.md: the engine must say what the page says.

interface Example {
  readonly settings: Readonly<Record<string, string>>
  readonly events: readonly {
    readonly who: string
    readonly at: string
    readonly event: string
    readonly properties: Readonly<Record<string, string>>
  }[]
  readonly answer: string
}

const page = readFileSync(join(import.meta.dirname, '../../docs/trends.md'), 'utf8')
const examples = [...page.matchAll(/```trend\n([\s\S]*?)```/g)].map((match) => read(match[1]!))

function read(text: string): Example {
  const lines = text.trim().split('\n')
  return {
    settings: Object.fromEntries(
      lines.flatMap((line) => {
        const match = /^(\w+): (.+)$/.exec(line)
        return match ? [[match[1]!, match[2]!]] : []
      }),
    ),
    events: lines.flatMap((line) => {
      const match = /^(\w+) {2}(\d{4}-\d\d-\d\d \d\d:\d\d) {2}(\w+)(?: {2}(.*))?$/.exec(line)
      if (!match) return []
      const properties = Object.fromEntries(
        (match[4] ?? '').split(' ').flatMap((pair) => (pair ? [pair.split('=') as [string, string]] : [])),
      )
      return [{ who: match[1]!, at: `${match[2]!.replace(' ', 'T')}:00Z`, event: match[3]!, properties }]
    }),
    answer: lines.find((line) => line.startsWith('=> '))!.slice(3),
  }
}

function queryOf({ settings, events }: Example): object {
  const [from, to] = settings.range!.split(' to ')
  const [key, value] = settings.filter?.split('=') ?? []
  const names = settings.series?.split(', ') ?? [events[0]!.event]
  const number = (name: string) => (settings[name] ? Number(settings[name]) : undefined)
  return {
    kind: 'TrendsQuery',
    series: names.map((event) => ({
      kind: 'EventsNode',
      event,
      math: settings.math,
      ...(key && { properties: [{ type: 'event', key, value, operator: 'exact' }] }),
    })),
    interval: settings.interval,
    dateRange: { date_from: from, date_to: to },
    trendsFilter: { display: settings.display, smoothingIntervals: number('smoothing'), formula: settings.formula },
    ...(settings.breakdown && {
      breakdownFilter: { breakdown: settings.breakdown, breakdown_limit: number('limit'), breakdown_histogram_bin_count: number('bins') },
    }),
  }
}

const shown = ({ results }: TrendsResponse, { settings }: Example): string =>
  settings.breakdown ? results.map((row) => `${row.breakdown_value} ${row.count}`).join(', ') : results[0]!.data!.join(', ')

describe('docs/trends.md', () => {
  let now = new Date()
  const opening: Promise<LocalWaymark> = open({ dataDir: ':memory:', clock: () => now })
  afterAll(async () => (await opening).close())

  test('has examples', () => expect(examples.length).toBeGreaterThan(10))

  test.each(examples.map((example, i) => [i + 1, example] as const))('example %i', async (i, example) => {
    now = new Date('2026-12-01T00:00:00Z')
    const project = await (await opening).createProject({ name: `example ${i}`, timezone: example.settings.zone ?? 'UTC' })
    await project.take({
      batch: example.events.map(({ who, at, event, properties }) => ({ event, distinct_id: who, timestamp: at, properties })),
    })
    if (example.settings.now) now = new Date(`${example.settings.now.replace(' ', 'T')}:00Z`)
    expect(shown((await project.answer(queryOf(example))) as TrendsResponse, example)).toBe(example.answer)
  })
})
