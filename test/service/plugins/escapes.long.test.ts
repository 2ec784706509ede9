import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { allowedAddresses } from '../../../src/service/network/allowed-addresses.ts'
import { createOutbound } from '../../../src/service/plugins/outbound.ts'
import type { JsonObject, PluginConfig, Reachable } from '../../../src/service/plugins/ports.ts'
import { createSandbox, type Sandbox } from '../../../src/service/plugins/sandbox/sandbox.ts'
import { createWorld, eventOf, pluginOf, type World, type WorldOptions } from './world.ts'

// What a hostile plugin tries. All plugins are in one thread: the neighbors must go on.

let sandbox: Sandbox
/** For plugins that wait without an end; all others may wait as long as a busy machine takes. */
let impatient: Sandbox
/** For values that are longer than allowed, which need memory to be made. */
let roomy: Sandbox
let world: World
beforeAll(() => {
  const limits = { memory: 16 * 1024 * 1024, runMs: 250 }
  sandbox = createSandbox({ threads: 1, limits })
  impatient = createSandbox({ threads: 1, limits: { ...limits, awaitMs: 1_500 } })
  roomy = createSandbox({ threads: 1, limits: { ...limits, memory: 64 * 1024 * 1024 } })
})
afterAll(async () => Promise.all([sandbox.close(), impatient.close(), roomy.close()]))
const sandboxFor = (log: RegExp) => {
  if (log.source.includes('did not end')) return impatient
  return log.source.includes('4194304') ? roomy : sandbox
}
afterEach(async () => world.runtime.close())

const neighbor =
  'let n = 0; exports.processEvent = (event, { global }) => ({ ...event, properties: { ...event.properties, neighbor: true } })'
const start = async (code: string, options: WorldOptions = {}, change: Partial<PluginConfig> = {}) => {
  world = createWorld({ sandbox, ...options })
  await world.runtime.use(1, [pluginOf(code, 1, change), pluginOf(neighbor, 2)])
  await world.runtime.use(2, [pluginOf(neighbor, 3, { projectId: 2 })])
  expect(await world.runtime.transform(2, [eventOf()])).toMatchObject([{ properties: { $plugins_succeeded: ['plugin 3 (3)'] } }])
}
const run = async (properties: JsonObject = {}) => (await world.runtime.transform(1, [eventOf(properties)]))[0] as JsonObject
const errors = () => world.logs.filter(({ source }) => source === 'SYSTEM').map(({ message }) => message)

type Attack = readonly [name: string, body: string, log: RegExp]

/** The body of an async processEvent. */
const attacks: readonly Attack[] = [
  // out of the context
  [
    'the constructor of this',
    "return this.constructor.constructor('return process')()",
    /TypeError|ReferenceError: 'process' is not defined/,
  ],
  ['the constructor of a function of the server', "return fetch.constructor('return process.env')()", /process/],
  ['the constructor of the console', "return console.log.constructor('return process')()", /ReferenceError: 'process' is not defined/],
  [
    'the constructor of an async function',
    "return await (async () => {}).constructor('return process.exit(1)')()",
    /ReferenceError: 'process' is not defined/,
  ],
  [
    'the constructor of an answer',
    "return (await meta.cache.get('a', {})).constructor.constructor('return process')()",
    /ReferenceError: 'process' is not defined/,
  ],
  [
    'the constructor of an error of the server',
    "try { await meta.cache.set('x'.repeat(500), 1) } catch (e) { return e.constructor.constructor('return process')() }",
    /ReferenceError: 'process' is not defined/,
  ],
  ['indirect eval', "return (0, eval)('process.mainModule')", /ReferenceError: 'process' is not defined/],
  ['import()', 'return await (new Function(\'return import("fs")\'))()', /failed: /],
  ['import() of a file', 'return await (new Function(\'return import("./index.js")\'))()', /failed: /],
  ['require of a file system', "return require('fs')", /Cannot import "fs"/],
  ['require of processes', "return require('node:child_process')", /Cannot import "node:child_process"/],
  ['require with a path', "return require('../../../../etc/passwd')", /Cannot find "\.\.\/\.\.\/\.\.\/\.\.\/etc\/passwd"/],
  ['require of a prototype', "return require('__proto__')", /Cannot import "__proto__"/],
  ['a timer', 'await new Promise((resolve) => setTimeout(resolve, 1))', /ReferenceError: '?setTimeout'? is not defined/],
  ['a timer that repeats', 'setInterval(() => {}, 1)', /ReferenceError: '?setInterval'? is not defined/],
  ['WebAssembly', 'return new WebAssembly.Memory({ initial: 60000 })', /ReferenceError: '?WebAssembly'? is not defined/],
  ['a thread', "return new Worker('x')", /ReferenceError: '?Worker'? is not defined/],
  // time
  ['an endless loop', 'while (true) {}', /was stopped: it ran for more than 0.25 s/],
  ['an endless loop that catches', 'while (true) try { while (true) {} } catch {}', /was stopped: it ran for more than 0.25 s/],
  [
    'endless microtasks',
    'const again = () => Promise.resolve().then(again); await again()',
    /was stopped: it (?:ran for more than 0.25 s|needed more than 16 MB)/,
  ],
  ['endless awaiting of nothing', 'for (;;) await null', /was stopped: it ran for more than 0.25 s/],
  ['microtasks that nobody awaits', '(async () => { for (;;) await null })(); return event', /was stopped: it ran for more than 0.25 s/],
  ['an endless getter of the result', 'return { get event() { for (;;); } }', /was stopped: it ran for more than 0.25 s/],
  ['an endless toJSON', 'return { toJSON() { for (;;); } }', /was stopped: it ran for more than 0.25 s/],
  ['an endless then', 'return { then() { for (;;); } }', /was stopped: it ran for more than 0.25 s/],
  ['an endless message of an error', 'throw { get message() { for (;;); } }', /was stopped: it ran for more than 0.25 s/],
  ['an endless comparison', '[3, 1, 2].sort(() => { for (;;); })', /was stopped: it ran for more than 0.25 s/],
  [
    'an endless iterator',
    'new Map({ [Symbol.iterator]: () => ({ next: () => ({ value: [1, 1] }) }) })',
    /was stopped: it ran for more than 0.25 s/,
  ],
  ['a regular expression of exponential time', "return /^(a+)+$/.test('a'.repeat(60) + 'b')", /was stopped: it ran for more than 0.25 s/],
  ['alternatives of exponential time', "return /(a|a)*b/.test('a'.repeat(60))", /was stopped: it ran for more than 0.25 s/],
  ['words of exponential time', "return /^(\\w+\\s?)*$/.test('word'.repeat(20) + '!')", /was stopped: it ran for more than 0.25 s/],
  ['a replacement of exponential time', "return ('a'.repeat(60) + 'b').replace(/(a*)*c/, '')", /was stopped: it ran for more than 0.25 s/],
  ['a promise that never settles', 'await new Promise(() => {})', /was stopped: it did not end within 1.5 s/],
  ['endless calls of the server', "for (;;) await meta.cache.incr('n')", /was stopped: it did not end within 1.5 s/],
  // memory
  [
    'a list that grows',
    'const all = []; for (;;) all.push({ n: all.length })',
    /was stopped: it (?:needed more than 16 MB|ran for more than 0.25 s)|out of memory/,
  ],
  ['a text that doubles', "let text = 'x'; for (;;) text += text", /needed more than 16 MB|string too long/],
  ['a long text at once', "return 'x'.repeat(2 ** 29)", /needed more than 16 MB/],
  ['a large array of bytes', 'return new Uint8Array(2 ** 30)', /needed more than 16 MB/],
  ['a large Buffer', 'return Buffer.alloc(2 ** 30)', /needed more than 16 MB/],
  [
    'memory in a global',
    "for (let i = 0; ; i++) globalThis['k' + i] = new Array(1000).fill(i)",
    /was stopped: it (?:needed more than 16 MB|ran for more than 0.25 s)/,
  ],
  [
    'memory after it ran out',
    "const all = []; for (;;) try { all.push('x'.repeat(100000)) } catch {}",
    /was stopped: it (?:ran for more than 0.25 s|needed more than 16 MB)/,
  ],
  // depth
  ['deep recursion', 'const down = () => down() + 1; return down()', /stack overflow|Maximum call stack/],
  [
    'deep data',
    'let deep = {}; for (let i = 0; i < 20000; i++) deep = { deep }; event.properties = deep; return event',
    /stack overflow|too deeply|out of memory|Maximum call stack/,
  ],
  ['deep JSON', "return JSON.parse('['.repeat(200000))", /was stopped: it nested its code or data too deeply|stack overflow|SyntaxError/],
  ['deep code', "return eval('['.repeat(500000))", /was stopped: it nested its code or data too deeply|stack overflow|SyntaxError/],
  ['a deep regular expression', "return new RegExp('('.repeat(100000))", /failed: /],
  // size
  ['a giant result', "event.properties.big = 'x'.repeat(4200000); return event", /returned a value of more than 4194304 characters/],
  ['a giant name', "event.event = { toJSON: () => 'x'.repeat(4200000) }; return event", /returned a value of more than 4194304 characters/],
  ['a giant error', "throw new Error('x'.repeat(4200000))", /failed: Error: x{100}/],
  [
    'an error without memory for its message',
    "const all = []; try { for (;;) all.push('x'.repeat(100000)) } catch {} throw new Error('z'.repeat(99000) + all.length)",
    /was stopped: it needed more than 16 MB/,
  ],
  [
    'a result without memory for its text',
    "const all = []; try { for (;;) all.push('x'.repeat(100000)) } catch {} event.properties.all = all; return event",
    /was stopped: it needed more than 16 MB/,
  ],
  ['a giant value in the storage', "await meta.storage.set('k', 'x'.repeat(4200000))", /An argument has more than 4194304 characters/],
  ['a giant key in the storage', "await meta.storage.set('x'.repeat(401), 1)", /The key has more than 400 characters/],
]

/** On a busy machine, the limit of the thread can come first for what the engine does without asking whether to go on. */
const orThread = (log: RegExp) => new RegExp(`${log.source}|was stopped: it kept its thread busy for more than 10 s`)

const processEvent = (body: string) => `exports.processEvent = async function (event, meta) { ${body} }`

test.each(attacks)('%s ends in the log, and the event and the neighbors go on', async (_, body, log) => {
  await start(processEvent(body), { sandbox: sandboxFor(log) })
  const event = await run({ a: 1 })
  expect(event).toEqual(
    eventOf({ a: 1, neighbor: true, $plugins_succeeded: ['plugin 2 (2)'], $plugins_failed: ['plugin 1 (1)'], $plugins_deferred: [] }),
  )
  expect(errors()).toEqual([expect.stringMatching(orThread(log))])
  expect(errors()[0]).toMatch(/^processEvent [^\n]{1,1200}$/)
  expect(await world.runtime.transform(2, [eventOf()])).toMatchObject([{ properties: { $plugins_succeeded: ['plugin 3 (3)'] } }])
})

test.each([
  ['at the top', 'for (;;) {}', /ran for more than 0.25 s/],
  ['in setupPlugin', 'exports.setupPlugin = () => { for (;;) {} }', /setupPlugin ran for more than 0.25 s/],
  ['in setupPlugin without an end', 'exports.setupPlugin = () => new Promise(() => {})', /setupPlugin did not end within 1.5 s/],
])('a plugin that hangs %s is disabled', async (_, code, reason) => {
  await start(`${code}\nexports.processEvent = () => null`, { sandbox: sandboxFor(reason) })
  expect(await run()).toMatchObject({ properties: { neighbor: true, $plugins_deferred: ['plugin 1 (1)'] } })
  expect(world.disabled).toEqual([expect.stringMatching(reason)])
})

test('prototypes that a plugin changes are its own', async () => {
  const code = `
    Object.prototype.polluted = 1
    Array.prototype.push = Array.prototype.map = () => { throw new Error('taken') }
    Function.prototype.call = Function.prototype.apply = () => 'taken'
    JSON.stringify = JSON.parse = () => '{"team_id":9}'
    Promise.prototype.then = (yes) => yes('taken')
    String.prototype.replace = () => 'taken'
    globalThis.posthog = globalThis.fetch = globalThis.console = null
    exports.processEvent = (event) => { event.properties = Object.create(null); event.properties['__proto__'] = { polluted: 2 }; event.properties.constructor = { prototype: { polluted: 3 } }; return event }`
  await start(code)
  const event = await run({ a: 1 })
  expect(event.properties).toMatchObject({ neighbor: true, $plugins_succeeded: ['plugin 1 (1)', 'plugin 2 (2)'] })
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  expect(Object.getPrototypeOf(event.properties)).toBe(Object.prototype)
  expect([1].map((n) => n + 1)).toEqual([2])
})

test('a hang costs a breaker more than an error: the third one switches the plugin off', async () => {
  await start(processEvent('for (;;) {}'))
  const events = await world.runtime.transform(
    1,
    Array.from({ length: 10 }, () => eventOf()),
  )
  const count = (mark: string) =>
    events.filter((event) => ((event!.properties as JsonObject)[mark] as string[]).includes('plugin 1 (1)')).length
  expect([count('$plugins_failed'), count('$plugins_deferred'), count('$plugins_succeeded')]).toEqual([3, 7, 0])
  expect(errors().at(-1)).toContain('switched off for 10 minutes')
  expect(events.every((event) => (event!.properties as JsonObject).neighbor === true)).toBe(true)
})

test('a thread that a plugin keeps busy is ended; its neighbors are loaded again', async () => {
  const own = createSandbox({ threads: 1, limits: { runMs: 600_000, threadMs: 3_000 } })
  try {
    world = createWorld({ sandbox: own })
    const events = Array.from({ length: 3 }, () => eventOf())
    await world.runtime.use(1, [pluginOf(processEvent('for (;;) {}'), 1), pluginOf(neighbor, 2)])
    await world.runtime.use(2, [pluginOf(neighbor, 3, { projectId: 2 })])
    const [hung, others] = await Promise.all([world.runtime.transform(1, [eventOf()]), world.runtime.transform(2, events)])
    expect(others).toMatchObject(events.map(() => ({ properties: { $plugins_succeeded: ['plugin 3 (3)'] } })))
    expect(hung).toMatchObject([{ properties: { $plugins_failed: ['plugin 1 (1)'], $plugins_succeeded: ['plugin 2 (2)'] } }])
    expect(errors()).toEqual(['processEvent was stopped: it kept its thread busy for more than 3 s'])
  } finally {
    await world.runtime.close()
    await own.close()
  }
})

test('a flood of lines is cut', async () => {
  await start(processEvent("for (let i = 0; i < 300; i++) console.log('x'.repeat(9000)); return event"))
  const result = await run()
  expect(result).toMatchObject({ properties: { $plugins_succeeded: ['plugin 1 (1)', 'plugin 2 (2)'] } })

  expect(world.logs).toHaveLength(100)
  expect(world.logs.at(-1)).toMatchObject({ level: 'WARN', message: 'Further lines of this call are dropped: at most 100 are logged' })
  expect(world.logs.every(({ message }) => message.length <= 8001)).toBe(true)
})

test('calls that a plugin does not await are limited', async () => {
  let most = 0
  let open = 0
  const locate = async () => {
    most = Math.max(most, ++open)
    await new Promise(setImmediate)
    open--
    return null
  }
  const code = processEvent(
    "const all = await Promise.allSettled(Array.from({ length: 150 }, () => meta.geoip.locate('1.1.1.1'))); event.properties.ok = all.filter(({ status }) => status === 'fulfilled').length; event.properties.reason = String(all.at(-1).reason); return event",
  )
  await start(code, { ports: { locate } })
  expect(await run()).toMatchObject({ properties: { ok: 100, reason: 'Error: More than 100 calls are waiting for an answer' } })
  expect(most).toBeLessThanOrEqual(100)
})

describe('other projects', () => {
  test('storage and cache of another project, and of another config, are out of reach', async () => {
    const keep = processEvent("await meta.storage.set('k', 'secret'); await meta.cache.set('k', 'secret'); return event")
    const keys = ['k', '1/1', '../1/1', '1/1/k', '1/1\\u0000k', '__proto__', '']
    const look = processEvent(
      `event.properties = { found: [] }; for (const key of [${keys.map((key) => `'${key}'`)}]) event.properties.found.push(await meta.storage.get(key, null), await meta.cache.get(key, null)); return event`,
    )
    world = createWorld({ sandbox })
    await world.runtime.use(1, [pluginOf(keep, 1), pluginOf(neighbor, 2)])
    await world.runtime.use(2, [pluginOf(look, 1, { projectId: 2, id: 9 })])
    await run()
    const [event] = await world.runtime.transform(2, [eventOf()])
    expect((event!.properties as JsonObject).found).toEqual(keys.flatMap(() => [null, null]))
    expect(await world.ports.storage.get('1/1', 'k')).toBe('"secret"')
  })

  test('an event is captured for the own project, whatever it says', async () => {
    await start(
      processEvent("await posthog.capture('x', { distinct_id: 'u', team_id: 2, projectId: 2, api_key: 'phc_other' }); return event"),
    )
    await run()
    expect(world.captured).toMatchObject([{ projectId: 1, event: 'x' }])
  })
})

describe('private addresses', () => {
  let server: Server
  let port: number
  let hits: string[] = []
  beforeAll(async () => {
    server = createServer((request, response) => {
      hits.push(request.url!)
      const to = new URL(request.url!, 'http://x').searchParams.get('to')
      if (to) response.writeHead(Number(new URL(request.url!, 'http://x').searchParams.get('status') ?? 302), { location: to }).end()
      else if (request.url === '/large') response.end('x'.repeat(5 * 1024 * 1024))
      else response.end(JSON.stringify({ method: request.method, headers: request.headers }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  /** `public.test` and `other.test` count as public, though they are served here; all other names and addresses are checked. */
  const strict = allowedAddresses(() => false)
  const reachable: Reachable = {
    mustBeAllowed: (host) => strict.mustBeAllowed(host),
    lookup: (host, options, callback) => {
      if (host !== 'public.test' && host !== 'other.test') return strict.lookup(host, options, callback)
      if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
      else callback(null, '127.0.0.1', 4)
    },
  }
  const fetching = async (url: string, init = '{}') => {
    hits = []
    await start(processEvent(`event.properties = await (await fetch(${JSON.stringify(url)}, ${init})).json(); return event`), {
      ports: { outbound: createOutbound(reachable) },
    })
    return run({ a: 1 })
  }

  test.each([
    ['127.0.0.1', /127.0.0.1 is in a private network/],
    ['localhost', /localhost has the address .* is in a private network/],
    ['2130706433', /127.0.0.1 is in a private network/],
    ['0x7f.1', /127.0.0.1 is in a private network/],
    ['017700000001', /127.0.0.1 is in a private network/],
    ['0.0.0.0', /0.0.0.0 is in a private network/],
    ['[::1]', /is in a private network/],
    ['[::]', /is in a private network/],
    ['[::ffff:127.0.0.1]', /is in a private network/],
    ['[64:ff9b::7f00:1]', /is in a private network/],
    ['169.254.169.254', /169.254.169.254 is in a private network/],
    ['[fd00:ec2::254]', /is in a private network/],
    ['10.0.0.1', /10.0.0.1 is in a private network/],
    ['100.64.0.1', /100.64.0.1 is in a private network/],
    ['user:pass@127.0.0.1', /127.0.0.1 is in a private network/],
  ])('%s directly', async (host, log) => {
    const event = await fetching(`http://${host}:${port}/secret`)
    expect(event.properties).toMatchObject({ a: 1, $plugins_failed: ['plugin 1 (1)'] })
    expect(errors()).toEqual([expect.stringMatching(log)])
    expect(hits).toEqual([])
  })

  test.each([301, 302, 303, 307, 308])('through a redirect with status %s', async (status) => {
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]']) {
      const to = encodeURIComponent(`http://${host}:${port}/secret`)
      const event = await fetching(`http://public.test:${port}/?status=${status}&to=${to}`)
      expect(event.properties).toMatchObject({ a: 1, $plugins_failed: ['plugin 1 (1)'] })
      expect(errors()).toEqual([expect.stringMatching(/is in a private network/)])
      expect(hits).toHaveLength(1)
      await world.runtime.close()
    }
  })

  test('through a redirect of a redirect, and without an end', async () => {
    const last = encodeURIComponent(`http://localhost:${port}/secret`)
    const next = encodeURIComponent(`http://other.test:${port}/?to=${last}`)
    await fetching(`http://public.test:${port}/?to=${next}`)
    expect([errors(), hits.length]).toEqual([[expect.stringMatching(/is in a private network/)], 2])
    await world.runtime.close()
    hits = []
    server.removeAllListeners('request')
    server.on('request', (request, response) => {
      hits.push(request.url!)
      if (request.url === '/again') response.writeHead(302, { location: '/again' }).end()
      else if (request.url === '/large') response.end('x'.repeat(5 * 1024 * 1024))
      else if (request.url?.startsWith('/to')) response.writeHead(302, { location: `http://other.test:${port}/end` }).end()
      else response.end(JSON.stringify({ method: request.method, headers: request.headers }))
    })
    await fetching(`http://public.test:${port}/again`)
    expect([errors(), hits.length]).toEqual([[expect.stringMatching(/redirects more than 5 times/)], 6])
  })

  test.each([
    ['file:///etc/passwd', /Only http and https addresses can be fetched, not file:/],
    ['data:text/plain,x', /Only http and https addresses can be fetched, not data:/],
    ['nonsense', /"nonsense" is not a URL/],
    ['http://public.test:PORT/large', /The response has more than 4194304 bytes/],
  ])('%s is refused', async (url, log) => {
    await fetching(url.replace('PORT', String(port)))
    expect(errors()).toEqual([expect.stringMatching(log)])
  })

  test('a redirect to another origin loses credentials, and headers of the connection are not the plugin’s', async () => {
    const init =
      "{ method: 'POST', body: 'x', headers: { Authorization: 'secret', Cookie: 'c', Host: 'evil', Connection: 'upgrade', 'X-Kept': 'yes' } }"
    const event = await fetching(`http://public.test:${port}/to`, init)
    const { method, headers } = event.properties as { method: string; headers: Record<string, string> }
    expect([method, headers.authorization, headers.cookie, headers['x-kept'], headers.host]).toEqual([
      'GET',
      undefined,
      undefined,
      'yes',
      `other.test:${port}`,
    ])
  })

  test('the operator can allow private addresses, but never those of one link', async () => {
    const open = allowedAddresses(() => true)
    world = createWorld({ sandbox, ports: { outbound: createOutbound(open) } })
    await world.runtime.use(1, [pluginOf(processEvent('event.properties.status = (await fetch(event.event)).status; return event'))])
    const [local, link] = await world.runtime.transform(1, [
      eventOf({}, { event: `http://127.0.0.1:${port}/` }),
      eventOf({}, { event: 'http://169.254.169.254/' }),
    ])
    expect(local).toMatchObject({ properties: { status: 200 } })
    expect(link).toMatchObject({ properties: { $plugins_failed: ['plugin 1 (1)'] } })
  })
})
