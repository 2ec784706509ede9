import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { RetentionResponse, StickinessResponse } from '../../src/index.ts'

// Every example of docs/retention.md: the engine must say what the page says, on both roads.

interface Example {
  readonly kind: string
  readonly settings: Readonly<Record<string, string>>
  readonly events: readonly object[]
  readonly answer: string
}

const page = readFileSync(join(import.meta.dirname, '../../docs/retention.md'), 'utf8')
const examples = [...page.matchAll(/```(retention|stickiness)\n([\s\S]*?)```/g)].map(([, kind, text]) => read(kind!, text!))

function propertiesOf(text = ''): Record<string, string> {
  const pairs = text.split(' ').filter(Boolean)
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]))
}

function read(kind: string, text: string): Example {
  const lines = text.trim().split('\n')
  return {
    kind,
    settings: Object.fromEntries(lines.flatMap((line) => [/^(\w+): (.+)$/.exec(line)?.slice(1) as [string, string]].filter(Boolean))),
    events: lines.flatMap((line) => {
      const match = /^(\w+) {2}(\d{4}-\d\d-\d\d \d\d:\d\d) {2}(\w+)(?: {2}(.*))?$/.exec(line)
      if (!match) return []
      const [, distinct_id, at, event, properties] = match
      return [{ event, distinct_id, timestamp: `${at!.replace(' ', 'T')}:00Z`, properties: propertiesOf(properties) }]
    }),
    answer: lines.find((line) => line.startsWith('=> '))!.slice(3),
  }
}

const rangeOf = ({ range, until }: Example['settings']) => {
  const [date_from, date_to] = range?.split(' to ') ?? [null, until]
  return { date_from, date_to }
}
const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const entityOf = (text: string) => {
  const [id, ...filters] = text.split(' ')
  const properties = Object.entries(propertiesOf(filters.join(' '))).map(([key, value]) => ({
    type: 'event',
    key,
    value,
    operator: 'exact',
  }))
  return { id, type: 'events', properties }
}

const retentionOf = (settings: Example['settings']) => ({
  kind: 'RetentionQuery',
  dateRange: rangeOf(settings),
  retentionFilter: {
    targetEntity: entityOf(settings.start!),
    returningEntity: entityOf(settings.return!),
    totalIntervals: number(settings.intervals),
    retentionType: settings.type,
    minimumOccurrences: number(settings.minimum),
    cumulative: settings.cumulative === 'yes',
    retentionCustomBrackets: settings.brackets?.split(', ').map(Number),
    timeWindowMode: settings.windows === 'yes' ? '24_hour_windows' : undefined,
    ...(settings.sum && { aggregationType: 'sum', aggregationProperty: settings.sum }),
  },
  ...(settings.compare && { compareFilter: { compare: true } }),
  ...(settings.breakdown && { breakdownFilter: { breakdown: settings.breakdown, breakdown_type: 'event' } }),
})
const shownRetention = ({ results }: RetentionResponse, { sum }: Example['settings']) =>
  results
    .map(({ breakdown_value: value, values, compare_label: period }) => {
      const numbers = values.map((one) => (sum ? one.aggregation_value! : one.count))
      return [...(period ? [period] : []), ...(value === null ? [] : [value]), ...numbers].join(' ')
    })
    .join(', ')

const stickinessOf = (settings: Example['settings']) => {
  const [operator, value] = settings.criteria?.split(' ') ?? []
  return {
    kind: 'StickinessQuery',
    series: [{ kind: 'EventsNode', event: 'view' }],
    dateRange: rangeOf(settings),
    intervalCount: number(settings.count),
    stickinessFilter: {
      computedAs: settings.cumulative === 'yes' ? 'cumulative' : undefined,
      ...(operator && { stickinessCriteria: { operator, value: Number(value) } }),
    },
  }
}

describe('docs/retention.md', () => {
  const opening: Promise<LocalWaymark> = open({ dataDir: ':memory:', clock: () => new Date('2026-02-01T00:00:00Z') })
  afterAll(async () => (await opening).close())

  test('has examples of both', () => {
    const count = (kind: string) => examples.filter((example) => example.kind === kind).length
    expect([count('retention') > 8, count('stickiness') > 3]).toEqual([true, true])
  })

  test.each(examples.map((example, i) => [i + 1, example] as const))('example %i', async (i, { kind, settings, events, answer }) => {
    const project = await (await opening).createProject({ name: `example ${i}` })
    await project.ingest({ batch: events as never })
    for (const road of ['core', 'sql']) {
      const ask = (query: object) => project.answer({ ...query, modifiers: { road } })
      const shown =
        kind === 'retention'
          ? shownRetention((await ask(retentionOf(settings))) as RetentionResponse, settings)
          : ((await ask(stickinessOf(settings))) as StickinessResponse).results[0]!.data.join(', ')
      expect([road, shown]).toEqual([road, answer])
    }
  })

  test('the requests on the page are valid', async () => {
    const project = await (await opening).createProject({ name: 'requests' })
    const requests = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => JSON.parse(match[1]!) as { kind: string })
    expect(requests.map(({ kind }) => kind)).toEqual(['RetentionQuery', 'StickinessQuery'])
    for (const request of requests) expect(await project.answer(request)).toHaveProperty('results')
  })
})
