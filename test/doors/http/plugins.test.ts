import { describe, expect, test } from 'vitest'
import type { Json } from '../../../src/service/accounts/store.ts'
import { pluginCatalogue } from '../../conformance/world.ts'
import { helloWorld } from '../../harness/plugin-hosts.ts'
import {
  configFamilies,
  type FamilyName,
  familyCapabilities,
  familyNames,
  insertPlugin,
  insertPluginConfig,
  familySources as sources,
} from '../../harness/plugin-rows.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const under = (name: string, organization = held.home.organization) => `/api/organizations/${organization.id}/${name}/`
const setLevel = (level: number, organization = held.home.organization) =>
  held.home.world.accounts.context.store.write((tables) =>
    tables.organizations.update({ id: organization.id }, { plugins_access_level: level }),
  )
const call = (method: string, path: string, body?: unknown) =>
  held.home.call(method, path, { as: held.home.owner, ...(body === undefined ? {} : { body }) })
const tooLow = refused(403, 'permission_denied', "Your organization's plugin access level is insufficient.")
const notFound = refused(404, 'not_found', 'Not found.')
const foreign = refused(403, 'permission_denied', 'This plugin installation is managed by another organization')

let count = 0
const install = async (body: object = {}) => {
  const made = await call('POST', under('plugins'), { url: `https://github.com/acme/p${++count}`, ...body })
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  return made.body
}

const found = (more: object) => ({ methods: [], scheduled_tasks: [], jobs: [], ...more })
const loaded: Readonly<Record<FamilyName, object>> = {
  plugins: found({}),
  pipeline_destinations: found({ methods: ['onEvent'] }),
  pipeline_transformations: found({ methods: ['processEvent'] }),
  pipeline_frontend_apps: {},
  pipeline_import_apps: found({ scheduled_tasks: ['runEveryHour'], jobs: ['sync'] }),
}

describe.each(familyNames)('%s', (family: FamilyName) => {
  test('every route of a plugin of the family; those of others are not found', async () => {
    const { organization, world } = held.home
    const capabilities = familyCapabilities[family]
    world.pluginHosts.files.set(`acme/${family}`, { 'plugin.json': helloWorld['plugin.json']!, ...sources[family] })
    const { status, body: made } = await call('POST', under(family), {
      url: `https://github.com/acme/${family}?private_token=secret`,
      capabilities,
    })
    expect(status).toBe(201)
    expect(made).toEqual({
      id: expect.any(Number),
      plugin_type: 'custom',
      name: 'helloworldplugin',
      description: 'Greet the World and Foo a Bar, JS edition!',
      url: `https://github.com/acme/${family}`,
      icon: null,
      config_schema: { bar: { name: "What's in the bar?", type: 'string', default: 'baz', required: false } },
      tag: 'f00ba12',
      latest_tag: 'f00ba12',
      is_global: false,
      organization_id: organization.id,
      organization_name: organization.name,
      capabilities,
      metrics: {},
      public_jobs: {},
    })
    const one = `${under(family)}${made.id}/`
    expect((await call('GET', one)).body).toEqual(made)
    expect((await call('GET', `${under(family)}?limit=1000`)).body.results).toContainEqual(made)
    expect((await call('PATCH', one, { description: 'Greets.', icon: 'https://a.test/i.png' })).body).toEqual({
      ...made,
      description: 'Greets.',
      icon: 'https://a.test/i.png',
    })
    expect(Object.keys((await call('GET', `${one}source`)).body)).toEqual([...Object.keys(sources[family]), 'plugin.json'])

    world.pluginHosts.tag = 'f00ba13'
    const checked = (await call('GET', `${one}check_for_updates`)).body
    expect(checked).toMatchObject({ tag: 'f00ba12', latest_tag: 'f00ba13', plugin: { id: made.id, latest_tag: 'f00ba13' } })
    world.pluginHosts.requests.length = 0
    expect((await call('POST', `${one}upgrade`, {})).body).toMatchObject({ id: made.id, tag: 'f00ba13' })
    expect(world.pluginHosts.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', 'Bearer secret'])
    world.pluginHosts.tag = 'f00ba12'

    const written = { ...sources[family], 'plugin.json': '{"name":"Renamed"}' }
    expect((await call('PATCH', `${one}update_source`, { 'index.ts': null, ...written })).body).toEqual(written)
    expect((await call('GET', one)).body).toMatchObject({ name: 'Renamed', config_schema: {}, capabilities: loaded[family] })
    expect((await call('GET', `${under(family)}unused`)).body).toContain(made.id)
    expect((await call('GET', `${under(family)}repository`)).body.slice(-2)).toEqual([
      { name: 'Mirror', url: 'inline://mirror', description: expect.any(String), icon: null, verified: true, maintainer: 'Waymark' },
      { ...pluginCatalogue[0], icon: null, verified: false },
    ])
    expect((await call('GET', `${under(family)}exports_unsubscribe_configs`)).status).toBe(200)
    const { body: activity } = await call('GET', `${under(family)}activity?limit=5`)
    expect(activity.results.map((entry: { activity: string }) => entry.activity)).toEqual(
      ['updated', 'updated', 'updated', 'installed'].concat(activity.results.slice(4).map((entry: { activity: string }) => entry.activity)),
    )
    const stored = await world.accounts.context.store.read.plugins.first({ id: made.id })
    expect(JSON.stringify([stored, activity])).not.toContain('secret"')
    expect(JSON.stringify(stored)).not.toContain('private_token')

    const own: FamilyName = family === 'plugins' ? 'pipeline_import_apps' : family // that code has no function
    for (const name of familyNames.filter((one) => one !== 'plugins' && one !== own))
      expect(await call('GET', `${under(name)}${made.id}`), name).toMatchObject(notFound)
    expect((await call('DELETE', one)).status).toBe(204)
    expect(await call('GET', one)).toMatchObject(notFound)
  })
})

test('the same URL twice, whatever its query', async () => {
  const { url } = await install()
  for (const again of [url, `${url}?private_token=1`, `${url}/`])
    expect(await call('POST', under('plugins'), { url: again })).toMatchObject(
      refused(400, 'unique', 'A plugin from this URL is already installed.', 'url'),
    )
})

test.each([
  [{}, refused(400, 'required', undefined, 'url')],
  [{ plugin_type: 'odd' }, refused(400, 'invalid_choice', undefined, 'plugin_type')],
  [
    { plugin_type: 'local', url: 'file:///tmp' },
    refused(400, 'invalid_input', 'This server has no folder for local plugins. Ask its operator.', 'url'),
  ],
  [{ url: 'https://example.com/a' }, refused(400, 'invalid_input', 'Must be a GitHub/GitLab repository or a npm package URL!', 'url')],
  [{ plugin_type: 'source', name: 'x'.repeat(201) }, refused(400, 'max_length', undefined, 'name')],
  [
    { plugin_type: 'source', config_schema: [{ key: 'a', type: 'date' }] },
    refused(400, 'invalid_input', undefined, 'config_schema__0__type'),
  ],
])('%j is refused', async (body, answer) => {
  expect(await call('POST', under('plugins'), body)).toMatchObject(answer)
})

test('plugin access levels', async () => {
  const { id } = await install()
  const one = `${under('plugins')}${id}/`
  const reading = [
    under('plugins'),
    one,
    `${one}source`,
    `${under('plugins')}unused`,
    `${under('plugins')}activity`,
    `${under('plugins')}repository`,
  ]
  const changing: [string, string, unknown?][] = [
    ['POST', under('plugins'), { plugin_type: 'source' }],
    ['PATCH', one, { name: 'a' }],
    ['PATCH', `${one}update_source`, { 'index.ts': '' }],
    ['POST', `${one}upgrade`, {}],
    ['DELETE', one],
  ]
  try {
    await setLevel(0)
    for (const path of reading) expect(await call('GET', path), path).toMatchObject(tooLow)
    await setLevel(3)
    for (const path of reading) expect((await call('GET', path)).status, path).toBe(200)
    for (const [method, path, body] of changing) expect(await call(method, path, body), method + path).toMatchObject(tooLow)
    await setLevel(6)
    expect(await call('PATCH', one, { is_global: true })).toMatchObject(
      refused(403, 'permission_denied', "This organization can't manage global plugins!"),
    )
    expect((await call('PATCH', one, { name: 'b', is_global: false })).status, 'a record that is sent back').toBe(200)
    for (const [method, path, body] of changing) expect((await call(method, path, body)).status, method + path).toBeLessThan(300)
  } finally {
    await setLevel(9)
  }
})

test('each plugin is in a family: also one whose code has no function that is called', async () => {
  const { id } = await install({ plugin_type: 'source', url: undefined, name: 'Nothing yet' })
  const familiesOf = async () => {
    const seen = familyNames.filter((family) => family !== 'plugins')
    const statuses = await Promise.all(seen.map(async (family) => (await call('GET', `${under(family)}${id}`)).status))
    return seen.filter((_, i) => statuses[i] === 200)
  }
  expect(await familiesOf(), 'not loaded').toEqual(['pipeline_frontend_apps'])
  for (const [code, families] of [
    ['export const version = 1', ['pipeline_import_apps']],
    ['export const getSettings = () => ({})', ['pipeline_import_apps']],
    ['export const onEvent = () => {}', ['pipeline_destinations']],
    ['export const onEvent = () => {}; export const runEveryDay = () => {}', ['pipeline_destinations', 'pipeline_import_apps']],
  ] as const) {
    expect((await call('PATCH', `${under('plugins')}${id}/update_source`, { 'index.ts': code })).status).toBe(200)
    expect((await familiesOf()).toSorted(), code).toEqual(families)
  }
})

test('a global plugin is used by all, changed by its owner, and made local before it is removed', async () => {
  const { outsider, other, world } = held.home
  const { id } = await install({ is_global: true })
  const theirs = `${under('plugins', other)}${id}/`
  const asOther = (method: string, path: string, body?: unknown) => held.home.call(method, path, { as: outsider, body })
  expect((await asOther('GET', theirs)).body).toMatchObject({ id, is_global: true })
  for (const [method, path] of [
    ['PATCH', theirs],
    ['PATCH', `${theirs}update_source`],
    ['POST', `${theirs}upgrade`],
    ['DELETE', theirs],
  ] as const)
    expect(await asOther(method, path, {}), method + path).toMatchObject(foreign)
  const made = await asOther('POST', '/api/plugin_config/', { plugin: id, enabled: true, config: { bar: 'theirs' } })
  expect(made.status).toBe(201)
  expect(await call('DELETE', `${under('plugins')}${id}`)).toMatchObject(
    refused(400, 'invalid_input', 'This plugin is marked as global! Make it local before uninstallation'),
  )
  await call('PATCH', `${under('plugins')}${id}`, { is_global: false })
  expect((await asOther('GET', theirs)).body, 'seen for as long as a project has a config').toMatchObject({ id })
  expect((await call('GET', `${under('plugins')}unused`)).body).not.toContain(id)
  expect((await call('DELETE', `${under('plugins')}${id}`)).status).toBe(204)
  expect(await world.accounts.context.store.read.plugin_configs.count({ plugin_id: id })).toBe(0)
  expect(await asOther('GET', theirs)).toMatchObject(notFound)
})

const secretField = { key: 'token', type: 'string', secret: true }
const inProject = () => `/api/projects/${held.home.project.id}/plugin_configs/`
const create = async (body: object) => {
  const made = await call('POST', inProject(), body)
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  return made.body
}
const form = async (method: string, path: string, fields: readonly (readonly [string, string | File])[]) => {
  const { world, owner } = held.home
  const body = new FormData()
  for (const [name, value] of fields) body.append(name, value)
  const response = await fetch(world.url + path, { method, headers: await world.login(owner), body })
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers }
}

describe('configs', () => {
  test.each(Object.entries(configFamilies))('every route of %s', async (name, family) => {
    const { organization, project, world } = held.home
    const path = name === 'plugin_config' ? '/api/plugin_config/' : `/api/projects/${project.id}/${name}/`
    const plugin = await insertPlugin(world, organization.id, family)
    const { body: made } = await call('POST', path, { plugin: plugin.id, enabled: true, order: 3, config: { a: 1 } })
    expect(made).toMatchObject({
      plugin: plugin.id,
      enabled: true,
      order: 3,
      config: { a: 1 },
      error: null,
      deleted: false,
      name: plugin.name,
    })
    expect(made.plugin_info).toMatchObject({ id: plugin.id })
    const one = `${path}${made.id}/`
    expect((await call('GET', one)).body).toEqual(made)
    expect((await call('GET', `${path}?limit=1000`)).body.results).toContainEqual({ ...made, plugin_info: null })
    expect((await call('PATCH', one, { config: { b: 2 } })).body).toMatchObject({ id: made.id, config: { b: 2 }, enabled: true })
    expect((await call('PATCH', `${path}rearrange`, { orders: { [plugin.id]: -made.id } })).body[0]).toMatchObject({
      id: made.id,
      order: -made.id,
    })
    expect(await call('PATCH', `${path}rearrange`, { orders: { 999999: 1 } })).toMatchObject(
      refused(400, 'does_not_exist', undefined, 'orders__999999'),
    )
    expect(await call('GET', `${one}frontend`)).toMatchObject({ status: 200, body: '1\n' })
    expect((await call('GET', `${one}logs?after=-7d&type_filter=ERROR&search=a`)).body).toMatchObject({ count: 0, results: [] })
    expect(await call('GET', `${one}logs?after=odd`)).toMatchObject(refused(400, 'invalid_input', undefined, 'after'))
    expect(await call('POST', `${one}job`, { job: { type: 'sync' } })).toMatchObject({ status: 200, body: null })
    expect(await call('POST', `${one}job`, { job: {} })).toMatchObject(refused(400, 'required', undefined, 'job__type'))
    expect((await call('DELETE', one)).status).toBe(204)
    expect((await call('GET', one)).body).toMatchObject({ enabled: false, deleted: false })
    expect((await call('PATCH', one, { enabled: true, deleted: true })).body).toMatchObject({ enabled: false, deleted: true })
    expect((await call('GET', `${path}?limit=1000`)).body.results).not.toContainEqual(expect.objectContaining({ id: made.id }))
    expect((await call('POST', path, { plugin: plugin.id, enabled: true })).body).toMatchObject({
      id: made.id,
      enabled: true,
      deleted: false,
    })
    expect(await call('GET', `${path}999999`)).toMatchObject(notFound)
    expect(await call('GET', `${path}odd`)).toMatchObject(notFound)
    const wrong =
      family === 'plugins'
        ? 999_999
        : (await insertPlugin(world, organization.id, 'pipeline_destinations', { capabilities: { methods: ['getSettings', 'odd'] } })).id
    if (family !== 'pipeline_import_apps')
      expect(await call('POST', path, { plugin: wrong })).toMatchObject(refused(400, 'does_not_exist', undefined, 'plugin'))
  })

  test('a plugin of another organization is not there', async () => {
    const { world, other } = held.home
    const { id } = await insertPlugin(world, other.id, 'plugins')
    expect(await call('POST', inProject(), { plugin: id })).toMatchObject(refused(400, 'does_not_exist', undefined, 'plugin'))
  })

  test('without plugin access, creating is refused and nothing is found', async () => {
    const { world, project } = held.home
    const { id, plugin_id } = await insertPluginConfig(world, project, 'plugins')
    await setLevel(0)
    try {
      expect(await call('POST', inProject(), { plugin: plugin_id })).toMatchObject(refused(400, 'invalid_input'))
      for (const [method, path] of [
        ['GET', ''],
        ['GET', id],
        ['PATCH', id],
        ['DELETE', id],
        ['GET', `${id}/logs`],
        ['PATCH', 'rearrange'],
      ] as const)
        expect(
          await call(method, `${inProject()}${path}`, method === 'PATCH' ? { orders: {} } : undefined),
          `${method} ${path}`,
        ).toMatchObject(notFound)
    } finally {
      await setLevel(9)
    }
  })

  test('secrets are masked, encrypted at rest, kept when left out, and never in the log', async () => {
    const { world, organization } = held.home
    const { store } = world.accounts.context
    const { id: plugin } = await insertPlugin(world, organization.id, 'plugins', {
      config_schema: [secretField, { key: 'city', type: 'string' }],
    })
    const made = await create({ plugin, enabled: true, config: { token: 'very secret', city: 'Bern' } })
    const masked = '****************'
    expect(made.config).toEqual({ token: masked, city: 'Bern' })
    const one = `${inProject()}${made.id}/`
    const sealed = async () => ((await store.read.plugin_configs.first({ id: made.id }))!.secrets as { token?: string }).token
    const first = await sealed()
    for (const config of [{ city: 'Basel' }, { token: masked, city: 'Basel' }]) {
      expect((await call('PATCH', one, { config })).body.config).toEqual({ token: masked, city: 'Basel' })
      expect(await sealed()).toBe(first)
    }
    expect((await call('PATCH', one, { config: { token: 'another secret' } })).body.config).toEqual({ token: masked })
    expect(await sealed()).not.toBe(first)
    // The owner of the plugin cannot read it by no longer calling it a secret.
    await call('PATCH', `${under('plugins')}${plugin}`, { config_schema: [{ key: 'token', type: 'string' }] })
    expect((await call('GET', one)).body.config).toEqual({ token: masked })
    await call('PATCH', `${under('plugins')}${plugin}`, { config_schema: [secretField, { ...secretField, key: 'city' }] })
    expect((await call('PATCH', one, { config: { token: '', city: 'Genf' } })).body.config).toEqual({ token: '', city: masked })
    const rows = [
      await store.read.plugin_configs.first({ id: made.id }),
      await store.read.activity.find({ scope: 'PluginConfig', item_id: String(made.id) }),
    ]
    expect(JSON.stringify(rows)).not.toMatch(/very secret|another secret|Genf/)
    expect(JSON.stringify(rows[1])).toContain(masked)
  })

  describe('an address that a request of the plugin would be refused at', () => {
    const schema: Json[] = [
      { key: 'url', type: 'string', secret: true },
      { key: 'apiHost', type: 'string' },
      { key: 'ignoredHost', type: 'string' },
    ]
    test.each<[key: string, value: string, isTaken: boolean]>([
      ['url', 'http://127.0.0.1:9/x', false],
      ['url', 'http://169.254.169.254/latest', false],
      ['url', 'http://localhost:3000/', false],
      ['url', 'ftp://example.com/x', false],
      ['url', 'https://', false],
      ['url', 'https://exa\nmple.com/', false],
      ['apiHost', '10.0.0.3:8123', false],
      ['apiHost', '[::1]:80', false],
      ['apiHost', 'https://192.168.1.1', false],
      // A name is looked up by requests only. Words are no addresses.
      ['url', 'https://hooks.internal/x', true],
      ['apiHost', 'eu', true],
      ['apiHost', 'db.internal:8123', true],
      ['ignoredHost', 'http://localhost:3000', true],
    ])('%s: %j', async (key, value, isTaken) => {
      const { world, organization } = held.home
      const { id: plugin } = await insertPlugin(world, organization.id, 'plugins', { config_schema: schema })
      const told = refused(400, 'invalid_input', undefined, `config__${key}`)
      const made = await call('POST', inProject(), { plugin, config: { [key]: value } })
      expect(made).toMatchObject(isTaken ? { status: 201 } : told)
      const { id } = isTaken ? made.body : await create({ plugin, config: { [key]: 'https://example.com/' } })
      expect(await call('PATCH', `${inProject()}${id}/`, { config: { [key]: value } })).toMatchObject(isTaken ? { status: 200 } : told)
      // Where the operator allows private addresses, they are taken; those of cloud services never.
      world.reachesPrivate = true
      const isPrivate = /127|localhost|10\.|::1|192\.168/.test(value)
      if (isPrivate) expect((await call('PATCH', `${inProject()}${id}/`, { config: { [key]: value } })).status).toBe(200)
      world.reachesPrivate = false
      // What stands already may stay.
      if (isPrivate) expect((await call('PATCH', `${inProject()}${id}/`, { enabled: false })).status).toBe(200)
    })

    test('has no spaces around it once it is stored', async () => {
      const { world, organization } = held.home
      const { id: plugin } = await insertPlugin(world, organization.id, 'plugins', { config_schema: schema })
      const made = await create({ plugin, config: { apiHost: ' https://example.com/\n', ignoredHost: ' a ' } })
      expect(made.config).toEqual({ apiHost: 'https://example.com/', ignoredHost: ' a ' })
    })
  })

  test('attachments of a form', async () => {
    const { world, organization } = held.home
    const { store } = world.accounts.context
    const { id: plugin } = await insertPlugin(world, organization.id, 'plugins', { config_schema: [{ key: 'key', type: 'attachment' }] })
    const bytes = Buffer.from([0, 255, 10, 13, 128])
    const file = (contents: Buffer, name: string) => new File([new Uint8Array(contents)], name, { type: 'application/octet-stream' })
    const made = await form('POST', inProject(), [
      ['plugin', String(plugin)],
      ['enabled', 'true'],
      ['config', '{"a":"b"}'],
      ['add_attachment[key]', file(bytes, 'key.bin')],
    ])
    const shown = { uid: expect.any(String), saved: true, size: 5, name: 'key.bin', type: 'application/octet-stream' }
    expect(made).toMatchObject({ status: 201, body: { enabled: true, config: { a: 'b', key: shown } } })
    expect(made.headers.get('x-ignored-fields')).toBeNull()
    const [stored] = await store.read.plugin_attachments.find({ plugin_config_id: made.body.id })
    expect(stored!.contents).toMatch(/^v1\./)
    expect(world.waymark.plugins.host.attachmentContents(stored!)).toEqual(bytes)
    const one = `${inProject()}${made.body.id}/`
    const sentBack = await call('PATCH', one, { config: made.body.config })
    expect(sentBack.body.config).toEqual(made.body.config)
    const other = await form('PATCH', one, [['add_attachment[key]', file(Buffer.from('x'), 'new.bin')]])
    expect(other.body.config.key).toMatchObject({ name: 'new.bin', size: 1 })
    const none = await form('PATCH', one, [['remove_attachment[key]', 'true']])
    expect(none.body.config).toEqual({ a: 'b' })
    const { results } = (await call('GET', `${under('plugins')}activity?limit=1000`)).body
    const own = results.filter(
      (entry: { scope: string; item_id: string }) => entry.scope === 'PluginConfig' && entry.item_id === String(made.body.id),
    )
    expect(own.map((entry: { activity: string }) => entry.activity)).toEqual([
      'attachment_deleted',
      'attachment_updated',
      'attachment_created',
      'enabled',
    ])
  })

  test('exports_unsubscribe_configs: what is enabled, but no global transformations', async () => {
    const { world, organization, project } = held.home
    const { plugin_id } = await insertPluginConfig(world, project, 'pipeline_destinations')
    const hidden = await insertPlugin(world, organization.id, 'pipeline_transformations', { is_global: true })
    const off = await insertPlugin(world, organization.id, 'pipeline_destinations')
    await create({ plugin: hidden.id, enabled: true })
    await create({ plugin: off.id })
    const { body } = await call('GET', `${under('plugins')}exports_unsubscribe_configs`)
    const ids = body.map((one: { plugin: number }) => one.plugin)
    expect(ids).toContain(plugin_id)
    expect(ids).not.toContain(hidden.id)
    expect(ids).not.toContain(off.id)
  })

  test('a frontend that is broken says why, and one that is missing is not found', async () => {
    const { id: plugin } = await install()
    const { id } = await create({ plugin, enabled: true })
    const script = `${inProject()}${id}/frontend`
    expect(await call('GET', script)).toMatchObject(refused(404, 'not_found', 'The plugin has no frontend.tsx.'))
    const write = (text: string) => call('PATCH', `${under('plugins')}${plugin}/update_source`, { 'frontend.tsx': text })
    await write('export const scene: {} = <b>hi</b>')
    const { body, headers } = await call('GET', script)
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const make = new Function(`${body.replace('export function', 'return function')}`)()
    expect(make).toBeTypeOf('function')
    await write('export const scene = {')
    expect(await call('GET', script)).toMatchObject(refused(400, 'invalid_input'))
  })
})
