import { expect, test, vi } from 'vitest'
import { withHome } from '../../doors/http/conversation.ts'

// Plugins in a whole server: installed and enabled over HTTP, events captured by a client, and read by a query.

const held = withHome()
const call = (method: string, path: string, body?: unknown) =>
  held.home.call(method, path, { as: held.home.owner, ...(body === undefined ? {} : { body }) })
const plugins = () => `/api/organizations/${held.home.organization.id}/plugins/`

interface Project {
  readonly id: number
  readonly api_token: string
}
const newProject = async (): Promise<Project> => {
  const made = await call('POST', `/api/organizations/${held.home.organization.id}/projects/`, { name: 'Another' })
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  return made.body
}

let count = 0
const install = async (code: string, more: object = {}): Promise<number> => {
  const made = await call('POST', plugins(), { plugin_type: 'source', name: `plugin ${++count}`, ...more })
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  const written = await call('PATCH', `${plugins()}${made.body.id}/update_source`, { 'index.ts': code })
  expect(written, JSON.stringify(written.body)).toMatchObject({ status: 200 })
  return made.body.id
}
const enable = async (project: Project, plugin: number, more: object = {}): Promise<number> => {
  const made = await call('POST', `/api/projects/${project.id}/plugin_configs/`, { plugin, enabled: true, order: 1, ...more })
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  return made.body.id
}
/** As a client library does. */
const capture = async ({ api_token }: Project, batch: readonly object[], more: object = {}) => {
  const { status } = await fetch(`${held.home.world.url}/batch/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: api_token, batch, ...more }),
  })
  expect(status).toBe(200)
}
const stored = async ({ id }: Project, what = 'event, distinct_id, properties'): Promise<readonly unknown[][]> => {
  const query = { kind: 'SqlLikeQuery', query: `select ${what} from events order by timestamp` }
  const { body } = await call('POST', `/api/projects/${id}/query/`, { query, refresh: 'force_blocking' })
  return body.results.map((row: unknown[]) =>
    row.map((value) => (typeof value === 'string' && value.startsWith('{') ? JSON.parse(value) : value)),
  )
}
const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString()
const event = (name: string, second: number, properties: object = {}, more: object = {}) => ({
  event: name,
  distinct_id: 'u1',
  timestamp: at(second),
  properties,
  ...more,
})

test('an enabled plugin changes events before they are stored, in the order of the configs', async () => {
  const project = await newProject()
  const first = await install('export function processEvent(event) { event.properties.seen = ["first"]; return event }')
  const second = await install('export const processEvent = (event) => { event.properties.seen.push("second"); return event }')
  await capture(project, [event('before', 0)])
  expect(await stored(project, 'event, properties.seen')).toEqual([['before', null]])
  const secondConfig = await enable(project, second, { order: 2 })
  const firstConfig = await enable(project, first, { order: 1 })
  await capture(project, [event('after', 1), event('after', 2, { own: 1 })])
  const [, one, two] = await stored(project)
  expect(one).toMatchObject([
    'after',
    'u1',
    {
      seen: ['first', 'second'],
      $plugins_succeeded: [expect.stringContaining(`(${firstConfig})`), expect.stringContaining(`(${secondConfig})`)],
      $plugins_failed: [],
      $plugins_deferred: [],
    },
  ])
  expect(two).toMatchObject(['after', 'u1', { own: 1, seen: ['first', 'second'] }])

  await call('PATCH', `/api/projects/${project.id}/plugin_configs/${firstConfig}/`, { enabled: false })
  await call('PATCH', `/api/projects/${project.id}/plugin_configs/${secondConfig}/`, { enabled: false })
  await capture(project, [event('off', 3)])
  const [name, , properties] = (await stored(project)).at(-1)!
  expect(name).toBe('off')
  for (const changed of ['seen', '$plugins_succeeded']) expect(properties).not.toHaveProperty([changed])
})

const bodyOf = async (method: string, path: string, body?: unknown) => {
  const answer = await call(method, path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}
const config = ({ id }: Project, configId: number) => `/api/projects/${id}/plugin_configs/${configId}/`
const linesOf = async (project: Project, configId: number, query = ''): Promise<{ type: string; source: string; message: string }[]> =>
  (await bodyOf('GET', `${config(project, configId)}logs/?limit=1000${query}`)).results

test('the capabilities are those of the code, found when it is written', async () => {
  const id = await install('export const processEvent = (e: any) => e; export function runEveryHour() {}; export const jobs = { now() {} }')
  const capabilities = { methods: ['processEvent'], scheduled_tasks: ['runEveryHour'], jobs: ['now'] }
  expect(await bodyOf('GET', `${plugins()}${id}/`)).toMatchObject({ capabilities })
  expect((await call('GET', `/api/organizations/${held.home.organization.id}/pipeline_transformations/${id}/`)).status).toBe(200)
  await call('PATCH', `${plugins()}${id}/update_source`, { 'index.ts': 'export const onEvent = () => {}' })
  expect(await bodyOf('GET', `${plugins()}${id}/`)).toMatchObject({ capabilities: { methods: ['onEvent'], scheduled_tasks: [], jobs: [] } })
  await call('PATCH', `${plugins()}${id}/update_source`, { 'index.ts': 'this is {{ no code' })
  expect(await bodyOf('GET', `${plugins()}${id}/`)).toMatchObject({ capabilities: {} })
})

test('new code and a new config count from the next event on', async () => {
  const project = await newProject()
  const plugin = await install(
    'export function processEvent(event, { config }) { event.properties.version = config.name + 1; return event }',
  )
  const id = await enable(project, plugin, { config: { name: 'a' } })
  const versions = () => stored(project, 'event, properties.version')
  await capture(project, [event('one', 1)])
  expect(await versions()).toEqual([['one', 'a1']])
  await bodyOf('PATCH', config(project, id), { config: { name: 'b' } })
  await capture(project, [event('two', 2)])
  expect((await versions())[1]).toEqual(['two', 'b1'])
  await bodyOf('PATCH', `${plugins()}${plugin}/update_source`, {
    'index.ts': 'export function processEvent(event, { config }) { event.properties.version = config.name + 2; return event }',
  })
  await capture(project, [event('three', 3)])
  expect((await versions())[2]).toEqual(['three', 'b2'])
  expect((await call('DELETE', config(project, id))).status).toBe(204)
  await capture(project, [event('four', 4)])
  expect((await versions())[3]).toEqual(['four', null])
})

test('a plugin may change the name, the distinct id, the time and what is known about the person', async () => {
  const project = await newProject()
  const code = `export function processEvent(event) {
    if (event.event === 'gone') return null
    event.event = 'renamed ' + event.event
    event.distinct_id = 'other'
    event.timestamp = '2026-01-05T11:00:00.000Z'
    event.$set = { plan: 'pro' }
    event.properties.$set_once = { ...event.properties.$set_once, first: event.properties.$browser }
    delete event.properties.$current_url
    return event
  }`
  const id = await enable(project, await install(code))
  await capture(project, [
    event('gone', 1),
    event(
      'kept',
      2,
      { $browser: 'Firefox', $current_url: 'https://a.test/secret', $set_once: { own: 1 } },
      { uuid: '00000000-0000-4000-8000-00000000000a' },
    ),
  ])
  const rows = await stored(project, 'uuid, event, distinct_id, toString(timestamp), properties')
  expect(rows).toEqual([
    [
      '00000000-0000-4000-8000-00000000000a',
      'renamed kept',
      'other',
      expect.stringContaining('11:00:00'),
      expect.objectContaining({ $browser: 'Firefox' }),
    ],
  ])
  const { body } = await call('POST', `/api/projects/${project.id}/query/`, {
    query: { kind: 'SqlLikeQuery', query: 'select properties from persons' },
  })
  const person = JSON.parse(body.results[0][0])
  expect(person).toMatchObject({ plan: 'pro', own: 1, first: 'Firefox', $browser: 'Firefox', $initial_browser: 'Firefox' })
  // What was derived on arrival is derived from the result of the plugins.
  expect(JSON.stringify([rows, body.results])).not.toContain('secret')
  expect(await linesOf(project, id)).toEqual([])
})

test('a plugin that fails leaves the event as it was, with a line in its log; others go on', async () => {
  const project = await newProject()
  const bad = await enable(
    project,
    await install(
      'export function processEvent(event) { event.properties.bad = 1; console.warn("before"); throw new Error("cannot " + event.event) }',
    ),
    { order: 1 },
  )
  const odd = await enable(project, await install('export function processEvent(event) { delete event.event; return event }'), { order: 2 })
  const good = await enable(project, await install('export function processEvent(event) { event.properties.good = 1; return event }'), {
    order: 3,
  })
  await capture(project, [event('first', 1, { own: 1 })])
  const [[, , properties]] = (await stored(project)) as [[string, string, Record<string, unknown>]]
  expect(properties).toMatchObject({ own: 1, good: 1, $plugins_succeeded: [expect.stringContaining(`(${good})`)] })
  expect(properties).toMatchObject({ $plugins_failed: [expect.stringContaining(`(${bad})`), expect.stringContaining(`(${odd})`)] })
  expect(properties).not.toHaveProperty('bad')
  expect(await linesOf(project, bad)).toMatchObject([
    { source: 'SYSTEM', type: 'ERROR', message: 'processEvent failed: Error: cannot first' },
    { source: 'CONSOLE', type: 'WARN', message: 'before' },
  ])
  expect(await linesOf(project, bad, '&type_filter=WARN')).toMatchObject([{ message: 'before' }])
  expect(await linesOf(project, bad, '&search=CANNOT')).toHaveLength(1)
  expect(await linesOf(project, odd)).toMatchObject([{ message: 'processEvent failed: it must not remove event' }])
})

test('a plugin that keeps exceeding its limits is switched off for a while; events pass it', async () => {
  const project = await newProject()
  const hangs = await enable(project, await install('export function processEvent() { for (;;) {} }'), { order: 1 })
  await capture(
    project,
    [1, 2, 3, 4, 5].map((n) => event('view', n)),
  )
  const rows = (await stored(project)) as [string, string, Record<string, readonly string[]>][]
  expect(rows.map(([, , { $plugins_failed, $plugins_deferred }]) => [$plugins_failed!.length, $plugins_deferred!.length])).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
    [0, 1],
    [0, 1],
  ])
  expect(await bodyOf('GET', config(project, hangs))).toMatchObject({
    enabled: true,
    error: expect.stringContaining('ran for more than 1 s'),
  })
  expect((await linesOf(project, hangs))[0]).toMatchObject({ message: expect.stringContaining('switched off for 10 minutes') })
})

test('a plugin whose setup fails is disabled, and says why; enabling it again is another attempt', async () => {
  const project = await newProject()
  const plugin = await install(
    'export function setupPlugin({ config }) { if (!config.key) throw new Error("no key") }; export const processEvent = (e) => ({ ...e, event: e.event + "!" })',
    { config_schema: [{ key: 'key', type: 'string' }] },
  )
  const id = await enable(project, plugin)
  const disabled = { enabled: false, error: 'setupPlugin threw Error: no key' }
  await vi.waitFor(async () => expect(await bodyOf('GET', config(project, id))).toMatchObject(disabled), 60_000)
  await capture(project, [event('view', 1)])
  expect(await stored(project, 'event, properties.$plugins_deferred')).toEqual([['view', null]])
  expect(await bodyOf('PATCH', config(project, id), { name: 'Mine' })).toMatchObject({ ...disabled, name: 'Mine' })
  expect((await linesOf(project, id))[0]).toMatchObject({ message: 'The plugin is disabled: setupPlugin threw Error: no key' })
  const { results } = await bodyOf('GET', `${plugins()}activity/?limit=50`)
  expect(results.filter(({ scope, item_id }: Record<string, unknown>) => scope === 'PluginConfig' && item_id === String(id))).toMatchObject(
    [
      { activity: 'config_updated' },
      { activity: 'disabled', is_system: true, user: null, detail: { changes: [{ field: 'error', after: disabled.error }] } },
      { activity: 'enabled', is_system: false },
    ],
  )
  expect(await bodyOf('PATCH', config(project, id), { enabled: true, config: { key: 'x' } })).toMatchObject({ enabled: true, error: null })
  await capture(project, [event('view', 2)])
  expect(await stored(project, 'event')).toEqual([['view'], ['view!']])
})

test('plugins that come with the server are offered, installed and run; their secrets reach them', async () => {
  const offered = await bodyOf('GET', `${plugins()}repository`)
  expect(offered.map(({ url }: { url: string }) => url)).toContain('inline://pii-hashing')
  const made = await bodyOf('POST', plugins(), { url: 'inline://pii-hashing' })
  expect(made).toMatchObject({ plugin_type: 'inline', name: 'PII hashing', capabilities: { methods: ['setupPlugin', 'processEvent'] } })
  expect(await bodyOf('POST', `${plugins()}${made.id}/upgrade/`, {})).toMatchObject({ id: made.id, name: 'PII hashing' })
  expect(await call('POST', plugins(), { url: 'inline://odd' })).toMatchObject({ status: 400, body: { attr: 'url' } })
  const project = await newProject()
  const id = await enable(project, made.id, { config: { properties: 'email', key: 'a long enough key' } })
  expect(await bodyOf('GET', config(project, id))).toMatchObject({ config: { key: '****************' }, error: null })
  await capture(project, [event('view', 1, { email: 'a@b.test', $set: { email: 'a@b.test' } })])
  const [[, , { email, $set }]] = (await stored(project)) as unknown as [[string, string, { email: string; $set: { email: string } }]]
  expect([email, $set.email]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), email])
})

test('past events pass the plugins too', async () => {
  const project = await newProject()
  await enable(project, await install('export function processEvent(event) { event.properties.seen = 1; return event }'))
  await capture(project, [event('old', 1), event('older', 0)], { historical_migration: true })
  expect(await stored(project, 'event, properties.seen')).toEqual([
    ['older', '1'],
    ['old', '1'],
  ])
})

test('plugins capture events and await the server without holding up the project', async () => {
  const project = await newProject()
  const code = `export async function processEvent(event, { cache, storage }) {
    if (event.event === 'captured') return event
    await posthog.capture('captured', { from: event.event })
    await storage.set('last', event.event)
    event.properties.count = await cache.incr('n')
    event.properties.last = await storage.get('last')
    return event
  }`
  await enable(project, await install(code))
  await capture(project, [event('one', 1)])
  expect(await stored(project, 'event, properties.last, properties.count')).toContainEqual(['one', 'one', '1'])
  await expect.poll(() => stored(project, 'event, properties.from')).toContainEqual(['captured', 'one'])
})

test('a project that is removed, and a plugin that is uninstalled, leave nothing that runs', async () => {
  const { host } = held.home.world.waymark.plugins
  const [one, two] = [await newProject(), await newProject()]
  const plugin = await install('export function processEvent(event) { event.properties.seen = 1; return event }')
  for (const project of [one, two]) await enable(project, plugin)
  expect([one, two].map(({ id }) => host.runtime.hasTransformations(id))).toEqual([true, true])
  await call('DELETE', `/api/organizations/${held.home.organization.id}/projects/${one.id}/`)
  expect([one, two].map(({ id }) => host.runtime.hasTransformations(id))).toEqual([false, true])
  await call('DELETE', `${plugins()}${plugin}/`)
  expect(host.runtime.hasTransformations(two.id)).toBe(false)
  await capture(two, [event('view', 1)])
  expect(await stored(two, 'event, properties.seen')).toEqual([['view', null]])
})
