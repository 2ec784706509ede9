import fc from 'fast-check'
import { funnelEvents, type ReferencePaths } from './paths.ts'
import type { ReferenceEvent } from './trends.ts'

// Paths along the axes that change how they are planned, over events of few items that follow one another within minutes.

const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu'] as const
const firstDay = Date.parse('2020-03-07T00:00:00Z')
const dayText = (offset: number) => new Date(firstDay + offset * 86_400_000).toISOString().slice(0, 10)
const minute = 60_000_000

const urlArb = fc.constantFrom<string | null>(
  '/',
  '/home',
  '/home',
  '/home/',
  '/item/1',
  '/item/2/',
  '/ünï',
  '/\u{10428}',
  '/\ue000',
  '',
  null,
)
export const pathEventArb: fc.Arbitrary<ReferenceEvent> = fc
  .record({
    event: fc.constantFrom('$pageview', '$pageview', '$pageview', '$screen', 'view', 'view', 'buy', '$rage'),
    person: fc.constantFrom(1, 1, 1, 2, 2, 3, 4),
    day: fc.constantFrom(1, 1, 1, 1, 1, 0, 3),
    // Often at one time, and often exactly as far apart as sessions are.
    minutes: fc.integer({ min: 0, max: 18 }).map((n) => n * 10),
    micros: fc.constantFrom(0, 0, 0, 0, 1, 250_000),
    group: fc.constantFrom('', 'g1', 'g1', 'g2'),
    url: urlArb,
    screen: fc.constantFrom('Home', 'Cart', null),
    k: fc.constantFrom('a', 'b', '', null),
    f: fc.constantFrom('yes', 'no'),
  })
  .map(({ event, person, day, minutes, micros, group, url, screen, k, f }) => ({
    event,
    person,
    at: firstDay * 1000 + (day * 1440 + 12 * 60 + minutes) * minute + micros,
    session: '',
    group,
    properties: { $current_url: url, $screen_name: screen, k, f },
  }))

const items = ['/', '/home', '/home', 'view', 'view', 'buy', 'Home', 'nowhere']

export const pathsArb: fc.Arbitrary<ReferencePaths> = fc
  .record({
    zone: fc.constantFrom(...zones),
    weekStartDay: fc.constant<0>(0),
    begin: fc.integer({ min: 0, max: 1 }),
    length: fc.integer({ min: 1, max: 3 }),
    types: fc.constantFrom<readonly string[]>(
      [],
      [],
      [],
      [],
      [],
      ['$pageview'],
      ['$screen', 'custom_event'],
      ['$pageview', 'buy'],
      ['hogql'],
    ),
    expression: fc.constantFrom<string | null>(null, null, 'k'),
    excluded: fc.constantFrom<readonly string[]>([], [], [], [], ['/home'], ['buy', 'Cart']),
    start: fc.option(fc.constantFrom(...items), { freq: 2 }),
    end: fc.option(fc.constantFrom(...items), { freq: 2 }),
    steps: fc.constantFrom(1, 2, 3, 4, 5, 5, 20),
    edges: fc.constantFrom(1, 3, 50, 50),
    least: fc.constantFrom(0, 0, 0, 0, 2),
    most: fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 3),
    groupings: fc.constantFrom<readonly string[]>(
      [],
      [],
      ['/item/*'],
      ['e*', 'Home', '/.'],
      ['/item/1', '/item/*', '*', 'o*e'],
      ['/*/1', '/*'],
    ),
    cleaning: fc.constantFrom<ReferencePaths['cleaning']>([], [], [['[0-9]+', '<id>']], [
      ['^/(.)', '$1'],
      ['[^a-z]', ''],
    ] as never),
    filter: fc.constantFrom<ReferencePaths['filter']>(undefined, undefined, undefined, undefined, ['f', 'yes']),
    perGroup: fc.constantFrom(false, false, false, true),
    sample: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 0.5),
    compared: fc.constantFrom<ReferencePaths['compared']>(null, null, null, 'before', 'before', 1, 2),
    around: fc.oneof(
      { weight: 2, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc
          .record({
            type: fc.constantFrom<'before' | 'between' | 'after'>('before', 'between', 'after'),
            step: fc.constantFrom(1, 2, -2),
            minutes: fc.constantFrom(40, 100, 20_000),
          })
          .map((around) => (around.type === 'between' ? { ...around, step: 2 } : around)),
      },
    ),
  })
  .map(({ begin, length, ...drawn }): ReferencePaths => {
    const query = { ...drawn, from: dayText(begin), to: dayText(begin + length) }
    // Few paths lead from one point to another one in more steps than are shown: everything else is left as it is.
    if (query.start === null || query.end === null || query.steps > 4) return query
    return { ...query, types: [], expression: null, excluded: [], filter: undefined, around: null, perGroup: false, edges: 50, least: 0 }
  })

export const pathsAxes = (query: ReferencePaths): string[] => [
  query.types.length === 0 ? 'all types' : `types ${query.types.join(' ')}`,
  query.expression ? 'an expression' : 'no expression',
  query.excluded.length > 0 ? 'exclusions' : 'no exclusions',
  `${query.start === null ? 'no start' : 'a start'}, ${query.end === null ? 'no end' : 'an end'}`,
  `${query.steps} steps`,
  `${query.edges} edges`,
  query.least > 0 ? 'a least weight' : 'no least weight',
  Number.isFinite(query.most) ? 'a largest weight' : 'no largest weight',
  `${query.groupings.length} groupings`,
  `${query.cleaning.length} replacements`,
  query.filter ? 'a filter' : 'no filter',
  query.perGroup ? 'groups' : 'persons',
  query.sample ? 'sampled' : 'all events',
  query.around ? `${query.around.type} step ${query.around.step}` : 'no funnel',
  query.compared === null ? 'not compared' : `compared with ${query.compared}`,
]

/** The query as a caller writes it. */
export function asPaths(query: ReferencePaths, keys: object = {}): { readonly kind: 'PathsQuery'; readonly [field: string]: unknown } {
  const { around } = query
  const groups = query.perGroup && { aggregation_group_type_index: 0 }
  return {
    kind: 'PathsQuery',
    dateRange: { date_from: query.from, date_to: query.to },
    pathsFilter: {
      includeEventTypes: query.types,
      ...(query.expression && { pathsHogQLExpression: `properties.${query.expression}` }),
      excludeEvents: query.excluded,
      startPoint: query.start,
      // A slash at the end of a point says nothing.
      endPoint: query.end === '/home' ? '/home/' : query.end,
      stepLimit: query.steps,
      edgeLimit: query.edges,
      minEdgeWeight: query.least,
      maxEdgeWeight: Number.isFinite(query.most) ? query.most : null,
      pathGroupings: query.groupings,
      localPathCleaningFilters: query.cleaning.map(([regex, alias]) => ({ regex, alias: alias.replace('$', '\\') })),
      ...keys,
    },
    ...(query.filter && { properties: [{ type: 'event', key: query.filter[0], value: query.filter[1], operator: 'exact' }] }),
    ...groups,
    ...(query.sample && { samplingFactor: query.sample }),
    ...(query.compared !== null && {
      compareFilter: { compare: true, ...(query.compared !== 'before' && { compare_to: `-${query.compared}d` }) },
    }),
    ...(around && {
      funnelPathsFilter: {
        funnelPathType: `funnel_path_${around.type}_${around.type === 'between' ? 'steps' : 'step'}`,
        funnelStep: around.step,
        funnelSource: {
          kind: 'FunnelsQuery',
          series: funnelEvents.map((event) => ({ kind: 'EventsNode', event })),
          dateRange: { date_from: query.from, date_to: query.to },
          funnelsFilter: { funnelWindowInterval: around.minutes, funnelWindowIntervalUnit: 'minute' },
          ...groups,
        },
      },
    }),
  }
}
