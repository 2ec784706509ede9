import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smallPageScript } from '../../../../build/client.mjs'
import { bodyLimits } from '../../../../src/doors/http/capture/handler.ts'
import { createScripts, libraryFiles } from '../../../../src/doors/http/capture/scripts.ts'
import { createHandler, type Handler } from '../../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import { collectGarbage } from '../../../../src/lib/memory/collect-garbage.ts'

// The scripts that pages of other sites load.

const { resolve } = createRequire(import.meta.url)
const ofPackage = (name: string) => readFileSync(resolve(`posthog-js/dist/${name}`))
const { version } = JSON.parse(readFileSync(resolve('posthog-js/package.json'), 'utf8')) as { version: string }
const year = 'public, max-age=31536000, immutable'
const minutes = 'public, max-age=300'

let waymark: LocalWaymark
let handler: Handler
let key: string
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  handler(new Request(`http://localhost${path}`, { headers, method }))

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  handler = createHandler(waymark, { sendsCompressed: true })
  key = (await waymark.createProject({ name: 'Shop', autocapture_web_vitals_opt_in: true, capture_dead_clicks: true })).token
})
afterAll(() => waymark.close())

test.each(libraryFiles)('%s is that of the package', async (name) => {
  const answer = await ask(`/static/${name}`)
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('access-control-allow-origin')]).toEqual([
    200,
    'text/javascript; charset=utf-8',
    '*',
  ])
  expect(Buffer.from(await answer.arrayBuffer()).equals(ofPackage(name))).toBe(true)
})

test.each<[string, string]>([
  ['/static/array.js', minutes],
  [`/static/array.js?v=${'VERSION'}`, year],
  ['/static/VERSION/web-vitals.js', year],
  ['/static/VERSION/array.js', year],
  ['/static/web-vitals.js?v=VERSION', year],
  ['/static/web-vitals.js?v=1.2.3', minutes],
  ['/static/1.2.3/web-vitals.js', minutes],
  ['/static/waymark.js', minutes],
  ['/static/waymark.js?v=VERSION', minutes],
  ['/static/lazy-recorder.js?v=VERSION', minutes],
])('%s is kept as %s', async (path, caching) => {
  const answer = await ask(path.replace('VERSION', version))
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, caching])
})

describe.each(['/static/array.js', '/array/KEY/array.js', '/static/exception-autocapture.js'])('%s', (path) => {
  const at = () => path.replace('KEY', key)
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
  test.each<[string, 'br' | 'gzip' | null]>([
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', null],
    ['', null],
  ])('for %s', async (accepted, encoding) => {
    const whole = Buffer.from(await (await ask(at())).arrayBuffer())
    for (let i = 0; i < 2; i++) {
      const answer = await ask(at(), { 'accept-encoding': accepted })
      expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([encoding, 'accept-encoding'])
      const sent = Buffer.from(await answer.arrayBuffer())
      expect((encoding ? unpack[encoding](sent) : sent).equals(whole)).toBe(true)
      if (encoding) expect(sent.length).toBeLessThan(whole.length / 2)
    }
  })

  test('is not sent again to who has it', async () => {
    const etag = (await ask(at())).headers.get('etag')!
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/)
    for (const known of [etag, `"x", ${etag}`, etag.slice(2)]) {
      const again = await ask(at(), { 'if-none-match': known, 'accept-encoding': 'br' })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
      expect(again.headers.get('content-encoding')).toBeNull()
    }
    expect((await ask(at(), { 'if-none-match': 'W/"other"' })).status).toBe(200)
  })

  test('by HEAD without a body', async () => {
    const answer = await ask(at(), {}, 'HEAD')
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

test('the library of a project knows its settings, and has another tag when they change', async () => {
  const path = `/array/${key}/array.js`
  const before = await ask(path)
  const text = await before.text()
  const settings = text.slice(0, text.indexOf('\n'))
  const window: { _POSTHOG_REMOTE_CONFIG?: Record<string, { config: Record<string, unknown> }> } = {}
  new Function('window', settings)(window)
  expect(window._POSTHOG_REMOTE_CONFIG?.[key]?.config).toMatchObject({
    token: key,
    captureDeadClicks: true,
    capturePerformance: { web_vitals: true },
    autocaptureExceptions: false,
  })
  expect(text.slice(settings.length + 1)).toBe(ofPackage('array.js').toString('utf8'))
  const { key: personal } = await waymark.createPersonalKey({ label: 'x', scopes: ['*'] })
  const project = (await waymark.projects()).find(({ token }) => token === key)!
  const changed = await handler(
    new Request(`http://localhost/api/projects/${project.id}/`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${personal}`, 'content-type': 'application/json' },
      body: JSON.stringify({ autocapture_exceptions_opt_in: true }),
    }),
  )
  expect(changed.status).toBe(200)
  const after = await ask(path, { 'if-none-match': before.headers.get('etag')! })
  expect(after.status).toBe(200)
  expect(await after.text()).toContain('"autocaptureExceptions":{"endpoint":"/e/"}')
})

test('the key of no project has no library', async () => {
  const answer = await ask('/array/phc_other/array.js')
  expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'invalid_api_key' }])
})

test.each([
  '/static/../package.json',
  '/static/%2e%2e/secret.js',
  '/static/constructor.js',
  '/static/nothing.js',
  '/static/array.js.map',
  '/static/a/b/c.js',
])('%s is not there', async (path) => {
  expect((await ask(path)).status).toBe(404)
})

test('what stands for features that do not exist is a script', async () => {
  for (const name of ['recorder.js', 'lazy-recorder.js', 'surveys.js', 'toolbar.js']) {
    const answer = await ask(`/static/${name}?v=1`)
    expect(answer.status, name).toBe(200)
    new Function('window', await answer.text())({})
  }
})

test('no script takes the place of a capture route', async () => {
  // Those of other clients have bodies of their own.
  for (const path of Object.keys(bodyLimits).filter((one) => !one.startsWith('/v1/'))) {
    const body = JSON.stringify({ api_key: key, batch: [{ event: 'a', distinct_id: 'u', uuid: crypto.randomUUID(), properties: {} }] })
    const taken = await handler(
      new Request(`http://localhost${path}/`, { method: 'POST', body, headers: { authorization: `Bearer ${key}` } }),
    )
    expect([path, taken.status]).toEqual([path, 200])
    expect(taken.headers.get('content-type'), path).toBe('application/json')
  }
})

test('the script for page views is small, and stores nothing', async () => {
  const code = await smallPageScript()
  expect(code.length).toBeLessThan(3000)
  expect(code).not.toMatch(/cookie(?!less)|localStorage|sessionStorage|indexedDB/)
})

test('the version that is served is the one that is tested', () => {
  const locked = JSON.parse(readFileSync(join(import.meta.dirname, '../../../clients/package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  expect(locked.dependencies['posthog-js']).toBe(version)
  const build = readFileSync(join(import.meta.dirname, '../../../../build/client.mjs'), 'utf8')
  for (const name of libraryFiles) expect(build).toContain(`'${name}'`)
})

test('names that do not exist leave nothing behind', async () => {
  const [names, scripts] = [30_000, createScripts()]
  const request = new Request('http://localhost/')
  const round = async (first: string) => {
    for (let i = 0; i < names; i++) expect(await scripts.file(request, `${first}${i}`.padEnd(58, 'x'), null)).toBeNull()
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = await round('a')
  expect((await round('b')) - before).toBeLessThan(names * 60)
})
