import type { As, HttpInput, Probe } from '../probe.ts'
import { examples } from './queries.ts'
import { fill, series } from './shapes.ts'

// The doors beside the API: tools of agents, viewers of other people's applications, statements in PostgreSQL's dialect. Capture of Segment and OpenTelemetry is among the paths of capture.ts.

const kilobyte = 1024
const mostBody = 4 * 1024 * kilobyte
const list = (n: number, part: (i: number) => string, between = ', ') => Array.from({ length: n }, (_, i) => part(i)).join(between)
const wrapped = (n: number, open: string, inner: string, close: string) => open.repeat(n) + inner + close.repeat(n)

/** JSON of so many bytes, for a short text, a list or an object. As text: nothing deep could be written as JSON otherwise. */
type Grow = (bytes: number) => string
const texts: Readonly<Record<string, Grow>> = {
  'a long text': (n) => `"${fill('a', n)}"`,
  'a text of quotes': (n) => `"${fill('\\"', n)}"`,
  'a text of brackets': (n) => `"${fill('[', n)}"`,
}
const lists: Readonly<Record<string, Grow>> = {
  ...texts,
  'a long list': (n) => `[${series(n, () => '"a"')}]`,
  'different texts': (n) => `[${series(n, (i) => `"t${i}"`)}]`,
  'deep lists': (n) => wrapped(Math.ceil(n / 2), '[', '', ']'),
  'a wide object': (n) => `{${series(n, (i) => `"k${i}":1`)}}`,
  'a deep object': (n) => wrapped(Math.ceil(n / 6), '{"a":', '1', '}'),
}

/** What grows stands here in a body. */
const hole = 'here'
const post = (path: string, body: object, grown: string, as: As): HttpInput => {
  const text = JSON.stringify(body).replace(`"${hole}"`, () => grown)
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return { to: 'server', method: 'POST', path, headers, body: text, bytes: text.length, as }
}

/** One argument of a tool that grows, beside those that it needs. */
const tools: Readonly<Record<string, Readonly<Record<string, readonly [given: object, grows: Readonly<Record<string, Grow>>]>>>> = {
  run_sql: {
    query: [
      {},
      {
        columns: (n) => JSON.stringify(`select ${list(Math.ceil(n / 3), () => '1')}`),
        'a condition': (n) =>
          JSON.stringify(`select count() from events where ${list(Math.ceil(n / 14), (i) => `event = 'e${i}'`, ' or ')}`),
        brackets: (n) => JSON.stringify(`select ${wrapped(Math.ceil(n / 2), '(', '1', ')')}`),
        'names that are wrong': (n) => JSON.stringify(`select ${fill('evnt', n)} from events`),
        ...texts,
      },
    ],
  },
  query_trends: {
    series: [{}, lists],
    filters: [{ series: [{ event: '$pageview' }] }, lists],
    breakdown: [{ series: [{ event: '$pageview' }] }, lists],
  },
  query_funnel: { steps: [{}, lists] },
  list_people: { search: [{}, lists] },
  list_events: { event: [{}, texts] },
  describe_data: { event: [{}, texts] },
  save_insight: { name: [{ query: examples.TrendsQuery }, texts], query: [{ name: 'a' }, lists] },
  annotate: { content: [{}, texts] },
  get_saved: { id: [{}, texts] },
  'no tool': { a: [{}, lists] },
}

function* agentProbes(): Generator<Probe> {
  for (const [name, grown] of Object.entries(tools))
    for (const [argument, [given, grows]] of Object.entries(grown))
      for (const [growth, grow] of Object.entries(grows))
        yield {
          name: `agent ${name} ${argument}: ${growth}`,
          door: 'ask',
          grows: 'input',
          from: 4 * kilobyte,
          most: mostBody,
          make: (size) => {
            const params = { name, arguments: { ...given, [argument]: hole } }
            return post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, grow(size), 'key')
          },
        }
  for (const [growth, grow] of Object.entries(lists))
    for (const method of ['initialize', 'tools/list', 'no/such', 'notifications/cancelled'])
      yield {
        name: `agent ${method}: ${growth}`,
        door: 'ask',
        grows: 'input',
        from: 4 * kilobyte,
        most: mostBody,
        make: (size) => post('/mcp', { jsonrpc: '2.0', id: 1, method, params: { a: hole } }, grow(size), 'key'),
      }
}

function* viewerProbes(): Generator<Probe> {
  const asked = (query: object, grown: string) => post('/api/viewer/query/', { query }, grown, 'viewer')
  const statements: Readonly<Record<string, (n: number) => string>> = {
    columns: (n) => `select ${list(n, (i) => `event = 'e${i}'`)} from events`,
    'columns of the person': (n) => `select ${list(n, () => 'person_id')} from events`,
    subqueries: (n) => `select count() from ${wrapped(n, '(select * from ', 'events', ')')}`,
    joins: (n) => `select count() from events t0 ${list(n, (i) => `join events t${i + 1} on t${i}.uuid = t${i + 1}.uuid`, ' ')}`,
    unions: (n) => list(n, () => 'select count() from events', ' union all '),
  }
  for (const [name, write] of Object.entries(statements))
    yield {
      name: `viewer statement: ${name}`,
      door: 'ask',
      grows: name === 'joins' || name === 'subqueries' ? 'data' : 'input',
      from: 4,
      most: 4_000,
      make: (size) => asked({ kind: 'SqlLikeQuery', query: hole }, JSON.stringify(write(size))),
    }
  const fields = {
    properties: examples.TrendsQuery,
    breakdownFilter: examples.TrendsQuery,
    series: examples.TrendsQuery,
    pathsFilter: examples.PathsQuery,
  }
  for (const [field, query] of Object.entries(fields))
    for (const [growth, grow] of Object.entries(lists))
      yield {
        name: `viewer ${query!.kind} ${field}: ${growth}`,
        door: 'ask',
        grows: 'input',
        from: 4 * kilobyte,
        most: mostBody,
        make: (size) => asked({ ...query, [field]: hole }, grow(size)),
      }
}

/** Statements in PostgreSQL's dialect, which are read and translated; the engine then gets one of its own language. */
const dialect: Readonly<Record<string, readonly [write: (n: number) => string, grows?: Probe['grows']]>> = {
  columns: [(n) => `select ${list(n, () => 'event')} from events`],
  'columns of JSON': [(n) => `select ${list(n, (i) => `properties->>'k${i}'`)} from events`],
  brackets: [(n) => `select ${wrapped(n, '(', '1', ')')}`],
  'a list': [(n) => `select 1 from events where event in (${list(n, (i) => `'e${i}'`)})`],
  conditions: [(n) => `select 1 from events where ${list(n, (i) => `event = 'e${i}'`, ' or ')}`],
  'not not': [(n) => `select ${'not '.repeat(n)}true`],
  casts: [(n) => `select 1${'::int'.repeat(n)}`],
  texts: [(n) => `select ${list(n, () => "'a'", ' || ')}`],
  cases: [(n) => `select ${wrapped(n, 'case when true then ', '1', ' end')}`],
  'branches of a case': [(n) => `select case ${list(n, (i) => `when event = '${i}' then ${i}`, ' ')} end from events`],
  unions: [(n) => list(n, () => 'select 1', ' union all ')],
  intersections: [(n) => list(n, () => 'select 1', ' intersect ')],
  subqueries: [(n) => `select * from ${wrapped(n, '(select * from ', 'events', ') a')}`, 'data'],
  'lateral subqueries': [(n) => `select 1 from events t ${list(n, (i) => `join lateral (select t.event as e) l${i} on true`, ' ')}`],
  CTEs: [(n) => `with ${list(n, (i) => `c${i} as (select ${i === 0 ? '1 as a' : `a from c${i - 1}`})`)} select * from c${n - 1}`],
  'CTEs that double': [
    (n) =>
      `with ${list(n, (i) => `c${i} as (select ${i === 0 ? '1 as a' : `x.a from c${i - 1} x join c${i - 1} y on true`})`)} select * from c${n - 1}`,
    'data',
  ],
  joins: [(n) => `select 1 from events a0 ${list(n, (i) => `join events a${i + 1} using (event)`, ' ')}`],
  'all columns of joins': [(n) => `select * from events a0 ${list(n, (i) => `cross join events a${i + 1}`, ' ')}`, 'data'],
  values: [(n) => `select * from (values ${list(n, (i) => `(${i}, 'a')`)}) v`],
  rows: [(n) => `select 1 from events where (event, distinct_id) in (${list(n, (i) => `('${i}', 'a')`)})`],
  'grouping by many': [(n) => `select count(*) from events group by ${list(n, (i) => `event = '${i}'`)}`],
  'a rollup of many': [(n) => `select count(*) from events group by rollup(${list(n, (i) => `event = '${i}'`)})`, 'data'],
  'cubes beside each other': [(n) => `select count(*) from events group by ${list(n, () => 'cube(event, distinct_id)')}`, 'data'],
  'sets of many': [
    (n) =>
      `select count(*) from events group by cube(event, distinct_id, uuid, timestamp, created_at, person_id), (${list(n, (i) => `event = '${i}'`)})`,
    'data',
  ],
  'order by many': [(n) => `select event from events order by ${list(n, () => '1')}`],
  windows: [(n) => `select ${list(n, () => 'sum(1) over (partition by event order by timestamp)')} from events`],
  'named windows': [(n) => `select 1 from events window ${list(n, (i) => `w${i} as (order by event)`)}`],
  'similar to': [(n) => `select 1 from events where event similar to '${'[a]%_('.repeat(n)}'`],
  'an escape': [(n) => `select 1 from events where event like '${'!a'.repeat(n)}' escape '!'`],
  intervals: [(n) => `select now() ${list(n, () => "+ interval '1 day 2 hours'", ' ')}`],
  parameters: [(n) => `select ${list(n, (i) => `$${i + 1}`)}`],
  quotes: [(n) => `select '${"''".repeat(n)}'`],
  'dollar quotes': [(n) => `select ${'$a$'.repeat(n)}`],
  'names of many parts': [(n) => `select ${'a.'.repeat(n)}b`],
  comments: [(n) => `select ${'/*'.repeat(n)} 1`],
  'wrong columns': [(n) => `select ${list(n, (i) => `nothing${i}`)} from events`],
}

function* dialectProbes(): Generator<Probe> {
  for (const [name, [write, grows = 'input']] of Object.entries(dialect))
    yield {
      name: `postgres: ${name}`,
      door: 'call',
      grows,
      from: 16,
      most: 200_000,
      make: (size) => {
        const given = write(size)
        return { to: 'call', call: 'postgres', given, bytes: given.length }
      },
    }
}

export function* doorProbes(draw: () => number): Generator<Probe> {
  yield* [...agentProbes(), ...viewerProbes(), ...dialectProbes()]
    .map((one) => [draw(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
}
