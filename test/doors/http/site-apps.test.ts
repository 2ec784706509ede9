import { expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// Plugins with site.ts, as the browser library finds and loads them.

const held = withHome()
type Json = Record<string, unknown>

const source = `
export function inject({ config, posthog }: { config: Record<string, string>, posthog: { capture(name: string): void } }): void {
  posthog.capture('shown: ' + JSON.stringify(config))
}
`
const manifest = JSON.stringify({
  name: 'Banner',
  config: [
    { key: 'text', name: 'Text', type: 'string', site: true },
    { key: 'color', name: 'Color', type: 'string', site: true, default: 'red' },
    { key: 'note', name: 'Note', type: 'string' },
    { key: 'apiKey', name: 'Key', type: 'string', secret: true },
    { key: 'shownKey', name: 'Key', type: 'string', secret: true, site: true },
  ],
})
const secretValues = ['s3cret-one', 's3cret-two', 'only for the server']

const ask = async (path: string, method = 'GET', body?: Json) => {
  const { call, owner } = held.home
  const answer = await call(method as 'GET', path, { as: owner, ...(body ? { body } : {}) })
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer
}

/** A plugin in the pages of a project. */
const setUp = async (files: Json = { 'site.ts': source, 'plugin.json': manifest }, project = held.home.project) => {
  const plugins = `/api/organizations/${held.home.organization.id}/plugins/`
  const { body: plugin } = await ask(plugins, 'POST', { plugin_type: 'source', name: 'Banner' })
  await ask(`${plugins}${plugin.id}/update_source/`, 'PATCH', files)
  const configs = `/api/projects/${project.id}/plugin_configs/`
  const config = { text: 'Hello </script>', note: secretValues[2], apiKey: secretValues[0], shownKey: secretValues[1] }
  const { body } = await ask(configs, 'POST', { plugin: plugin.id, enabled: true, config })
  return { id: body.id as number, path: `${configs}${body.id}/`, source: `${plugins}${plugin.id}/update_source/` }
}

const appsIn = async (token = held.home.project.api_token) =>
  (await ask(`/array/${token}/config`)).body.siteApps as { id: number; url: string }[]

/** What a script does in a page that has loaded the library. */
const runInPage = (id: number, script: string): string[] => {
  const seen: string[] = []
  new Function('window', script)({ [`__$$ph_site_app_${id}`]: { capture: (name: string) => seen.push(name) } })
  return seen
}

test('the configuration lists the app, and its script runs in the page with the settings that are for it', async () => {
  const { id } = await setUp()
  const [app] = (await appsIn()).filter((one) => one.id === id)
  const { body, headers } = await ask(app!.url)
  expect(headers.get('content-type')).toBe('application/javascript; charset=utf-8')
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(runInPage(id, body)).toEqual(['shown: {"text":"Hello </script>","color":"red"}'])
  for (const secret of secretValues) expect(body).not.toContain(secret)
})

test('every form of the configuration lists it', async () => {
  const { id } = await setUp()
  const { call, project } = held.home
  const token = project.api_token
  const asked = { body: { token, distinct_id: 'u' } }
  const of = (body: Json) => (body.siteApps as Json[]).map((one) => one.id)
  expect(of((await call('POST', '/flags/?v=2&config=true', asked)).body)).toContain(id)
  expect(of((await call('POST', '/decide/?v=3', asked)).body)).toContain(id)
  const { body } = await call('GET', `/array/${token}/config.js`)
  const window: { _POSTHOG_REMOTE_CONFIG?: Record<string, { config: Json }> } = {}
  new Function('window', body)(window)
  expect(of(window._POSTHOG_REMOTE_CONFIG![token]!.config)).toContain(id)
})

test('a change of settings or of the source has another address, and the old one is not kept in caches', async () => {
  const { id, path, source: sourcePath } = await setUp()
  const urlOf = async () => (await appsIn()).find((one) => one.id === id)!.url
  const first = await urlOf()
  await ask(path, 'PATCH', { config: { text: 'Bye' } })
  const second = await urlOf()
  await ask(sourcePath, 'PATCH', { 'site.ts': source.replace('shown', 'seen') })
  const third = await urlOf()
  expect(new Set([first, second, third]).size).toBe(3)
  const old = await ask(first)
  expect(old.headers.get('cache-control')).toBe('no-cache')
  expect(runInPage(id, old.body)).toEqual(['seen: {"text":"Bye","color":"red"}'])
})

test('only enabled apps that compile are there, and only for their project', async () => {
  const { call, world, organization } = held.home
  const [disabled, deleted, broken, fine] = [await setUp(), await setUp(), await setUp({ 'site.ts': 'export const = 5' }), await setUp()]
  const urls = new Map((await appsIn()).map(({ id, url }) => [id, url]))
  await ask(disabled.path, 'PATCH', { enabled: false })
  await ask(deleted.path, 'PATCH', { deleted: true })
  const found = (await appsIn()).map(({ id }) => id)
  expect([disabled, deleted, broken, fine].map(({ id }) => found.includes(id))).toEqual([false, false, false, true])
  for (const { id } of [disabled, deleted]) expect((await call('GET', urls.get(id)!)).status).toBe(404)
  const other = await world.makeProject(organization.id, {})
  expect(await appsIn(other.api_token)).toEqual([])
  expect((await call('GET', urls.get(fine.id)!.replace(held.home.project.api_token, other.api_token))).status).toBe(404)
  expect((await call('GET', `/site_app/${fine.id}/%E0%A4%A/x/`)).status).toBe(404)
  expect((await call('GET', `/site_app/999999999/${held.home.project.api_token}/x/`)).status).toBe(404)
  expect(await appsIn('phc_unknown')).toEqual([])
})

test('a script without an inject function does nothing', async () => {
  const { id } = await setUp({ 'site.ts': 'export const a = 1' })
  const { body } = await ask((await appsIn()).find((one) => one.id === id)!.url)
  expect(runInPage(id, body)).toEqual([])
})
