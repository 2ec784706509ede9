import { gzipSync } from 'node:zlib'
import { queryExamples } from '../../../src/queries/examples.ts'
import { keys } from '../keys.ts'
import type { Door, HttpInput, Probe } from '../probe.ts'
import type { Template } from '../template.ts'
import { fill } from './shapes.ts'
import { endless } from './statements.ts'

// What somebody who means harm sent: small requests that stand for much, and much of what is allowed one by one. Each ended a server, or held it, once.

const kilobyte = 1024
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
const send = (method: string, path: string, body: unknown, as: HttpInput['as'] = 'key'): HttpInput => {
  const text = JSON.stringify(body)
  return { to: 'server', method, path, headers: { 'content-type': 'application/json' }, body: text, bytes: text.length, as }
}
const asked = (query: unknown, refresh = 'force_blocking') => send('POST', '/api/projects/1/query/', { query, refresh })
const statement = (query: string) => asked({ kind: 'SqlLikeQuery', query })

interface Attack {
  readonly door: Door
  readonly grows?: Probe['grows']
  readonly from: number
  readonly most: number
  readonly step?: number
  make(size: number, template: Pick<Template, 'strangers'>): HttpInput
}

// Patterns

/** Few letters that unfold to many steps, that keep many ways open, or that are long. */
const patterns: Readonly<Record<string, (n: number) => string>> = {
  'repetitions in repetitions': (n) => `(?:(?:(?:a{${n}}){${n}}){${n}}){${n}}`,
  'a repetition that is dropped': (n) => `(?:(?:(?:(?:a{${n * 100}}){0}){${n * 40}}){0}){${n * 40}}`,
  'nothing, very often': (n) => `(?:(?:(?:(?:){${n * 100}}){${n * 100}}){${n * 100}}){0}`,
  'letters of Unicode': (n) => `\\pL{${n * 10}}`,
  'ways that stay open': (n) => `(?:a|b)*a${'(?:a|b)'.repeat(n)}c`,
  optionals: (n) => `(?:${'a?'.repeat(n * 10)})${'a'.repeat(n)}`,
  'classes in a row': (n) => '[^a-c\\pN]'.repeat(n * 4),
}
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\')}'`
const ofPatterns = Object.fromEntries(
  Object.entries(patterns).flatMap(([name, write]): [string, Attack][] => {
    const sizes = { door: 'ask', grows: 'data', from: 4, most: 256 } as const
    const rows = 'from numbers(20000)'
    return [
      [`columns: ${name}`, { ...sizes, make: (n) => statement(`select columns(${quoted(write(n))}) from events`) }],
      [
        `constants: ${name}`,
        {
          ...sizes,
          make: (n) =>
            statement(
              `select ${times(n * 4, (i) => `sum(match(concat(repeat('ab', 200), toString(number)), ${quoted(`${write(n)}${i}`)}))`)} from numbers(50)`,
            ),
        },
      ],
      [
        `of each row: ${name}`,
        { ...sizes, make: (n) => statement(`select sum(match('abababab', concat(${quoted(write(n))}, toString(number)))) ${rows}`) },
      ],
      [
        `of items: ${name}`,
        {
          ...sizes,
          make: (n) => statement(`select sum(multiMatchAny('ab', [concat(${quoted(write(n))}, toString(number)), 'x'])) ${rows}`),
        },
      ],
      [
        `filters: ${name}`,
        {
          ...sizes,
          make: (n) =>
            asked({
              ...queryExamples.TrendsQuery,
              properties: times(n, (i) => ({ type: 'event', key: '$current_url', operator: 'not_regex', value: `${write(n)}${i}` })),
            }),
        },
      ],
      [
        `path cleaning: ${name}`,
        {
          ...sizes,
          most: 100,
          make: (n) =>
            asked({
              ...queryExamples.PathsQuery,
              pathsFilter: { localPathCleaningFilters: times(n, (i) => ({ regex: `${write(n)}${i}`, alias: '-' })) },
            }),
        },
      ],
    ]
  }),
)

// Charts of many numbers: minutes, times series, times values

const seen = { kind: 'EventsNode', event: '$pageview' }
const days = (n: number) => ({ interval: 'minute', dateRange: { date_from: `-${n}d` } })
const byValue = { breakdownFilter: { breakdown: 'distinct_id', breakdown_type: 'event_metadata', breakdown_limit: 1000 } }
const charts: Readonly<Record<string, (n: number) => object>> = {
  'a trend by values': (n) => ({ kind: 'TrendsQuery', series: [seen], ...days(n), ...byValue }),
  'a trend of series': (n) => ({ kind: 'TrendsQuery', series: times(26, () => seen), ...days(n) }),
  'a trend of series that are compared': (n) => ({
    kind: 'TrendsQuery',
    series: times(26, () => seen),
    ...days(n),
    compareFilter: { compare: true },
  }),
  'active users by values': (n) => ({ kind: 'TrendsQuery', series: [{ ...seen, math: 'weekly_active' }], ...days(n), ...byValue }),
  'formulas of series': (n) => ({
    kind: 'TrendsQuery',
    series: times(26, () => seen),
    ...days(n),
    trendsFilter: { formulas: times(20, () => 'A + B') },
  }),
  boxes: (n) => ({
    kind: 'TrendsQuery',
    series: times(10, () => ({ ...seen, math_property: 'price' })),
    ...days(n),
    trendsFilter: { display: 'BoxPlot' },
  }),
  'a heat map': (n) => ({ kind: 'TrendsQuery', series: [seen], ...days(n), trendsFilter: { display: 'CalendarHeatmap' } }),
  'a lifecycle': (n) => ({ kind: 'LifecycleQuery', series: [seen], ...days(n) }),
  'a stickiness of series': (n) => ({
    kind: 'StickinessQuery',
    series: times(26, () => seen),
    ...days(n),
    compareFilter: { compare: true },
  }),
  'a funnel over time by values': (n) => ({
    kind: 'FunnelsQuery',
    series: [seen, seen],
    ...days(n),
    ...byValue,
    funnelsFilter: { funnelVizType: 'trends' },
  }),
  'a retention by values': (n) => ({
    kind: 'RetentionQuery',
    dateRange: { date_from: `-${n}d` },
    retentionFilter: { period: 'Day', totalIntervals: n },
    ...byValue,
  }),
}
const ofCharts = Object.fromEntries(
  Object.entries(charts).map(([name, query]): [string, Attack] => [
    name,
    { door: 'ask', grows: 'data', from: 1, most: 4_000, step: 8, make: (n) => asked(query(n)) },
  ]),
)

// Channels: rules that are printed wherever a statement names the channel

const ofChannels: Readonly<Record<string, Attack>> = {
  'a table of channels': {
    door: 'ask',
    grows: 'data',
    from: 1,
    most: 3_650,
    make: (n) =>
      asked({
        kind: 'WebStatsTableQuery',
        breakdownBy: 'InitialChannelType',
        dateRange: { date_from: `-${n}d` },
        compareFilter: { compare: true },
      }),
  },
  'filters by channel': {
    door: 'ask',
    from: 1,
    most: 256,
    make: (n) =>
      asked({
        ...queryExamples.WebOverviewQuery,
        properties: times(n, (i) => ({ type: 'session', key: '$channel_type', operator: 'exact', value: [`Direct ${i}`] })),
      }),
  },
  'columns of channels': {
    door: 'ask',
    from: 1,
    most: 256,
    make: (n) => statement(`select ${times(n, (i) => `concat(session.$channel_type, '${i}')`)} from events`),
  },
  'channels of people': {
    door: 'ask',
    from: 1,
    most: 256,
    make: (n) =>
      statement(`select ${times(n, (i) => `concat(toString(person.properties.$virt_initial_channel_type), '${i}')`)} from events`),
  },
}

// Records: as large as one may be, and many at once

const large = (bytes: number) => fill('abcdefghij', bytes)
const records: Readonly<Record<string, (bytes: number) => HttpInput>> = {
  'a configuration of columns': (n) => send('PATCH', '/api/users/@me/', { events_column_config: { active: [large(n)] } }, 'session'),
  'an invitation with a message': (n) =>
    send('POST', '/api/organizations/@current/invites/', { target_email: 'a@b.test', send_email: false, message: large(n) }, 'session'),
  'a cohort with a description': (n) =>
    send('POST', '/api/projects/1/cohorts/', { name: 'a', description: large(n), is_static: true, csv: 'a' }, 'key'),
  'an insight': (n) =>
    send('POST', '/api/projects/1/insights/', { name: 'a', query: { ...queryExamples.TrendsQuery, tags: { a: large(n) } } }, 'key'),
  'a dashboard': (n) => send('POST', '/api/projects/1/dashboards/', { name: 'a', description: large(n) }, 'key'),
  'an annotation': (n) => send('POST', '/api/projects/1/annotations/', { content: large(n), date_marker: '2026-01-01' }, 'key'),
  'an action': (n) => send('POST', '/api/projects/1/actions/', { name: 'a', description: large(n), steps: [{ event: 'a' }] }, 'key'),
}
const smallChange = send('POST', '/api/projects/1/annotations/', { content: 'a', date_marker: '2026-01-01' })
const ofRecords = Object.fromEntries(
  Object.entries(records).flatMap(([name, make]): [string, Attack][] => [
    [`a large one: ${name}`, { door: 'route', from: kilobyte, most: 9 * kilobyte * kilobyte, make }],
    [
      `many of them: ${name}`,
      {
        door: 'crowd',
        grows: 'data',
        from: 4,
        most: 16,
        make: (n) => ({ ...make(9 * kilobyte * kilobyte), connections: n, inTurn: true, after: smallChange }),
      },
    ],
    [
      `many small ones: ${name}`,
      {
        door: 'crowd',
        grows: 'data',
        from: 16,
        most: 256,
        make: (n) => ({ ...make(2 * kilobyte), connections: n, inTurn: true, after: smallChange }),
      },
    ],
  ]),
)

// Batches: what a transaction must load for a small one

const batchOf = (events: readonly object[]): HttpInput => {
  const text = JSON.stringify({ api_key: keys.project, batch: events })
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  return { to: 'server', method: 'POST', path: '/batch/', headers, body: gzipSync(text), bytes: text.length, as: 'nobody' }
}
const mostSet = 450 * kilobyte
const perBatch = 40
/** People, or groups, with as much as each may have; then an event that touches all of them. A small change writes the whole of each anew. */
const touching = (n: number, has: (i: number, value: string) => object, touches: (i: number) => object): HttpInput => {
  const value = large(mostSet)
  const batch = batchOf(times(n, touches))
  return {
    ...batch,
    bytes: batch.bytes + n * mostSet,
    before: times(Math.ceil(n / perBatch), (k) =>
      batchOf(times(Math.min(perBatch, n - k * perBatch), (i) => has(k * perBatch + i, value))),
    ),
  }
}
const ofBatches: Readonly<Record<string, Attack>> = {
  'people with much': {
    door: 'capture',
    grows: 'data',
    from: 2,
    most: 200,
    step: 10,
    make: (n) =>
      touching(
        n,
        (i, value) => ({ event: '$set', distinct_id: `p${i}`, properties: { $set: { a: value } } }),
        (i) => ({ event: '$set', distinct_id: `p${i}`, properties: { $set: { b: 1 } } }),
      ),
  },
  'groups with much': {
    door: 'capture',
    grows: 'data',
    from: 2,
    most: 200,
    step: 10,
    make: (n) => {
      const group = (i: number, set: object) => ({
        event: '$groupidentify',
        distinct_id: 'd',
        properties: { $group_type: 't', $group_key: `k${i}`, $group_set: set },
      })
      return touching(
        n,
        (i, value) => group(i, { a: value }),
        (i) => group(i, { b: 1 }),
      )
    },
  },
  'people with much who become one': {
    door: 'capture',
    grows: 'data',
    from: 2,
    most: 200,
    step: 10,
    make: (n) =>
      touching(
        n,
        (i, value) => ({ event: '$set', distinct_id: `m${i}`, properties: { $set: { [`a${i}`]: value } } }),
        (i) => ({ event: '$merge_dangerously', distinct_id: 'm', properties: { alias: `m${i}` } }),
      ),
  },
}

// Queries that wait, of many accounts

/** From each of the accounts in turn. */
const endlessOf = (n: number, strangers: Template['strangers'], refresh: 'force_async' | 'force_blocking'): HttpInput => {
  const of = (i: number) => strangers[i % Math.max(1, strangers.length)]
  return {
    ...send('POST', '/api/projects/1/query/', { query: { kind: 'SqlLikeQuery', query: endless }, refresh }, 'nobody'),
    connections: n,
    each: times(n, (i) => ({
      path: `/api/projects/${of(i)?.project ?? 1}/query/`,
      authorization: `Bearer ${of(i)?.key ?? keys.personal}`,
    })),
  }
}
const ofWaiting: Readonly<Record<string, Attack>> = {
  'in the background, of many accounts': {
    door: 'accounts',
    grows: 'data',
    from: 64,
    most: 512,
    step: 8,
    make: (n, { strangers }) => ({ ...endlessOf(n, strangers, 'force_async'), isEndless: true }),
  },
  'that are waited for, of many accounts': {
    door: 'accounts',
    grows: 'data',
    from: 16,
    most: 128,
    step: 8,
    make: (n, { strangers }) => endlessOf(n, strangers, 'force_blocking'),
  },
}

const all: Readonly<Record<string, Readonly<Record<string, Attack>>>> = {
  patterns: ofPatterns,
  cells: ofCharts,
  channels: ofChannels,
  records: ofRecords,
  batches: ofBatches,
  waiting: ofWaiting,
}

/** One kind after the other, so that a short run meets all of them. */
export function* attackProbes(draw: () => number, template: Pick<Template, 'strangers'>): Generator<Probe> {
  const left = Object.entries(all).map(([kind, attacks]) => ({
    kind,
    attacks: Object.entries(attacks)
      .map((one) => [draw(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one),
  }))
  while (left.some(({ attacks }) => attacks.length > 0))
    for (const { kind, attacks } of left) {
      const next = attacks.shift()
      if (!next) continue
      const [name, { make, ...sizes }] = next
      yield { name: `attack by ${kind}: ${name}`, grows: 'input', ...sizes, make: (size) => make(size, template) }
    }
}
export const attackKinds = Object.keys(all)
