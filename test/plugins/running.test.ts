import { expect, test } from 'vitest'
import { withHome } from '../http/conversation.ts'

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
  expect((await stored(project)).at(-1)).toEqual([
    'off',
    'u1',
    expect.not.objectContaining({ seen: expect.anything(), $plugins_succeeded: expect.anything() }),
  ])
})
