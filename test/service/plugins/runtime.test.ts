import { createHash } from 'node:crypto'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { JsonObject, PluginConfig, PluginPorts } from '../../../src/service/plugins/ports.ts'
import { answerOf, closeSharedSandbox, createWorld, eventOf, pluginOf, type World, type WorldOptions } from './world.ts'

let world: World
const start = async (configs: readonly PluginConfig[], options: WorldOptions = {}) => {
  world = createWorld(options)
  await world.runtime.use(1, configs)
  return world
}
afterEach(async () => world.runtime.close())
afterAll(closeSharedSandbox)
const messages = () => world.logs.map(({ level, message }) => `${level} ${message}`)
const transformed = async (properties: JsonObject = {}) => (await world.runtime.transform(1, [eventOf(properties)]))[0]

describe('forms of exports', () => {
  const change = "event.event = 'changed'; return event"
  const forms: (readonly [name: string, code: string, file?: string])[] = [
    ['a top-level function', `function processEvent(event) { ${change} }`],
    ['a top-level constant', `const processEvent = (event) => { ${change} }`],
    ['exports replaced', `exports = { processEvent(event) { ${change} } }`],
    ['exports set', `exports.processEvent = (event) => { ${change} }`],
    ['exports.default', `exports.default = { processEvent(event) { ${change} } }`],
    ['module.exports', `module.exports = { processEvent: async (event) => { ${change} } }`],
    ['module.exports set', `module.exports.processEvent = function (event) { ${change} }`],
    ['export function', `export function processEvent(event) { ${change} }`],
    ['export const', `export const processEvent = async (event) => { ${change} }`],
    ['export default', `export default { processEvent(event) { ${change} } }`],
    ['export list', `function work(event) { ${change} }\nexport { work as processEvent }`],
    [
      'TypeScript',
      `import type { PluginEvent } from '@posthog/plugin-scaffold'\ninterface Meta<T = unknown> { config: T }\nexport async function processEvent(event: PluginEvent, { config }: Meta): Promise<PluginEvent | null> { const it = event as any; it.event = 'changed'; return it!; void config }`,
      'index.ts',
    ],
    ['the old form for batches', `async function processEventBatch(events) { return events.map((event) => { ${change} }) }`],
    ['processEvent before processEventBatch', `function processEventBatch() { return [] }\nfunction processEvent(event) { ${change} }`],
    [
      'what is exported before what is only there',
      `function processEvent() { return null }\nexports.processEvent = (event) => { ${change} }`,
    ],
  ]
  test.each(forms.map(([name, code, file = 'index.js']) => [name, code, file] as const))('%s', async (_, code, file) => {
    await start([pluginOf(code, 3, { file })])
    expect(messages()).toEqual([])
    expect(await transformed({ a: 1 })).toEqual({
      ...eventOf({ a: 1, $plugins_succeeded: ['plugin 3 (3)'], $plugins_failed: [], $plugins_deferred: [] }),
      event: 'changed',
    })
  })

  test('a plugin of several files starts with the one that its manifest names', async () => {
    const files = {
      'plugin.json': JSON.stringify({ name: 'files', main: 'src/main.ts' }),
      'src/main.ts':
        "import { shout } from './lib'\nimport words from '../words.json'\nexport const processEvent = (event: any) => ({ ...event, event: shout(words.said) })",
      'src/lib/index.js': "exports.shout = (text) => require('../punctuation').mark(text.toUpperCase())",
      'src/punctuation.js': "export const mark = (text) => text + '!'",
      'words.json': '{"said":"hello"}',
      'README.md': '# not read',
    }
    await start([pluginOf('', 1, { plugin: { id: 1, name: null, files } })])
    expect(await transformed()).toMatchObject({ event: 'HELLO!', properties: { $plugins_succeeded: ['plugin-id-1 (1)'] } })
  })
})

describe('transformations', () => {
  const appending = (letter: string) =>
    `export function processEvent(event) { event.properties.seen = (event.properties.seen ?? '') + '${letter}'; return event }`

  test('run in their order, and each gets what the one before made', async () => {
    const at = (letter: string, id: number, order: number) => pluginOf(appending(letter), id, { order })
    await start([at('c', 1, 5), at('b', 7, 2), at('a', 5, 2)])
    expect(await transformed()).toMatchObject({
      properties: { seen: 'abc', $plugins_succeeded: ['plugin 5 (5)', 'plugin 7 (7)', 'plugin 1 (1)'] },
    })
    await world.runtime.use(1, [at('c', 1, 0), at('b', 7, 2), at('a', 5, 2)])
    expect(await transformed()).toMatchObject({ properties: { seen: 'cab' } })
  })

  test.each([
    ['null', 'return null'],
    ['undefined', 'return undefined'],
    ['nothing', ''],
  ])('%s drops the event, and the next plugin does not see it', async (_, end) => {
    await start([pluginOf(`function processEvent(event) { ${end} }`, 1), pluginOf("function processEvent() { console.log('seen') }", 2)])
    expect(await transformed()).toBeNull()
    expect(messages()).toEqual([])
  })

  const failures: readonly (readonly [name: string, code: string, message: string])[] = [
    ['throws', "event.properties.a = 2; throw new Error('always')", 'processEvent failed: Error: always'],
    ['throws a text', "throw 'words'", 'processEvent failed: threw words'],
    ['throws nothing', 'throw undefined', 'processEvent failed: threw undefined'],
    ['rejects', "event.properties.a = 2; return Promise.reject(new TypeError('late'))", 'processEvent failed: TypeError: late'],
    ['changes the project', 'event.team_id = 2; return event', 'processEvent failed: it must not change team_id'],
    ['removes the project', 'delete event.team_id; return event', 'processEvent failed: it must not change team_id'],
    [
      'pretends to a project',
      'event.toJSON = () => ({ ...event, team_id: 2 }); return event',
      'processEvent failed: it must not change team_id',
    ],
    ['returns a text', "return 'event'", 'processEvent failed: it must return an event or null'],
    ['returns a list', 'return [event]', 'processEvent failed: it must return an event or null'],
    ['returns a cycle', 'event.self = event; return event', 'processEvent failed: TypeError: circular reference'],
    ['returns properties that are none', 'event.properties = 5; return event', 'processEvent failed: properties must be an object'],
  ]
  test.each(failures)('a plugin that %s leaves the event as it was', async (_, code, message) => {
    await start([pluginOf(`function processEvent(event) { ${code} }`, 1), pluginOf(appending('x'), 2)])
    expect(await transformed({ a: 1 })).toEqual(
      eventOf({ a: 1, seen: 'x', $plugins_succeeded: ['plugin 2 (2)'], $plugins_failed: ['plugin 1 (1)'], $plugins_deferred: [] }),
    )
    expect(messages()).toEqual([`ERROR ${message}`])
  })

  test('marks are made here: those that a client sends are replaced', async () => {
    await start([pluginOf(appending('x'), 1)])
    expect(await transformed({ $plugins_succeeded: ['plugin 1 (1)'], $plugins_failed: 'no' })).toEqual(
      eventOf({ seen: 'x', $plugins_succeeded: ['plugin 1 (1)'], $plugins_failed: [], $plugins_deferred: [] }),
    )
  })

  test('without a transformation, events are the same objects, and nothing is marked', async () => {
    await start([pluginOf('export const onEvent = () => {}', 1)])
    const events = [eventOf({ a: 1 }), eventOf({ a: 2 })]
    expect(await world.runtime.transform(1, events)).toEqual(events)
    expect(await world.runtime.transform(2, events)).toBe(events)
    expect([world.runtime.hasPlugins(1), world.runtime.hasPlugins(2)]).toEqual([true, false])
  })

  test('many events keep their order, whatever each of them awaits', async () => {
    const code =
      "async function processEvent(event) { if (event.properties.n % 3 === 0) await fetch('https://x.test/' + event.properties.n); return event.properties.n % 7 === 0 ? null : event }"
    await start([pluginOf(code)])
    const events = Array.from({ length: 300 }, (_, n) => eventOf({ n }))
    const result = await world.runtime.transform(1, events)
    expect(result.map((event) => (event?.properties as JsonObject | undefined)?.n ?? null)).toEqual(
      events.map((_, n) => (n % 7 === 0 ? null : n)),
    )
    expect(world.fetched).toHaveLength(100)
  })
})

describe('life of a plugin', () => {
  test('setupPlugin is awaited once, before the first event; global stays; teardownPlugin runs at the end', async () => {
    const code = `
      export async function setupPlugin({ global, config }) { await fetch('https://setup.test/'); global.count = config.from }
      export const processEvent = (event, { global }) => ({ ...event, properties: { count: global.count++ } })
      export const teardownPlugin = async ({ global }) => { console.log('ended at', global.count) }`
    await start([pluginOf(code, 1, { config: { from: 5 } })])
    const results = await world.runtime.transform(1, [eventOf(), eventOf()])
    expect(results.map((event) => (event!.properties as JsonObject).count)).toEqual([5, 6])
    expect(await transformed()).toMatchObject({ properties: { count: 7 } })
    expect(world.fetched.map(({ url }) => url)).toEqual(['https://setup.test/'])
    await world.runtime.use(1, [])
    expect(messages()).toEqual(['LOG ended at 8'])
  })

  test('a changed config is a new plugin; an unchanged one keeps its state', async () => {
    const code = 'let n = 0; export const processEvent = (event, { config }) => ({ ...event, properties: { n: ++n, ...config } })'
    await start([pluginOf(code, 1), pluginOf(code, 2)])
    await transformed()
    await world.runtime.use(1, [pluginOf(code, 2), pluginOf(code, 1, { config: { a: 1 } })])
    expect(await transformed()).toMatchObject({ properties: { n: 2 } })
    await world.runtime.use(1, [pluginOf(code, 1, { config: { a: 1 } })])
    expect(await transformed()).toMatchObject({ properties: { n: 2, a: 1 } })
  })

  test.each([
    ['setupPlugin throws', "async function setupPlugin() { throw new Error('no key') }", 'setupPlugin threw Error: no key'],
    ['it does not parse', 'function (', 'SyntaxError'],
    ['it throws while it is loaded', "throw new Error('at once')", 'Error: at once'],
    ['it imports what there is not', "require('fs')", 'Error: Cannot import "fs": plugins can import crypto, url,'],
    ['it has no file to start with', '', 'The plugin has no file index.ts or index.js', 'other.js'],
  ])('a plugin is disabled if %s', async (_, code, reason, file = 'index.js') => {
    await start([pluginOf(`${code}\nfunction processEvent() { return null }`, 1, { file })])
    expect(await transformed({ a: 1 })).toMatchObject({ properties: { a: 1, $plugins_deferred: ['plugin 1 (1)'] } })
    expect(world.disabled).toEqual([expect.stringContaining(reason)])
    expect(world.runtime.problem(1)).toContain(reason)
    expect(messages()).toEqual([expect.stringMatching(/^ERROR The plugin is disabled: [^\n]*$/)])
  })

  test('a setup that asks for another attempt gets it later, and events are deferred until then', async () => {
    const code = `
      export async function setupPlugin() { if (!(await fetch('https://up.test/')).ok) throw new RetryError('down') }
      export const processEvent = (event) => event`
    let status = 503
    await start([pluginOf(code)], { respond: () => answerOf('', status) })
    expect(await transformed()).toMatchObject({ properties: { $plugins_deferred: ['plugin 1 (1)'] } })
    expect(await transformed()).toMatchObject({ properties: { $plugins_deferred: ['plugin 1 (1)'] } })
    expect(world.fetched).toHaveLength(1)
    expect(messages()).toEqual(['WARN setupPlugin threw RetryError: down. The next attempt is in 2 s'])
    world.now = new Date(world.now.getTime() + 2000)
    status = 200
    expect(await transformed()).toMatchObject({ properties: { $plugins_succeeded: ['plugin 1 (1)'], $plugins_deferred: [] } })
  })

  test('a plugin that keeps failing is switched off, tried again later, and works once it recovered', async () => {
    const code = "export const processEvent = (event) => { if (event.properties.bad) throw new Error('bad'); return event }"
    await start([pluginOf(code), pluginOf('export const processEvent = (event) => event', 2)])
    await world.runtime.transform(
      1,
      Array.from({ length: 60 }, () => eventOf({ bad: true })),
    )
    expect(await transformed()).toMatchObject({ properties: { $plugins_deferred: ['plugin 1 (1)'], $plugins_succeeded: ['plugin 2 (2)'] } })
    expect(messages().at(-1)).toBe(
      'ERROR The plugin is switched off for 10 minutes, because it kept failing. Events are processed without it.',
    )
    world.now = new Date(world.now.getTime() + 10 * 60_000)
    expect(await transformed()).toMatchObject({
      properties: { $plugins_deferred: [], $plugins_succeeded: ['plugin 1 (1)', 'plugin 2 (2)'] },
    })
  })

  test('failures between successes do not switch a plugin off', async () => {
    const code = "export const processEvent = (event) => { if (event.properties.bad) throw new Error('bad'); return event }"
    await start([pluginOf(code)])
    await world.runtime.transform(
      1,
      Array.from({ length: 300 }, (_, i) => eventOf({ bad: i % 2 === 0 })),
    )
    expect(await transformed()).toMatchObject({ properties: { $plugins_succeeded: ['plugin 1 (1)'] } })
  })

  test('capabilities are found without a setup', async () => {
    await start([])
    const code = `exports = { setupPlugin() { throw new Error('not called') }, processEvent() {}, runEveryMinute() {}, runEveryHour: 5, getSettings() {}, jobs: { send() {}, other: 1 } }`
    expect(await world.runtime.inspect(pluginOf(code).plugin)).toEqual({
      capabilities: { methods: ['setupPlugin', 'processEvent', 'getSettings'], scheduled_tasks: ['runEveryMinute'], jobs: ['send'] },
    })
    expect(await world.runtime.inspect(pluginOf('export const a = 1').plugin)).toEqual({
      capabilities: { methods: [], scheduled_tasks: [], jobs: [] },
    })
    expect(await world.runtime.inspect(pluginOf('function (').plugin)).toEqual({ problem: expect.stringContaining('SyntaxError') })
  })
})

describe('after an event is stored', () => {
  const delivered = { event: eventOf({ a: 1 }), webhookEvent: { ...eventOf({ a: 1 }), timestamp: '2026-01-05T10:00:00.000Z' } }

  test('onEvent gets the event, and its result is ignored', async () => {
    await start([pluginOf("export const onEvent = async (event) => { await fetch('https://x.test/?' + event.event); return 'ignored' }")])
    expect(await world.runtime.deliver(1, delivered)).toEqual([{ configId: 1, status: 'done', isRetryable: false, reason: null }])
    expect(world.fetched.map(({ url }) => url)).toEqual(['https://x.test/?$pageview'])
  })

  test.each([
    [
      'what its text says',
      "{ url: 'https://h.test/', body: 'text', headers: { 'Content-Type': 'text/plain', A: 'b' }, method: 'put' }",
      { method: 'PUT', headers: { 'content-type': 'text/plain', a: 'b' } },
    ],
    [
      'JSON by POST without more',
      "{ url: 'https://h.test/', body: 'text' }",
      { method: 'POST', headers: { 'content-type': 'application/json' } },
    ],
  ])('composeWebhook is sent as %s', async (_, request, expected) => {
    await start([pluginOf(`export const composeWebhook = (event) => (event.timestamp instanceof Date ? ${request} : null)`)])
    expect(await world.runtime.deliver(1, delivered)).toMatchObject([{ status: 'done' }])
    expect(world.fetched).toEqual([{ url: 'https://h.test/', body: Buffer.from('text'), ...expected }])
  })

  const outcomes: readonly (readonly [name: string, code: string, status: number, delivery: object])[] = [
    ['null is skipped', 'export const composeWebhook = () => null', 200, { status: 'skipped', isRetryable: false }],
    ['a plugin without either is skipped', 'export const processEvent = () => null', 200, { status: 'skipped' }],
    [
      '503 is retried',
      "export const composeWebhook = () => ({ url: 'https://h.test/', body: '' })",
      503,
      { status: 'failed', isRetryable: true, reason: 'h.test answered with status 503' },
    ],
    [
      '404 is not',
      "export const composeWebhook = () => ({ url: 'https://h.test/', body: '' })",
      404,
      { status: 'failed', isRetryable: false },
    ],
    ['a request without a URL is not', 'export const composeWebhook = () => ({ body: 1 })', 200, { status: 'failed', isRetryable: false }],
    [
      'RetryError is retried',
      "export const onEvent = () => { throw new RetryError('busy') }",
      200,
      { status: 'failed', isRetryable: true, reason: 'RetryError: busy' },
    ],
    ['another error is not', "export const onEvent = () => { throw new Error('broken') }", 200, { status: 'failed', isRetryable: false }],
  ]
  test.each(outcomes)('%s', async (_, code, status, delivery) => {
    await start([pluginOf(code)], { respond: () => answerOf('', status) })
    expect(await world.runtime.deliver(1, delivered)).toMatchObject([delivery])
  })

  test('one plugin that fails keeps no other from its event', async () => {
    await start([
      pluginOf("export const onEvent = () => { throw new Error('x') }", 1),
      pluginOf("export const onEvent = () => { console.log('seen') }", 2),
    ])
    expect((await world.runtime.deliver(1, delivered)).map(({ status }) => status)).toEqual(['failed', 'done'])
    expect((await world.runtime.deliver(1, delivered, [2])).map(({ configId }) => configId)).toEqual([2])
  })
})

describe('what plugins find', () => {
  /** Runs an expression with meta, and returns its value. */
  const evaluated = async (expression: string, change: Partial<PluginConfig> = {}, options: WorldOptions = {}) => {
    await start(
      [
        pluginOf(
          `export async function processEvent(event, meta) { const { cache, storage, utils } = meta; event.properties = { value: await (async () => (${expression}))() }; return event }`,
          1,
          change,
        ),
      ],
      options,
    )
    const result = await transformed()
    expect(messages()).toEqual([])
    return (result!.properties as JsonObject).value
  }

  const values: readonly (readonly [expression: string, value: unknown])[] = [
    ["new URL('https://a.test:8080/b/c?d=e#f').hostname", 'a.test'],
    ["new URL('../x?y=1', 'https://a.test/b/c/').href", 'https://a.test/b/x?y=1'],
    [
      "(() => { const u = new URL('https://a.test/?a=1&b=2'); u.searchParams.delete('a'); u.pathname = '/p'; return String(u) })()",
      'https://a.test/p?b=2',
    ],
    ["(() => { try { new URL('nonsense') } catch (error) { return error.message } })()", 'Invalid URL: nonsense'],
    [
      "[...new URLSearchParams('a=1&b=%20x+y&a=%zz')]",
      [
        ['a', '1'],
        ['b', ' x y'],
        ['a', '%zz'],
      ],
    ],
    ["new URLSearchParams({ 'a b': 'ü&', c: \"(')\" }).toString()", 'a+b=%C3%BC%26&c=%28%27%29'],
    [
      "require('crypto').createHash('sha256').update('abc').digest('hex')",
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    ],
    [
      "require('crypto').createHash('md5').update('a').update('b', 'utf8').digest('base64')",
      createHash('md5').update('ab').digest('base64'),
    ],
    [
      "require('crypto').createHmac('sha256', 'key').update('data').digest('hex')",
      '5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0',
    ],
    ["require('crypto').randomBytes(8).length", 8],
    ["Buffer.from('héllo 🦆').toString('base64')", 'aMOpbGxvIPCfpoY='],
    ["Buffer.from('aMOpbGxvIPCfpoY=', 'base64').toString()", 'héllo 🦆'],
    ["Buffer.from('ff00', 'hex').toString('hex') + Buffer.byteLength('é')", 'ff002'],
    ["atob(btoa('text'))", 'text'],
    ["new TextDecoder().decode(new TextEncoder().encode('é'))", 'é'],
    ["require('url').parse('https://a.test/b?c=d').pathname", '/b'],
    ['typeof setTimeout + typeof setInterval + typeof process + typeof WebAssembly', 'undefinedundefinedundefinedundefined'],
    ["await storage.get('none', 'fallback')", 'fallback'],
    ["(await storage.set('a', { b: [1, null] }), await storage.get('a'))", { b: [1, null] }],
    ["(await storage.set('a', null), await storage.get('a', 'fallback'))", null],
    ["(await storage.set('a', 1), await storage.set('a', undefined), await storage.get('a', 'gone'))", 'gone'],
    ["(await storage.set('a', 1), await storage.del('a'), await storage.get('a', 'gone'))", 'gone'],
    ["(await utils.cursor.init('c', 5), await utils.cursor.increment('c', 2), await utils.cursor.increment('c'))", 8],
    ["(await Promise.all(Array.from({ length: 50 }, () => utils.cursor.increment('c'))), await storage.get('c'))", 50],
    ["(await cache.set('k', { a: 1 }), await cache.get('k'))", { a: 1 }],
    ["await cache.get('none', 'fallback')", 'fallback'],
    ["(await cache.incr('n'), await cache.incr('n'))", 2],
    [
      "(await cache.lpush('l', [1, 2]), await cache.lpush('l', 'x'), [await cache.lrange('l', 0, -1), await cache.llen('l'), await cache.lrem('l', 0, 2), await cache.lpop('l', 1), await cache.llen('l')])",
      [['x', 2, 1], 3, 1, ['x'], 1],
    ],
    ["(await cache.set('k', 1), [await cache.expire('k', 5), await cache.expire('none', 5)])", [true, false]],
    ["`${(await fetch('https://a.test/')).ok}${(await (await fetch('https://a.test/')).json()).b}`", 'true1'],
    ["await (await require('node-fetch')('https://a.test/')).json()", { b: 1 }],
    ["await require('generic-pool').createPool({ create: async () => 'one', destroy: async () => {} }).use(async (one) => one)", 'one'],
    [
      "(() => { const s = new (require('stream').PassThrough)(); let seen = ''; s.on('data', (piece) => { seen += piece }); s.write('a'); s.end('b'); return seen })()",
      'ab',
    ],
    ['await meta.geoip.locate("8.8.8.8")', { city: 'x' }],
  ]
  test.each(values)('%s', async (expression, value) => {
    const ports = { locate: async () => ({ city: 'x' }) }
    expect(await evaluated(expression, {}, { ports, respond: () => answerOf('{"b":1}') })).toEqual(value)
  })

  test('config and attachments', async () => {
    const attachments = { file: { content_type: 'text/plain', file_name: 'a.txt', contents: Buffer.from('inside') } }
    const expression =
      '[meta.config, meta.attachments.file.file_name, meta.attachments.file.content_type, meta.attachments.file.contents.toString()]'
    expect(await evaluated(expression, { config: { a: 'b' }, attachments })).toEqual([{ a: 'b' }, 'a.txt', 'text/plain', 'inside'])
  })

  test('a request and its answer pass unchanged, bytes too', async () => {
    const bytes = Buffer.from([0, 255, 128, 10])
    const expression =
      "Array.from(await (await fetch('https://a.test/x', { method: 'post', headers: { A: 'b' }, body: Buffer.from([1, 255]) })).buffer())"
    expect(await evaluated(expression, {}, { respond: () => ({ ...answerOf(''), body: bytes }) })).toEqual([...bytes])
    expect(world.fetched).toEqual([{ url: 'https://a.test/x', method: 'POST', headers: { a: 'b' }, body: Buffer.from([1, 255]) }])
  })

  test('events that a plugin captures belong to its project, and to it without a distinct id', async () => {
    await evaluated(
      "await posthog.capture('seen', { a: 1, timestamp: new Date(0) }), await posthog.capture('again', { distinct_id: 'u7', a: 2 })",
    )
    expect(world.captured).toEqual([
      { projectId: 1, event: 'seen', distinct_id: 'plugin 1', timestamp: '1970-01-01T00:00:00.000Z', properties: { a: 1 } },
      { projectId: 1, event: 'again', distinct_id: 'u7', timestamp: null, properties: { a: 2 } },
    ])
  })

  test('lines of the console have a level, and objects are JSON', async () => {
    await start([
      pluginOf(
        "export function processEvent(event) { console.log('a', { b: 1 }, 2); console.warn('w'); console.error(new Error('e').message); console.debug(); console.info([1]); return event }",
      ),
    ])
    await transformed()
    expect(world.logs.map(({ source, level, message }) => [source, level, message])).toEqual([
      ['CONSOLE', 'LOG', 'a {"b":1} 2'],
      ['CONSOLE', 'WARN', 'w'],
      ['CONSOLE', 'ERROR', 'e'],
      ['CONSOLE', 'DEBUG', ''],
      ['CONSOLE', 'INFO', '[1]'],
    ])
  })

  test('the API of this server is called by a path, for the own project', async () => {
    const asked: unknown[] = []
    const api: PluginPorts['api'] = async (projectId, { url, method, body }) => {
      asked.push([projectId, method, url, body && String(body)])
      return answerOf('{"ok":1}')
    }
    const expression = `[
      (await (await posthog.api.get('api/event')).json()).ok,
      (await posthog.api.post('/api/event', { data: { a: 1 } })).status,
      ...(await Promise.allSettled(['https://other.test/', '//other.test/', '/\\\\other.test'].map((path) => posthog.api.get(path)))).map(({ status }) => status),
    ]`
    expect(await evaluated(expression, {}, { ports: { api } })).toEqual([1, 200, 'rejected', 'rejected', 'rejected'])
    expect(asked).toEqual([
      [1, 'GET', '/api/event', null],
      [1, 'POST', '/api/event', '{"a":1}'],
    ])
  })

  test('tasks and jobs', async () => {
    const code = `
      export const runEveryHour = async (meta) => { await meta.jobs.send({ n: 1 }).runNow(); await meta.jobs.send({ n: 2 }).runIn(5, 'minutes'); await meta.jobs.send({}).runIn(1, 'hour'); await meta.jobs.send({}).runAt(new Date(0)) }
      export const jobs = { async send(payload, meta) { console.log('sent', payload.n, typeof meta.storage.get) } }`
    await start([pluginOf(code)])
    expect(await world.runtime.runTask(1, 'runEveryDay')).toMatchObject([{ status: 'skipped' }])
    expect(await world.runtime.runTask(1, 'runEveryHour')).toMatchObject([{ status: 'done' }])
    expect(world.jobs.map(({ payload, at, name }) => [name, payload, at])).toEqual([
      ['send', { n: 1 }, '2026-01-05T10:00:00.000Z'],
      ['send', { n: 2 }, '2026-01-05T10:05:00.000Z'],
      ['send', {}, '2026-01-05T11:00:00.000Z'],
      ['send', {}, '1970-01-01T00:00:00.000Z'],
    ])
    expect(await world.runtime.runJob({ projectId: 1, configId: 1, name: 'send', payload: { n: 3 } })).toMatchObject({ status: 'done' })
    expect(await world.runtime.runJob({ projectId: 1, configId: 1, name: 'none', payload: {} })).toMatchObject({ status: 'skipped' })
    expect(await world.runtime.runJob({ projectId: 2, configId: 1, name: 'send', payload: {} })).toMatchObject({ status: 'failed' })
    expect(messages()).toEqual(['LOG sent 3 function', 'ERROR The job "none" did not run: the plugin has no such job.'])
  })
})

describe('the memory of a plugin, all its allocations together', () => {
  const all = [
    ['bytes', 'new Uint8Array(1e6)', 66],
    ['texts', '"x".repeat(1e6) + n', 65],
    ['texts of two bytes a character', '"\u0416".repeat(5e5) + n', 65],
    ['numbers', 'new Float64Array(125000)', 66],
  ] as const
  test.each(all)('%s: 64 MiB and no more', async (_, made, megabytes) => {
    await start([
      pluginOf(
        `export function processEvent(event) {
          let n = 0
          const all = []
          try { for (; n < 200; n++) all.push(${made}) } catch { all.length = 0 }
          return { ...event, properties: { n } }
        }`,
        1,
      ),
    ])
    const { n } = (await transformed())!.properties as { n: number }
    expect(n).toBeGreaterThan(megabytes - 6)
    expect(n).toBeLessThanOrEqual(megabytes + 2)
  })

  test('values for a list of events have a limit together, whatever the heap of the thread has room for', async () => {
    const code = `export function processEvent(event) {
      return { ...event, properties: { text: event.properties.large ? 'x'.repeat(3_900_000) : 'small' } }
    }`
    await start([pluginOf(code, 1)])
    const lengths = async (count: number) => {
      const events = await world.runtime.transform(
        1,
        Array.from({ length: count }, () => eventOf({ large: true })),
      )
      return events.map((event) => String((event!.properties as JsonObject).text).length)
    }
    expect(await lengths(12)).toEqual(Array.from({ length: 12 }, () => 3_900_000))
    expect(messages()).toEqual([])
    const many = await lengths(50)
    expect(many.filter((length) => length === 3_900_000).length).toBeLessThan(25)
    expect(new Set(messages())).toEqual(
      new Set(['ERROR processEvent failed: returned values of more than 64 MB more than the list of events has']),
    )
  })

  test('attachments that have no room in it do not reach its thread', async () => {
    const attachments = (count: number, bytes: number) => {
      const file = { content_type: 'text/plain', file_name: 'a', contents: Buffer.alloc(bytes) }
      return Object.fromEntries(Array.from({ length: count }, (_, i) => [`file${i}`, file]))
    }
    const code =
      'export const processEvent = (event, { attachments }) => ({ ...event, properties: { n: Object.keys(attachments).length } })'
    await start([pluginOf(code, 1, { attachments: attachments(3, 1_000) })])
    expect((await transformed())!.properties).toMatchObject({ n: 3 })
    await world.runtime.use(1, [pluginOf(code, 1, { attachments: attachments(10, 4 * 1024 * 1024) })])
    expect((await transformed())!.properties).toMatchObject({ $plugins_deferred: [expect.any(String)] })
    expect(messages()).toEqual(['ERROR The plugin is disabled: Its code, settings and files need more than 64 MB'])
  })

  test('answers of the server that no call awaits have room for as much, and the plugin is to blame', async () => {
    const code = `export function processEvent(event) {
      if (event.properties.many) for (let n = 0; n < 20; n++) fetch('https://example.com/')
      return event
    }`
    const respond = () => answerOf('a'.repeat(4_000_000))
    await start([pluginOf(code, 1)], { respond })
    expect((await transformed({ many: true }))!.properties).toMatchObject({ $plugins_failed: [] })
    await expect.poll(() => world.fetched.length).toBe(20)
    await new Promise(setImmediate)
    expect((await transformed())!.properties).toMatchObject({ $plugins_succeeded: [] })
    expect(messages()).toEqual(['ERROR processEvent was stopped: it left answers of more than 64 MB that no call awaits'])
    expect((await transformed())!.properties).toMatchObject({ $plugins_failed: [] })
  })
})
