// The program that runs first in the context of each plugin: globals, modules, `meta`, and the calls of the server. It is code for QuickJS, as a text.
// The plugin shares the context with it and can break what it finds there; it then breaks only itself, because the server checks what it gets.

export const prelude = String.raw`(function (hostCall, hostSync, hostDone, hostLog, settingsJson) {
'use strict'
const { parse, stringify } = JSON
const { now } = Date
const join = Function.prototype.call.bind(Array.prototype.join)
const settings = parse(settingsJson)
const sync = (name, ...args) => parse(hostSync(name, stringify(args)))
const waiting = new Map()
let lastCall = 0
const call = (name, ...args) => new Promise((resolve, reject) => {
  const id = ++lastCall
  waiting.set(id, [resolve, reject])
  const refusal = hostCall(id, name, stringify(args))
  if (refusal !== '') { waiting.delete(id); reject(new Error(refusal)) }
})
const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })

class RetryError extends Error {
  constructor(message) { super(message); this.name = 'RetryError' }
}

// ---- bytes
const utf8Bytes = (text) => {
  const out = []
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xe000) {
      const low = text.charCodeAt(i + 1)
      if (code < 0xdc00 && low >= 0xdc00 && low < 0xe000) { code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00); i++ }
      else code = 0xfffd
    }
    if (code < 0x80) out.push(code)
    else if (code < 0x800) out.push(0xc0 | (code >> 6), 0x80 | (code & 63))
    else if (code < 0x10000) out.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    else out.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
  }
  return out
}
const latin1 = (bytes) => {
  let text = ''
  for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode.apply(null, bytes.subarray(i, i + 4096))
  return text
}
const bytesOf = (text, encoding) => {
  switch (String(encoding ?? 'utf8').toLowerCase()) {
    case 'utf8': case 'utf-8': return utf8Bytes(text)
    case 'latin1': case 'binary': case 'ascii': return Array.from(text, (c) => c.charCodeAt(0) & 255)
    case 'hex': return (text.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => parseInt(pair, 16))
    case 'base64': case 'base64url': { const raw = sync('base64-decode', text); return Array.from(raw, (c) => c.charCodeAt(0)) }
    default: throw new TypeError('Unknown encoding: ' + encoding)
  }
}
const textOf = (bytes, encoding) => {
  switch (String(encoding ?? 'utf8').toLowerCase()) {
    case 'utf8': case 'utf-8': return sync('utf8-decode', latin1(bytes))
    case 'latin1': case 'binary': case 'ascii': return latin1(bytes)
    case 'hex': return Array.from(bytes, (b) => (b < 16 ? '0' : '') + b.toString(16)).join('')
    case 'base64': return sync('base64-encode', latin1(bytes))
    case 'base64url': return sync('base64-encode', latin1(bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
    default: throw new TypeError('Unknown encoding: ' + encoding)
  }
}
class Buffer extends Uint8Array {
  static from(value, encoding, length) {
    if (typeof value === 'string') return new Buffer(bytesOf(value, encoding))
    if (value instanceof ArrayBuffer) return new Buffer(value, encoding, length)
    return new Buffer(value)
  }
  static alloc(size, fill) { const made = new Buffer(size); return fill === undefined ? made : made.fill(typeof fill === 'string' ? fill.charCodeAt(0) : fill) }
  static isBuffer(value) { return value instanceof Buffer }
  static byteLength(value, encoding) { return typeof value === 'string' ? bytesOf(value, encoding).length : value.byteLength }
  static concat(list) {
    const made = new Buffer(list.reduce((sum, one) => sum + one.length, 0))
    let at = 0
    for (const one of list) { made.set(one, at); at += one.length }
    return made
  }
  toString(encoding, start, end) { return textOf(start === undefined && end === undefined ? this : this.subarray(start, end), encoding) }
  toJSON() { return { type: 'Buffer', data: Array.from(this) } }
  equals(other) { return this.length === other.length && this.every((b, i) => b === other[i]) }
}
class TextEncoder { get encoding() { return 'utf-8' } encode(text = '') { return new Uint8Array(utf8Bytes(String(text))) } }
class TextDecoder {
  get encoding() { return 'utf-8' }
  decode(bytes) { return bytes === undefined ? '' : textOf(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)) }
}

// ---- URLs
const formDecode = (text) => {
  const plain = text.replace(/\+/g, ' ')
  return plain.includes('%') ? plain.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try { return decodeURIComponent(run) } catch { return textOf(new Uint8Array(bytesOf(run.replace(/%/g, ''), 'hex'))) }
  }) : plain
}
const formEncode = (text) => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase())
class URLSearchParams {
  #pairs = []
  #changed = null
  constructor(from = '', changed = null) {
    if (typeof from === 'object' && from !== null) {
      const entries = typeof from[Symbol.iterator] === 'function' ? from : Object.entries(from)
      for (const [key, value] of entries) this.#pairs.push([String(key), String(value)])
    } else this.#read(String(from))
    this.#changed = changed
  }
  #read(text) {
    for (const part of text.replace(/^\?/, '').split('&')) {
      if (part === '') continue
      const at = part.indexOf('=')
      this.#pairs.push(at < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))])
    }
  }
  #touch() { this.#changed?.(this.toString()) }
  append(key, value) { this.#pairs.push([String(key), String(value)]); this.#touch() }
  delete(key) { this.#pairs = this.#pairs.filter(([name]) => name !== String(key)); this.#touch() }
  get(key) { return this.#pairs.find(([name]) => name === String(key))?.[1] ?? null }
  getAll(key) { return this.#pairs.filter(([name]) => name === String(key)).map(([, value]) => value) }
  has(key) { return this.#pairs.some(([name]) => name === String(key)) }
  set(key, value) {
    const found = this.#pairs.find(([name]) => name === String(key))
    if (!found) this.#pairs.push([String(key), String(value)])
    else { found[1] = String(value); this.#pairs = this.#pairs.filter((pair) => pair === found || pair[0] !== String(key)) }
    this.#touch()
  }
  sort() { this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#touch() }
  forEach(work, self) { for (const [key, value] of this) work.call(self, value, key, this) }
  keys() { return this.#pairs.map(([key]) => key)[Symbol.iterator]() }
  values() { return this.#pairs.map(([, value]) => value)[Symbol.iterator]() }
  entries() { return this.#pairs.map((pair) => [...pair])[Symbol.iterator]() }
  [Symbol.iterator]() { return this.entries() }
  get size() { return this.#pairs.length }
  toString() { return this.#pairs.map(([key, value]) => formEncode(key) + '=' + formEncode(value)).join('&') }
}
const urlParts = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
class URL {
  #parts
  #params = null
  constructor(input, base) {
    this.#parts = sync('url', String(input), base === undefined ? null : String(base))
    if (this.#parts === null) throw new TypeError('Invalid URL: ' + String(input).slice(0, 200))
  }
  static canParse(input, base) { return sync('url', String(input), base === undefined ? null : String(base)) !== null }
  get href() { return this.#parts.href }
  set href(value) { const parts = sync('url', String(value), null); if (parts === null) throw new TypeError('Invalid URL'); this.#parts = parts; this.#params = null }
  get origin() { return this.#parts.origin }
  get searchParams() { return this.#params ??= new URLSearchParams(this.#parts.search, (text) => { this.#parts = sync('url-set', this.href, 'search', text) }) }
  toString() { return this.href }
  toJSON() { return this.href }
  static #change(url, name, value) { url.#parts = sync('url-set', url.href, name, String(value)); if (name === 'search') url.#params = null }
  static #part(url, name) { return url.#parts[name] }
  static { for (const name of urlParts) Object.defineProperty(URL.prototype, name, { get() { return URL.#part(this, name) }, set(value) { URL.#change(this, name, value) }, configurable: true, enumerable: true }) }
}

// ---- fetch
class Headers {
  #values = new Map()
  constructor(from = {}) {
    const entries = from instanceof Headers || typeof from?.[Symbol.iterator] === 'function' ? from : Object.entries(from ?? {})
    for (const [name, value] of entries) this.append(name, Array.isArray(value) ? value.join(', ') : value)
  }
  append(name, value) { const key = String(name).toLowerCase(); this.#values.set(key, this.#values.has(key) ? this.#values.get(key) + ', ' + value : String(value)) }
  set(name, value) { this.#values.set(String(name).toLowerCase(), String(value)) }
  get(name) { return this.#values.get(String(name).toLowerCase()) ?? null }
  has(name) { return this.#values.has(String(name).toLowerCase()) }
  delete(name) { this.#values.delete(String(name).toLowerCase()) }
  forEach(work) { for (const [name, value] of this.#values) work(value, name, this) }
  keys() { return this.#values.keys() }
  values() { return this.#values.values() }
  entries() { return this.#values.entries() }
  [Symbol.iterator]() { return this.#values.entries() }
  raw() { return Object.fromEntries([...this.#values].map(([name, value]) => [name, [value]])) }
}
class Response {
  #answer
  constructor(answer) { this.#answer = answer; this.headers = new Headers(answer.headers); this.bodyUsed = false }
  get status() { return this.#answer.status }
  get statusText() { return this.#answer.statusText }
  get url() { return this.#answer.url }
  get ok() { return this.status >= 200 && this.status < 300 }
  clone() { return new Response(this.#answer) }
  async buffer() { this.bodyUsed = true; const { text, base64 } = this.#answer; return base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64') }
  async arrayBuffer() { return (await this.buffer()).buffer }
  async text() { this.bodyUsed = true; const { text, base64 } = this.#answer; return base64 === undefined ? text : (await this.buffer()).toString() }
  async json() { return parse(await this.text()) }
}
const requestOf = (resource, options = {}) => {
  const headers = new Headers(options.headers)
  let body = options.body ?? null
  if (body instanceof URLSearchParams) {
    if (!headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
    body = String(body)
  }
  const sent = body === null ? null : body instanceof ArrayBuffer || ArrayBuffer.isView(body)
    ? { base64: textOf(body instanceof ArrayBuffer ? new Uint8Array(body) : new Uint8Array(body.buffer, body.byteOffset, body.byteLength), 'base64') }
    : { text: String(body) }
  return { url: String(resource?.url ?? resource), method: String(options.method ?? 'GET').toUpperCase(), headers: Object.fromEntries(headers), body: sent }
}
const fetch = async (resource, options) => new Response(await call('fetch', requestOf(resource, options)))
const apiCall = (method) => async (path, options = {}) => {
  const headers = new Headers(options.headers)
  if (options.data !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
  const body = options.data === undefined ? options.body : stringify(options.data)
  return new Response(await call('api', { ...requestOf(path, { ...options, method, headers, body }), key: options.personalApiKey ?? null }))
}

// ---- console
const shown = (value) => {
  if (typeof value === 'string') return value
  if (value instanceof Error) return String(value.stack ? value + '\n' + value.stack : value)
  try { return stringify(value) ?? String(value) } catch { return String(value) }
}
const writer = (level) => (...args) => { hostLog(level, args.map(shown).join(' ')) }
const console = { log: writer('LOG'), error: writer('ERROR'), debug: writer('DEBUG'), info: writer('INFO'), warn: writer('WARN') }

// ---- modules
class Emitter {
  #listeners = new Map()
  on(name, work) { this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), work]); return this }
  once(name, work) { const one = (...args) => { this.off(name, one); work(...args) }; return this.on(name, one) }
  off(name, work) { this.#listeners.set(name, (this.#listeners.get(name) ?? []).filter((other) => other !== work)); return this }
  emit(name, ...args) { const found = this.#listeners.get(name) ?? []; for (const work of found) work.apply(this, args); return found.length > 0 }
}
class PassThrough extends Emitter {
  #held = []
  #ended = false
  on(name, work) {
    super.on(name, work)
    if (name === 'data') for (const piece of this.#held.splice(0)) this.emit('data', piece)
    if (name === 'end' && this.#ended) this.emit('end')
    return this
  }
  write(piece) { if (!this.emit('data', piece)) this.#held.push(piece); return true }
  end(piece) { if (piece !== undefined) this.write(piece); this.#ended = true; this.emit('finish'); this.emit('end'); return this }
  pipe(target) { this.on('data', (piece) => target.write(piece)); this.on('end', () => target.end()); return target }
}
const createPool = (factory, options = {}) => {
  const most = options.max ?? 1
  const idle = []
  const queue = []
  let made = 0
  const pool = {
    async acquire() {
      if (idle.length > 0) return idle.pop()
      if (made < most) { made++; return factory.create() }
      return new Promise((resolve) => { queue.push(resolve) })
    },
    async release(one) { const next = queue.shift(); if (next) next(one); else idle.push(one) },
    async destroy(one) { made--; await factory.destroy?.(one) },
    async use(work) { const one = await pool.acquire(); try { return await work(one) } finally { await pool.release(one) } },
    async drain() {},
    async clear() { for (const one of idle.splice(0)) await pool.destroy(one) },
  }
  return pool
}
const encoded = (bytes, encoding) => (encoding === undefined ? bytes : bytes.toString(encoding))
const digesting = (name, ...given) => (algorithm, key) => {
  const pieces = []
  const base64 = (value, encoding) => (typeof value === 'string' ? Buffer.from(value, encoding) : Buffer.from(value)).toString('base64')
  const self = {
    update(value, encoding) { pieces.push(base64(value, encoding)); return self },
    digest(encoding) { return encoded(Buffer.from(sync(name, String(algorithm), pieces, key === undefined ? null : base64(key)), 'base64'), encoding) },
  }
  return self
}
const crypto = {
  createHash: digesting('hash'),
  createHmac: digesting('hmac'),
  randomBytes: (size) => Buffer.from(sync('random', Number(size)), 'base64'),
  randomUUID: () => sync('uuid'),
}
const legacyParse = (text, withQuery) => {
  const parts = sync('url', String(text), null)
  if (parts === null) return { href: String(text), protocol: null, host: null, hostname: null, port: null, pathname: String(text).split('?')[0], search: null, query: withQuery ? {} : null, hash: null }
  const query = parts.search.replace(/^\?/, '')
  return { ...parts, path: parts.pathname + parts.search, query: withQuery ? Object.fromEntries(new URLSearchParams(query)) : query }
}
const modules = {
  crypto,
  url: { URL, URLSearchParams, parse: legacyParse, format: String },
  stream: { PassThrough },
  buffer: { Buffer },
  'generic-pool': { createPool },
  'node-fetch': Object.assign((...args) => fetch(...args), { default: (...args) => fetch(...args), Headers, Response, __esModule: true }),
  '@posthog/plugin-scaffold': { RetryError, __esModule: true },
}
const loaded = new Map()
const folderOf = (name) => name.split('/').slice(0, -1)
const fileFor = (from, wanted) => {
  const path = folderOf(from)
  for (const part of wanted.split('/')) if (part === '..') path.pop(); else if (part !== '.' && part !== '') path.push(part)
  const base = path.join('/')
  return [base, base + '.ts', base + '.js', base + '.json', (base && base + '/') + 'index.ts', (base && base + '/') + 'index.js'].find((name) => Object.hasOwn(settings.files, name))
}
const requireFrom = (from) => (wanted) => {
  const name = String(wanted)
  if (name.startsWith('.')) {
    const file = fileFor(from, name)
    if (file === undefined) throw new Error('Cannot find "' + name + '", imported by ' + from)
    return runFile(file)
  }
  const known = name.replace(/^node:/, '')
  if (!Object.hasOwn(modules, known)) throw new Error('Cannot import "' + name + '": plugins can import ' + Object.keys(modules).join(', ') + ', and their own files')
  return modules[known]
}
const runFile = (name, tail = '') => {
  if (loaded.has(name)) return loaded.get(name).module.exports
  const entry = { module: { exports: {} }, found: {} }
  loaded.set(name, entry)
  if (name.endsWith('.json')) return (entry.module.exports = parse(settings.files[name]))
  const compiled = new Function('exports', 'module', 'require', '__found', settings.files[name] + tail)
  compiled.call(undefined, entry.module.exports, entry.module, requireFrom(name), entry.found)
  return entry.module.exports
}

// ---- the plugin
const capture = (event, properties = {}) => {
  const { timestamp, distinct_id, ...rest } = properties ?? {}
  return call('capture', { event: String(event), distinct_id: distinct_id === undefined ? null : String(distinct_id), timestamp: timestamp === undefined ? null : timestamp instanceof Date ? timestamp.toISOString() : String(timestamp), properties: rest })
}
const posthog = { capture, api: { get: apiCall('GET'), post: apiCall('POST'), put: apiCall('PUT'), delete: apiCall('DELETE') } }
for (const [name, value] of Object.entries({ fetch, console, URL, URLSearchParams, Headers, Response, Buffer, TextEncoder, TextDecoder, RetryError, posthog, global: globalThis,
  btoa: (text) => Buffer.from(String(text), 'latin1').toString('base64'), atob: (text) => Buffer.from(String(text), 'base64').toString('latin1') })) define(name, value)

const read = async (key, fallback) => { const { isFound, value } = await call('storage', 'get', String(key)); return isFound ? value : fallback }
const cacheCall = (name) => (...args) => call('cache', name, ...args)
const cache = {}
for (const name of ['get', 'set', 'incr', 'expire', 'lpush', 'lrange', 'llen', 'lrem', 'lpop']) cache[name] = cacheCall(name)
cache.get = async (key, fallback) => { const { isFound, value } = await call('cache', 'get', String(key)); return isFound ? value : fallback }
const meta = {
  config: settings.config,
  attachments: Object.fromEntries(Object.entries(settings.attachments).map(([key, { contents, ...rest }]) => [key, { ...rest, contents: Buffer.from(contents, 'base64') }])),
  global: {},
  storage: {
    get: read,
    set: (key, value) => call('storage', 'set', String(key), value === undefined ? null : stringify(value) ?? null),
    del: (key) => call('storage', 'set', String(key), null),
  },
  cache,
  geoip: { locate: (ip) => call('locate', String(ip)) },
  jobs: {},
  utils: { cursor: { init: (key, value = 0) => call('storage', 'cursor', String(key), Number(value), true), increment: (key, by = 1) => call('storage', 'cursor', String(key), Number(by), false) } },
}
const units = { millisecond: 1, second: 1e3, minute: 6e4, hour: 36e5, day: 864e5, week: 6048e5, month: 2592e6, quarter: 7776e6, year: 31536e6 }
const jobOf = (name) => (payload = {}) => ({
  runNow: () => call('job', name, payload, 0, null),
  runIn: (count, unit) => {
    const ms = units[String(unit).replace(/s$/, '')]
    if (ms === undefined) throw new Error('Unknown unit of time: ' + unit)
    return call('job', name, payload, Number(count) * ms, null)
  },
  runAt: (date) => call('job', name, payload, 0, new Date(date).toISOString()),
})

const names = ['setupPlugin', 'teardownPlugin', 'processEvent', 'processEventBatch', 'onEvent', 'composeWebhook', 'getSettings', 'runEveryMinute', 'runEveryHour', 'runEveryDay', 'jobs']
const tail = '\n;' + ['exports', ...names].map((name) => '__found.' + name + ' = typeof ' + name + " === 'undefined' ? undefined : " + name + ';').join('')
let methods = {}
let jobs = {}
const start = () => {
  runFile(settings.main, tail)
  const { module, found } = loaded.get(settings.main)
  const places = [found.exports, module.exports, loaded.get(settings.main).module.exports].flatMap((one) => [one?.default, one]).filter((one) => one !== null && (typeof one === 'object' || typeof one === 'function'))
  const isExported = names.some((name) => places.some((one) => one[name] !== undefined))
  const take = (name) => (isExported ? places.find((one) => one[name] !== undefined)?.[name] : found[name])
  for (const name of names) { const value = take(name); if (typeof value === 'function') methods[name] = value }
  const given = take('jobs')
  if (given !== null && typeof given === 'object') for (const [name, work] of Object.entries(given)) if (typeof work === 'function') jobs[name] = work
  for (const name of Object.keys(jobs)) meta.jobs[name] = jobOf(name)
  const batch = methods.processEventBatch
  if (methods.processEvent === undefined && batch) methods.processEvent = async (event, given) => (await batch([event], given))?.[0]
  const has = (list) => list.filter((name) => methods[name] !== undefined)
  return stringify({
    methods: has(['setupPlugin', 'teardownPlugin', 'processEvent', 'onEvent', 'composeWebhook', 'getSettings']),
    scheduled_tasks: has(['runEveryMinute', 'runEveryHour', 'runEveryDay']),
    jobs: Object.keys(jobs),
  })
}

const told = (error) => {
  try {
    if (error === null || typeof error !== 'object') return 'threw ' + String(error)
    const text = (error.name ? error.name + ': ' : '') + error.message
    return error.message === undefined ? 'threw ' + shown(error) : text
  } catch { return 'threw a value without a text' }
}
// What ended while a list of events runs, a line each; null: results are reported at once.
let lines = null
let current = 0
const report = (id, kind, text) => {
  if (lines === null) hostDone(id, kind, text)
  // A limit ended it: it has no result.
  else if (kind !== 0 || text !== 'InternalError: interrupted') lines[lines.length] = id + ' ' + kind + ' ' + (kind === 1 ? text : stringify(text))
}
const succeed = (id, value) => {
  let text
  try { text = value === undefined || value === null ? '' : (stringify(value) ?? '') } catch (error) { return fail(id, error) }
  report(id, 1, text)
}
const fail = (id, error) => { report(id, error instanceof RetryError || error?.name === 'RetryError' ? 2 : 0, told(error)) }
const run = (id, method, json) => {
  try { runWith(id, method, json === '' ? undefined : parse(json)) } catch (error) { fail(id, error) }
}
// Runs events of a list until some time has passed or calls of the server are waiting, and returns how many.
const runMany = (firstId, method, json, ms, calls) => {
  const list = parse(json)
  lines = []
  const end = now() + ms
  let begun = 0
  for (; begun < list.length && (begun === 0 || (now() < end && waiting.size < calls)); begun++) {
    current = firstId + begun
    runWith(current, method, list[begun])
  }
  current = 0
  return begun
}
// The call that ran when a limit was exceeded, and what ended.
const flush = () => {
  const text = current + (lines === null ? '' : '\n' + join(lines, '\n'))
  lines = null
  return text
}
const runWith = (id, method, value) => {
  try {
    let result
    if (method.startsWith('job:')) {
      const work = jobs[method.slice(4)]
      if (!work) throw new Error('The plugin has no job "' + method.slice(4) + '"')
      result = work(value, meta)
    } else if (methods[method] === undefined) result = undefined
    else if (value === undefined) result = methods[method](meta)
    else {
      if (method === 'composeWebhook' && value.timestamp) value.timestamp = new Date(value.timestamp)
      result = methods[method](value, meta)
    }
    if (result !== null && typeof result === 'object' && typeof result.then === 'function') Promise.resolve(result).then((value) => succeed(id, value), (error) => fail(id, error))
    else succeed(id, result)
  } catch (error) { fail(id, error) }
}
const settle = (id, isOk, json) => {
  const [resolve, reject] = waiting.get(id) ?? []
  waiting.delete(id)
  if (!resolve) return
  if (isOk) resolve(json === '' ? undefined : parse(json))
  else reject(new Error(json))
}
return [start, run, settle, runMany, flush]
})`
