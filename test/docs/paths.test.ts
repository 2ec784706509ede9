import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { PathsResponse } from '../../src/index.ts'

// Every example of docs/paths.md: the engine must say what the page says, on both roads.

interface Example {
  readonly settings: Readonly<Record<string, string>>
  readonly events: readonly object[]
  readonly answer: readonly string[]
}

const page = readFileSync(join(import.meta.dirname, '../../docs/paths.md'), 'utf8')
const examples = [...page.matchAll(/```paths\n([\s\S]*?)```/g)].map(([, text]) => read(text!))

function read(text: string): Example {
  const lines = text.trim().split('\n')
  return {
    settings: Object.fromEntries(lines.flatMap((line) => [/^(\w+): (.+)$/.exec(line)?.slice(1) as [string, string]].filter(Boolean))),
    events: lines.flatMap((line) => {
      const match = /^(\w+) {2}(\d{4}-\d\d-\d\d \d\d:\d\d) {2}(\$?\w+)(?: {2}(.*))?$/.exec(line)
      if (!match) return []
      const [, distinct_id, at, event, properties] = match
      const pairs = (properties ?? '').split(' ').filter(Boolean)
      return [
        {
          event,
          distinct_id,
          timestamp: `${at!.replace(' ', 'T')}:00Z`,
          properties: Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])),
        },
      ]
    }),
    answer: lines.filter((line) => line.startsWith('=> ')).map((line) => line.slice(3)),
  }
}

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const dateRange = { date_from: '2026-01-01', date_to: '2026-01-03' }

function queryOf(settings: Example['settings']) {
  const [funnelPathType, step] = settings.around?.split(' ') ?? []
  const [date_from, date_to] = settings.range?.split(' to ') ?? []
  const [regex, alias] = settings.clean?.split(' -> ') ?? []
  return {
    kind: 'PathsQuery',
    dateRange: date_from ? { date_from, date_to } : dateRange,
    ...(settings.compare && { compareFilter: { compare: true } }),
    pathsFilter: {
      includeEventTypes: settings.types?.split(', '),
      pathsHogQLExpression: settings.expression,
      excludeEvents: settings.exclude?.split(', '),
      localPathCleaningFilters: regex ? [{ regex, alias }] : undefined,
      pathGroupings: settings.group?.split(', '),
      startPoint: settings.start,
      endPoint: settings.end,
      stepLimit: number(settings.steps),
      edgeLimit: number(settings.limit),
    },
    ...(settings.funnel && {
      funnelPathsFilter: {
        funnelPathType,
        funnelStep: number(step),
        funnelSource: {
          kind: 'FunnelsQuery',
          dateRange,
          series: settings.funnel.split(', ').map((event) => ({ kind: 'EventsNode', event })),
        },
      },
    }),
  }
}

const shown = ({ results, hasMore }: PathsResponse) => [
  ...results.map(({ source, target, value, average_conversion_time: time, compare_label: period }) =>
    [...(period ? [period] : []), source, target, value, time / 1000].join(' '),
  ),
  ...(hasMore ? ['more'] : []),
]

describe('docs/paths.md', () => {
  const opening: Promise<LocalWaymark> = open({ dataDir: ':memory:', clock: () => new Date('2026-02-01T00:00:00Z') })
  afterAll(async () => (await opening).close())

  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(9)
  })

  test.each(examples.map((example, i) => [i + 1, example] as const))('example %i', async (i, { settings, events, answer }) => {
    const project = await (await opening).createProject({ name: `example ${i}` })
    await project.ingest({ batch: events as never })
    for (const road of ['core', 'sql'])
      expect([road, ...shown((await project.answer({ ...queryOf(settings), modifiers: { road } })) as PathsResponse)]).toEqual([
        road,
        ...answer,
      ])
  })

  test('the requests on the page are valid', async () => {
    const project = await (await opening).createProject({ name: 'requests' })
    const requests = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => JSON.parse(match[1]!) as { kind: string })
    expect(requests.map(({ kind }) => kind)).toEqual(['PathsQuery'])
    for (const request of requests) expect(await project.answer(request)).toHaveProperty('results')
  })
})
