import { expect, test, vi } from 'vitest'
import { defaultRateLimits } from '../../../src/doors/http/access/rate-limits.ts'
import { createConcurrency } from '../../../src/doors/http/queries/concurrency.ts'
import { draftSql } from '../../../src/doors/http/queries/draft-sql.ts'
import { answersInMemory } from '../../../src/engine/admission/kept-answers.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import type { HearCancelled } from '../../../src/lib/flow/cancels.ts'
import { statesInMemory } from '../../../src/lib/flow/states.ts'
import { createQueryRuns, presentRun } from '../../../src/service/asking/query-runs.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const path = '/api/projects/@current/query/'
const trends = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'signup' }],
  dateRange: { date_from: '2024-01-01', date_to: '2024-01-03' },
}

const ask = (body: unknown, as = held.home.member) => held.home.call('POST', path, { as, body })
const settled = async (id: string) => {
  for (;;) {
    const { body } = await held.home.call('GET', `${path}${id}/`, { as: held.home.member })
    if (body.query_status.complete || body.query_status.error) return body.query_status
    await new Promise((resume) => setImmediate(resume))
  }
}

test('a query answers what was captured', async () => {
  const { call, project } = held.home
  const event = (distinct_id: string, day: string) => ({ event: 'signup', distinct_id, timestamp: `${day}T10:00:00Z` })
  const batch = [event('a', '2024-01-01'), event('b', '2024-01-03'), event('c', '2024-01-03')]
  const record = async () => (await call('GET', '/api/projects/@current/', { as: held.home.member })).body
  expect(await record()).toMatchObject({ ingested_event: false, has_group_types: false })
  batch.push({ ...event('d', '2023-01-01'), properties: { $groups: { company: 'acme' } } } as (typeof batch)[number])
  expect((await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })).status).toBe(200)
  expect(await record()).toMatchObject({
    ingested_event: true,
    has_group_types: true,
    group_types: [{ group_type: 'company', group_type_index: 0 }],
  })
  const { status, body } = await ask({ query: trends })
  expect([status, body.results]).toMatchObject([200, [{ data: [1, 0, 2], count: 3 }]])
})

const misfits: [string, unknown, string][] = [
  ['no query', {}, 'query'],
  ['an unknown field', { query: trends, extra: 1 }, 'Unknown field "extra". Known fields: async, client_query_id'],
  ['a query that is not in its field', trends, 'Put the query in the field "query": {"query": {"kind": "TrendsQuery", …}}'],
  ['a statement that is not in its field', { kind: 'SqlLikeQuery', query: 'select 1' }, '{"query": {"kind": "SqlLikeQuery", …}}'],
  ['no kind', { query: {} }, 'A query needs a kind, as in'],
  [
    'an unknown kind',
    { query: { kind: 'Tomato Soup' } },
    "Input tag 'Tomato Soup' found using 'kind' does not match any of the expected tags",
  ],
  [
    'a query that is no object',
    { query: 'select 1' },
    'A query must be an object with a kind; a statement is { kind: "SqlLikeQuery", query: "…" }',
  ],
  ['what its kind does not allow', { query: { kind: 'TrendsQuery', series: 1 } }, 'query.TrendsQuery.series'],
  ['a refresh that is none', { query: trends, refresh: 'blok' }, 'refresh must be true or false, or one of blocking, force_blocking'],
  [
    'a name that is too long',
    { query: trends, client_query_id: 'x'.repeat(201) },
    'client_query_id\n  client_query_id must be text of at most 200 characters',
  ],
]
test.each(misfits)('a body with %s cannot be read', async (_, body, part) => {
  const answer = await ask(body)
  expect(answer).toMatchObject({ status: 400, body: { type: 'invalid_request', code: 'parse_error' } })
  expect(answer.body.detail).toContain('1 validation error for QueryRequest')
  expect(answer.body.detail).toContain(part)
})

test('a mistake in a statement has its place, what may have been meant and what is expected in `extra`', async () => {
  const failed = async (query: object) => (await ask({ query })).body
  expect(await failed({ kind: 'SqlLikeQuery', query: 'select 1,\n evnt from events' })).toEqual({
    type: 'validation_error',
    code: 'invalid_input',
    detail: 'Unable to resolve field: evnt. Did you mean: event?',
    attr: null,
    extra: { position: { line: 2, column: 2, offset: 11, length: 4 }, suggestions: ['event'] },
  })
  expect(await failed({ kind: 'SqlLikeQuery', query: 'select round(1, 2, 3)' })).toMatchObject({ extra: { expected: '1 to 2 arguments' } })
  const series = [{ kind: 'EventsNode', event: 'signup', math: 'hogql', math_hogql: 'summ(1)' }]
  expect(await failed({ kind: 'TrendsQuery', series })).toMatchObject({
    attr: 'series__0__math_hogql',
    extra: { position: { line: 1, column: 1, offset: 0, length: 7 }, suggestions: ['sum'] },
  })
  expect(await failed({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', math: 'summ' }] })).toMatchObject({
    extra: { suggestions: ['sum'] },
  })
})

test('a query inside the node that says how it is shown', async () => {
  const shown = (kind: string, source: unknown) => ({ kind, full: true, source })
  const answers = async (query: unknown) => (await ask({ query })).body.results
  const plain = await answers(trends)
  expect(await answers(shown('InsightVizNode', trends))).toEqual(plain)
  expect(await answers(shown('DataTableNode', shown('InsightVizNode', trends)))).toEqual(plain)
  expect(await answers(shown('DataVisualizationNode', { kind: 'HogQLQuery', query: 'select 1' }))).toEqual([[1]])
  expect((await ask({ query: shown('InsightVizNode', undefined) })).body.detail).toContain('query.source\n  InsightVizNode needs a source')
  const unsupported = refused(400, 'invalid_input', 'Unsupported query kind: SavedInsightNode', 'source__kind')
  expect(await ask({ query: shown('InsightVizNode', { kind: 'SavedInsightNode', shortId: 'x' }) })).toMatchObject(unsupported)
  const deep = Array.from({ length: 9 }).reduce((inner) => shown('InsightVizNode', inner), trends as unknown)
  expect(await ask({ query: deep })).toMatchObject(
    refused(400, 'parse_error', expect.stringContaining('at most 3 visualization nodes'), 'source__source__source__kind'),
  )
})

test('the limits that a client asks for change nothing', async () => {
  const query = { kind: 'HogQLQuery', query: 'select 1' }
  expect((await ask({ query, limit_context: 'posthog_ai' })).body.results).toEqual([[1]])
  expect(await ask({ query, limit_context: 'export' })).toMatchObject(refused(400, 'parse_error', undefined, 'limit_context'))
})

test('filters and variables that are laid over a query', async () => {
  const days = async (query: object, more: object) => (await ask({ query, ...more })).body.results[0].data
  expect(await days(trends, { filters_override: { date_from: '2024-01-03', date_to: '2024-01-03' } })).toEqual([2])
  const nobody = { key: 'plan', type: 'event', value: 'none', operator: 'exact' }
  expect(await days(trends, { filters_override: { properties: [nobody] } })).toEqual([0, 0, 0])
  const group = { ...trends, properties: { type: 'AND', values: [{ type: 'OR', values: [{ ...nobody, operator: 'is_not' }] }] } }
  expect(await days(group, { filters_override: { date_from: null, properties: [] } })).toEqual([1, 0, 2])
  expect(await days(group, { filters_override: { properties: [nobody] } })).toEqual([0, 0, 0])
  const variables = { one: { code_name: 'who', value: 'a' } }
  const statement = { kind: 'HogQLQuery', query: 'select count() from events where distinct_id = {variables.who} and {filters}', variables }
  const counted = async (more: object) => (await ask({ query: statement, ...more })).body.results
  expect(await counted({ filters_override: { date_from: '2024-01-01', date_to: '2024-01-04' } })).toEqual([[1]])
  expect(await counted({ filters_override: { date_from: '2024-01-02', date_to: '2024-01-04' } })).toEqual([[0]])
  const events = { kind: 'EventsQuery', select: ['event'], event: 'signup', after: 'all' }
  const listed = async (more: object) => (await ask({ query: events, ...more })).body.results.length
  for (const over of [
    { date_from: '2024-01-03', date_to: '2024-01-03' },
    { date_from: '2024-01-01', date_to: '2024-01-03' },
    { date_to: '2024-01-01' },
    { date_from: '2024-01-01', properties: [nobody] },
    { date_from: '2024-01-01', properties: { type: 'AND', values: [{ type: 'AND', values: [nobody] }] } },
  ]) {
    const series = await days(trends, { filters_override: { date_from: '2024-01-01', ...over } })
    expect(await listed({ filters_override: { date_from: '2024-01-01', ...over } }), JSON.stringify(over)).toBe(
      series.reduce((sum: number, count: number) => sum + count, 0),
    )
  }
  const people = (source: object) => ({ kind: 'ActorsQuery', select: ['id'], source: { kind: 'InsightActorsQuery', source } })
  const persons = async (over: object) => (await ask({ query: people(trends), filters_override: over })).body.results.length
  expect(await persons({ date_from: '2024-01-01', date_to: '2024-01-04' })).toBeGreaterThan(0)
  expect(await persons({ properties: [nobody] })).toBe(0)
  const later = { filters_override: { date_from: '2024-01-02', date_to: '2024-01-04' }, variables_override: { one: { value: 'b' } } }
  expect(await counted(later)).toEqual([[1]])
  for (const [over, query] of [
    [{ filters_override: { date_from: '-7d' } }, { kind: 'ActorsQuery', select: ['id'] }],
    [{ variables_override: { one: { value: 1 } } }, trends],
  ])
    expect(await ask({ query, ...over })).toMatchObject(refused(400, 'parse_error', undefined, Object.keys(over!)[0]))
})

test('a kind that is not answered here is said to be', async () => {
  for (const kind of ['TracesQuery', 'InsightActorsQuery', 'LogsQuery'])
    expect(await ask({ query: { kind } })).toMatchObject(refused(400, 'invalid_input', `Unsupported query kind: ${kind}`, 'kind'))
  expect(await ask({ query: { kind: 'SavedInsightNode', shortId: 'x' } })).toMatchObject(
    refused(400, 'invalid_input', 'Unsupported query kind: SavedInsightNode', 'kind'),
  )
})

test('in the background: polled to its end, known once, cancelled, in its own project', async () => {
  const { call, member, outsider, world } = held.home
  const started = await ask({ query: trends, async: true, client_query_id: 'mine' })
  expect(started).toMatchObject({ status: 200, body: { query_status: { id: 'mine', query_async: true, complete: false } } })
  const done = await settled('mine')
  expect(done).toMatchObject({ complete: true, error: false, error_message: null, results: { results: [{ data: [1, 0, 2] }] } })
  expect(Date.parse(done.expiration_time) - Date.parse(done.end_time)).toBe(600_000)
  expect((await ask({ query: trends, async: true, client_query_id: 'mine' })).body.query_status.task_id, 'not run again').toBe(done.task_id)
  expect((await ask({ query: trends, refresh: 'force_async', client_query_id: 'mine' })).body.task_id).not.toBe(done.task_id)
  const elsewhere = await call('GET', `${path}mine/`, { as: outsider })
  expect(elsewhere).toMatchObject(refused(404, 'not_found', expect.stringMatching(/^Query mine not found for team \d+$/)))
  await settled('mine')
  expect((await call('DELETE', `${path}mine/`, { as: member })).status).toBe(204)
  expect((await call('GET', `${path}mine/`, { as: member })).status).toBe(404)
  expect((await call('DELETE', `${path}unknown/`, { as: member })).status).toBe(204)
  await ask({ query: trends, async: true, client_query_id: 'late' })
  await settled('late')
  world.now = new Date(Date.now() + 601_000)
  expect((await call('GET', `${path}late/`, { as: member })).status, 'kept for ten minutes').toBe(404)
  world.now = null
})

test('how far it is, when asked', async () => {
  const { call, member } = held.home
  const query = { kind: 'SqlLikeQuery', query: 'select count() from numbers(200000000) where modulo(number, 7) = 8' }
  await ask({ query, async: true, client_query_id: 'far' })
  const status = async (parameters = '') => (await call('GET', `${path}far/${parameters}`, { as: member })).body.query_status
  expect((await status()).query_progress).toBe(null)
  const seen = async () => {
    for (;;) {
      const { query_progress, complete } = await status('?show_progress=true')
      if (complete || query_progress.estimated_rows_total > 0) return query_progress
    }
  }
  const { rows_read, estimated_rows_total, ...others } = await seen()
  expect(others).toEqual({ bytes_read: null, time_elapsed: expect.any(Number), active_cpu_time: null })
  expect(rows_read).toBeLessThanOrEqual(estimated_rows_total)
  await call('DELETE', `${path}far/`, { as: member })
})

test('keys have three queries of a project at once, people any', async () => {
  const { call, member, key } = held.home
  const as = await key(member, ['query:read'])
  const endless = {
    kind: 'SqlLikeQuery',
    query: 'select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8',
  }
  const start = (id: string, by: typeof as | typeof member = as) =>
    call('POST', path, { as: by, body: { query: endless, async: true, client_query_id: id } })
  const stop = (id: string) => call('DELETE', `${path}${id}/`, { as })
  for (const id of ['a', 'b', 'c']) expect((await start(id)).status).toBe(200)
  const refusal = await start('d')
  expect(refusal).toMatchObject(
    refused(429, 'throttled', 'Too many concurrent queries: API keys can have 3 of one project queued or running at a time.'),
  )
  expect(refusal.headers.get('retry-after')).toBe(null)
  expect((await call('POST', path, { as, body: { query: endless }, headers: { accept: 'text/csv' } })).status).toBe(429)
  expect((await start('e', member)).status).toBe(200)
  for (const id of ['a', 'b', 'c', 'e']) await stop(id)
  let last = 429
  while (last === 429) last = (await call('POST', path, { as, body: { query: { kind: 'SqlLikeQuery', query: 'select 1' } } })).status
  expect(last, 'places are free again').toBe(200)
})

test('a query in the newest form, and whether one may ask', async () => {
  const { call, member, key } = held.home
  expect((await call('POST', `${path}upgrade/`, { as: member, body: { query: trends } })).body).toEqual({ query: trends })
  expect(await call('POST', `${path}upgrade/`, { as: member, body: { query: { kind: 'Nope' } } })).toMatchObject(
    refused(400, 'parse_error', undefined, 'kind'),
  )
  const as = await key(member, ['query:read'])
  expect((await call('POST', `${path}check_auth_for_async/`, { as })).body).toEqual({ user: 'ok' })
  expect((await call('POST', `${path}check_auth_for_async/`)).status).toBe(401)
})

test("an error in the background is the caller's to read", async () => {
  await ask({ query: { kind: 'TrendsQuery', series: 1 }, async: true, client_query_id: 'wrong' })
  expect(await settled('wrong')).toMatchObject({
    complete: false,
    error: true,
    error_message: expect.stringContaining('series'),
    results: null,
  })
})

test('what a dead process left running is said to be over', async () => {
  const { world, project } = held.home
  const left = {
    id: 'left',
    project_id: project.id,
    query_key: null,
    task_id: 't',
    is_complete: false,
    is_error: false,
    error_message: null,
    characters: null,
  }
  await world.accounts.context.store.write((tables) =>
    tables.query_runs.insert({ ...left, start_time: new Date(), end_time: null, expiration_time: null }),
  )
  expect(presentRun(await createQueryRuns(world.accounts, answersInMemory()).poll(project.id, 'left'))).toMatchObject({
    complete: false,
    error: true,
    error_message: 'The query was interrupted by a restart.',
    end_time: expect.any(String),
  })
})

test('there is no list, and keys need only query:read', async () => {
  const { call, member, key } = held.home
  expect(await call('GET', path, { as: member })).toMatchObject(refused(405, 'method_not_allowed', 'Method "GET" not allowed.'))
  const as = await key(member, ['query:read'])
  expect((await call('POST', path, { as, body: { query: trends } })).status).toBe(200)
  expect((await call('DELETE', `${path}x/`, { as })).status).toBe(204)
})

test('queries of a user are limited by the hour, in each project, whichever key asks', async () => {
  const { call, member, owner, organization, project, key, world } = held.home
  const [one, two] = [await key(member, ['query:read']), await key(member, ['query:read'])]
  const before = world.limits
  world.limits = { ...before, query: [{ count: 2, seconds: 3600 }] }
  const asked = async (as: string, at = path) => (await call('POST', at, { as, body: { query: trends } })).status
  const numbered = `/api/projects/${project.id}/query/`
  expect([await asked(one), await asked(two, numbered), await asked(two), await asked(one, numbered)]).toEqual([200, 200, 429, 429])
  expect((await call('GET', `${path}x/`, { as: one })).status, 'polling is not a query').toBe(404)
  const { id } = await world.makeProject(organization.id, { name: 'Second' })
  expect(await asked(two, `/api/projects/${id}/query/`), 'another project').toBe(200)
  expect(await asked(await key(owner, ['query:read']), numbered), 'another user').toBe(200)
  world.limits = before
})

test('drafts of a user are limited to ten a minute, whichever key asks', async () => {
  const { call, member, owner, key } = held.home
  const [one, two] = [await key(member, ['query:read']), await key(member, ['query:read'])]
  const draft = async (as: string) => (await call('GET', `${path}draft_sql/?prompt=how%20many%20events`, { as })).status
  for (let i = 0; i < 10; i++) expect(await draft(i % 2 ? one : two)).toBe(200)
  expect([await draft(one), await draft(two)]).toEqual([429, 429])
  expect(await draft(await key(owner, ['query:read'])), 'another user').toBe(200)
})

test("a server of one's own has no such limit", () => {
  expect(defaultRateLimits.query).toEqual([])
})

test('a query that is cancelled at another server is stopped, and a later one with its id is not', async () => {
  const { world, project } = held.home
  const listeners: HearCancelled[] = []
  const told: (() => void)[] = []
  const others = () => {
    const own = listeners.length
    return {
      states: statesInMemory(),
      cancels: {
        listen: (hear: HearCancelled) => void listeners.push(hear),
        tell: async (of: number, id: string, isOnlyWaiting: boolean) =>
          void told.push(() => {
            for (const [i, hear] of listeners.entries()) if (i !== own) hear(of, (one) => one === id, isOnlyWaiting)
          }),
      },
    }
  }
  const answers = answersInMemory()
  const [a, b] = [createQueryRuns(world.accounts, answers, others()), createQueryRuns(world.accounts, answers, others())]
  const stopped: string[] = []
  const running =
    (name: string, isWaiting = false) =>
    (signal: AbortSignal, begin: () => void) =>
      new Promise<never>((_, reject) => {
        if (!isWaiting) begin()
        signal.addEventListener('abort', () => {
          stopped.push(name)
          reject(new WaymarkError('query-cancelled', {}))
        })
      })
  const hear = async () => {
    for (const one of told.splice(0)) one()
    await a.sweep() // and with it what was read and written before
  }
  await a.start(project.id, 'elsewhere', 'q', false, running('first'))
  await b.cancel(project.id, 'elsewhere', true)
  await hear()
  expect(stopped, 'it has begun').toEqual([])
  await b.cancel(project.id, 'elsewhere')
  await b.start(project.id, 'elsewhere', 'q', false, running('second'))
  await hear()
  await vi.waitUntil(() => stopped.length > 0)
  expect(stopped).toEqual(['first'])
  expect((await a.poll(project.id, 'elsewhere')).run.is_complete).toBe(false)
  await a.start(project.id, 'waits', 'q', false, running('third', true))
  await b.cancel(project.id, 'waits', true)
  await hear()
  await vi.waitUntil(() => stopped.includes('third'))
  await expect.poll(() => b.poll(project.id, 'waits').catch((error: { status: number }) => error.status)).toBe(404)
  await b.cancel(project.id, 'elsewhere')
})

test('what a user has waiting and running has a limit, and so has what everybody has', () => {
  const { take } = createConcurrency(() => ({ perProject: 2, perUser: 3, perOrganization: 9, inAll: 5 }))
  const by = (userId: number, projectId: number, via: 'key' | 'session' = 'session') =>
    take({ userId, projectId, organizationId: 'one', via })
  const given = [by(1, 1, 'key'), by(1, 1, 'key')]
  expect(() => by(1, 1, 'key')).toThrow('Too many concurrent queries: API keys can have 2 of one project queued or running at a time.')
  expect(() => by(2, 1, 'key')).toThrow('API keys can have 2 of one project')
  given.push(by(1, 2))
  const mine = { status: 429, message: expect.stringContaining('Too many concurrent queries: you already have 3 queued or running.') }
  expect(() => by(1, 3, 'key')).toThrow(expect.objectContaining(mine))
  expect(() => by(1, 3)).toThrow(expect.objectContaining(mine))
  given.push(by(2, 1), by(2, 1))
  const busy = { status: 503, isRetryable: true }
  expect(() => by(3, 1)).toThrow(expect.objectContaining(busy))
  for (const give of [...given, ...given]) give()
  for (let i = 0; i < 3; i++) by(1, 1)
  expect(() => by(1, 1)).toThrow(expect.objectContaining(mine))
})

const drafts: [string, string][] = [
  [
    'Top 5 events in the last 7 days?',
    'select event, count() as total from events where timestamp >= now() - interval 7 day group by event order by total desc limit 5',
  ],
  ['most common events', 'select event, count() as total from events group by event order by total desc limit 10'],
  [
    'how many users did sign up per week',
    "select toStartOfWeek(timestamp) as week, count(distinct person_id) as people from events where event = 'sign up' group by week order by week",
  ],
  ['how many events', 'select count() as total from events'],
  [
    'count of "purchase" events per day',
    "select toStartOfDay(timestamp) as day, count() as total from events where event = 'purchase' group by day order by day",
  ],
  [
    'daily active users over the last 30 days',
    'select toStartOfDay(timestamp) as day, count(distinct person_id) as people from events where timestamp >= now() - interval 30 day group by day order by day',
  ],
  [
    'last 20 $pageview events',
    "select event, distinct_id, timestamp, properties from events where event = '$pageview' order by timestamp desc limit 20",
  ],
  [
    'top 3 $browser for $pageview events',
    "select properties.$browser as value, count() as total from events where event = '$pageview' group by value order by total desc limit 3",
  ],
]
test.each(drafts)('drafts: %s, a statement that runs', async (prompt, sql) => {
  expect(draftSql(prompt)).toBe(sql)
  expect((await ask({ query: { kind: 'SqlLikeQuery', query: sql } })).status).toBe(200)
})

test('drafts: what is missing, too long or unclear', async () => {
  const { call, member } = held.home
  const draft = (prompt: string) => call('GET', `${path}draft_sql/?prompt=${encodeURIComponent(prompt)}`, { as: member })
  expect(await draft('')).toMatchObject(refused(400, 'required', undefined, 'prompt'))
  expect(await draft('x'.repeat(401))).toMatchObject(refused(400, 'too_long', undefined, 'prompt'))
  expect(await draft('please be nice')).toMatchObject(refused(400, 'unclear', undefined, 'prompt'))
  expect((await draft("how many users did it's")).body.sql).toContain("event = 'it\\'s'")
})
