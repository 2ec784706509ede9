import { expect, test } from 'vitest'
import type { User } from '../../../src/service/accounts/records.ts'
import { withHome } from '../../doors/http/conversation.ts'

// Who decides which code runs for a project: its administrators, for that very version. Members and other organizations that change the code are tried here.

const held = withHome()
const ok = async (as: User, method: string, path: string, body?: unknown) => {
  const answer = await held.home.call(method, path, { as, ...(body === undefined ? {} : { body }) })
  expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body
}
const marking = (text: string) =>
  `export function processEvent(event, { config }) { event.properties.by = ${JSON.stringify(text)} + (config.secret ?? ''); return event }`
const schema = JSON.stringify({ name: 'Marker', config: [{ key: 'secret', type: 'string', secret: true }] })
const pluginsOf = (id: string) => `/api/organizations/${id}/plugins/`

let count = 0
const install = async (as: User, organizationId: string, code: string, files: object = {}): Promise<number> => {
  const { id } = await ok(as, 'POST', pluginsOf(organizationId), { plugin_type: 'source', name: `agreed ${++count}` })
  await ok(as, 'PATCH', `${pluginsOf(organizationId)}${id}/update_source/`, { 'index.ts': code, 'plugin.json': schema, ...files })
  return id
}
const newProject = (organizationId: string, fields: object = {}) =>
  held.home.world.makeProject(organizationId, { name: 'Agreed', ...fields })
const use = (as: User, project: number, plugin: number, more: object = {}) =>
  ok(as, 'POST', `/api/projects/${project}/plugin_configs/`, { plugin, enabled: true, config: { secret: ' hidden' }, ...more })

/** What the plugin made of an event that arrives now. */
const markOf = async ({ id, api_token }: { id: number; api_token: string }) => {
  const data = await held.home.world.waymark.project(id)
  const event = `asked ${++count}`
  const sent = await fetch(`${held.home.world.url}/capture/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: api_token, event, distinct_id: 'a' }),
  })
  expect(sent.status).toBe(200)
  const { results } = (await data.answer({
    kind: 'SqlLikeQuery',
    query: `select properties.by from events where event = '${event}'`,
  })) as unknown as { results: unknown[][] }
  return results[0]?.[0] ?? null
}

test('code that a member changes runs nowhere before an administrator agreed: the old version runs on, with its settings', async () => {
  const { admin, member, organization } = held.home
  const hidden = await newProject(organization.id, { access_control: true })
  const plugin = await install(admin, organization.id, marking('one'))
  const config = await use(admin, hidden.id, plugin)
  expect(config.running_version).toBe(config.code_version)
  expect(await markOf(hidden)).toBe('one hidden')
  await ok(member, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, { 'index.ts': marking('stolen') })
  expect(await markOf(hidden)).toBe('one hidden')
  const path = `/api/projects/${hidden.id}/plugin_configs/${config.id}/`
  const waiting = await ok(admin, 'GET', path)
  expect(waiting).toMatchObject({ running_version: config.code_version, error: null })
  expect(waiting.code_version).not.toBe(config.code_version)
  // Not by saving settings, switching it off and on, or reloading the plugins.
  await ok(admin, 'PATCH', path, { config: {}, enabled: true })
  await ok(admin, 'PATCH', path, { enabled: false })
  await ok(admin, 'PATCH', path, { enabled: true })
  expect(await markOf(hidden)).toBe('one hidden')
  const agree = (as: User, version: unknown) => held.home.call('POST', `${path}agree/`, { as, body: { version } })
  expect((await agree(member, waiting.code_version)).status).toBe(403)
  expect(await agree(admin, config.code_version), 'not the code of now').toMatchObject({ status: 409 })
  expect(await agree(admin, waiting.code_version)).toMatchObject({ status: 200, body: { running_version: waiting.code_version } })
  expect(await markOf(hidden)).toBe('stolen hidden')
})

test('a global plugin that its organization changes runs in others as they agreed to it', async () => {
  const { owner, outsider, organization, other } = held.home
  const [ours, theirs] = [await newProject(organization.id), await newProject(other.id)]
  const plugin = await install(owner, organization.id, marking('one'))
  await ok(owner, 'PATCH', `${pluginsOf(organization.id)}${plugin}/`, { is_global: true })
  await use(owner, ours.id, plugin)
  const config = await use(outsider, theirs.id, plugin)
  await ok(owner, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, { 'index.ts': marking('two') })
  expect(await markOf(theirs)).toBe('one hidden')
  expect(await markOf(ours), 'its administrator changed it').toBe('two hidden')
  await ok(owner, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, { 'index.ts': marking('three') })
  expect(await markOf(theirs)).toBe('one hidden')
  const { code_version } = await ok(outsider, 'GET', `/api/projects/${theirs.id}/plugin_configs/${config.id}/`)
  await ok(outsider, 'POST', `/api/projects/${theirs.id}/plugin_configs/${config.id}/agree/`, { version: code_version })
  expect(await markOf(theirs)).toBe('three hidden')
  const { read } = held.home.world.accounts.context.store
  expect(await read.plugin_versions.count({ plugin_id: plugin }), 'versions that nobody runs are dropped').toBe(0)
})

test('neither other functions nor other settings of the same code count without an agreement', async () => {
  const { admin, member, organization } = held.home
  const project = await newProject(organization.id)
  const plugin = await install(admin, organization.id, marking('one'))
  const config = await use(admin, project.id, plugin)
  const path = `${pluginsOf(organization.id)}${plugin}/`
  await ok(member, 'PATCH', path, { capabilities: { methods: [] } })
  expect(await markOf(project), 'a member does not switch a transformation off that way').toBe('one hidden')
  await ok(member, 'PATCH', path, { config_schema: [{ key: 'secret', type: 'string', site: true }] })
  expect((await ok(admin, 'GET', `/api/projects/${project.id}/plugin_configs/${config.id}/`)).running_version).toBe(config.code_version)
  await ok(member, 'PATCH', path, { name: 'Another name' })
  expect(await markOf(project)).toBe('one hidden')
})

test('what a member starts to use waits for an administrator, which `running_version` says; what comes with the server runs', async () => {
  const { admin, member, organization } = held.home
  const project = await newProject(organization.id)
  const plugin = await install(member, organization.id, marking('members'))
  const config = await use(member, project.id, plugin)
  expect(config).toMatchObject({ enabled: true, running_version: null, error: null })
  expect(await markOf(project)).toBeNull()
  const path = `/api/projects/${project.id}/plugin_configs/${config.id}/`
  await ok(member, 'PATCH', path, { enabled: true })
  expect(await markOf(project)).toBeNull()
  await ok(admin, 'POST', `${path}agree/`, { version: config.code_version })
  expect(await markOf(project)).toBe('members hidden')
  const { id } = await ok(member, 'POST', pluginsOf(organization.id), { url: 'inline://property-filter' })
  const bundled = await use(member, project.id, id, { config: { properties: 'by' }, order: 9 })
  expect(bundled).toMatchObject({ running_version: bundled.code_version, error: null })
  expect(await markOf(project), 'it removes the property').toBeNull()
  await ok(member, 'PATCH', `${pluginsOf(organization.id)}${id}/update_source/`, { 'index.ts': marking('no longer the servers') })
  expect(await markOf(project)).toBe('members hidden')
  expect(await ok(admin, 'GET', `/api/projects/${project.id}/plugin_configs/${bundled.id}/`)).toMatchObject({ running_version: null })
})

test('pages and sites get scripts of the agreed version too', async () => {
  const { admin, member, organization, world } = held.home
  const project = await newProject(organization.id)
  const scripts = (text: string) => ({
    'site.ts': `export const inject = () => ${JSON.stringify(text)}`,
    'frontend.tsx': `export const scene = ${JSON.stringify(text)}`,
  })
  const plugin = await install(admin, organization.id, 'export const a = 1', scripts('first'))
  const config = await use(admin, project.id, plugin)
  const site = async () => {
    const [app] = await world.waymark.plugins.siteApps.list(project.api_token)
    return (await (await fetch(world.url + app!.url)).text()).match(/first|second/)![0]
  }
  const frontend = async () =>
    String(await ok(admin, 'GET', `/api/projects/${project.id}/plugin_configs/${config.id}/frontend/`)).match(/first|second/)![0]
  await ok(member, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, scripts('second'))
  expect([await site(), await frontend()]).toEqual(['first', 'first'])
  const { code_version } = await ok(admin, 'GET', `/api/projects/${project.id}/plugin_configs/${config.id}/`)
  await ok(admin, 'POST', `/api/projects/${project.id}/plugin_configs/${config.id}/agree/`, { version: code_version })
  expect([await site(), await frontend()]).toEqual(['second', 'second'])
})

test('deliveries follow the agreed version: no event reaches a function that a member added', async () => {
  const { admin, member, organization, world } = held.home
  const project = await newProject(organization.id)
  const plugin = await install(admin, organization.id, marking('one'))
  const config = await use(admin, project.id, plugin)
  const code = `${marking('two')}; export function onEvent() {}`
  await ok(member, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, { 'index.ts': code })
  const receives = () => world.accounts.context.store.read.plugin_deliveries.count({ plugin_config_id: config.id })
  expect(await receives()).toBe(0)
  const path = `/api/projects/${project.id}/plugin_configs/${config.id}/`
  await ok(admin, 'POST', `${path}agree/`, { version: (await ok(admin, 'GET', path)).code_version })
  expect(await receives()).toBe(1)
})

test('a config from before there were agreements runs the code as it was then', async () => {
  const { admin, member, organization, world } = held.home
  const project = await newProject(organization.id)
  const plugin = await install(admin, organization.id, marking('one'))
  const config = await use(admin, project.id, plugin)
  await world.accounts.context.store.write(async (tables) => {
    await tables.plugin_configs.update({ id: config.id }, { agreed_hash: null })
    await tables.plugins.update({ id: plugin }, { code_hash: null })
  })
  await ok(member, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, { 'index.ts': marking('two') })
  expect(await markOf(project)).toBe('one hidden')
})

test('an uninstalled plugin leaves no version', async () => {
  const { admin, member, organization, world } = held.home
  const project = await newProject(organization.id)
  const plugin = await install(admin, organization.id, marking('one'))
  await use(admin, project.id, plugin)
  await ok(member, 'PATCH', `${pluginsOf(organization.id)}${plugin}/update_source/`, { 'index.ts': marking('two') })
  const { read } = world.accounts.context.store
  expect(await read.plugin_versions.count({ plugin_id: plugin })).toBe(1)
  await ok(admin, 'DELETE', `${pluginsOf(organization.id)}${plugin}/`)
  expect(await read.plugin_versions.count({ plugin_id: plugin })).toBe(0)
})
