import { Buffer } from 'buffer/'
import { EventEmitter } from 'events/'
import { fetch, Headers, Response } from './fetching.ts'
import { parse, settings, sync } from './host.ts'
import { legacyParse, URL, URLSearchParams } from './urls.ts'

// What plugins import: the modules that they may have, and their own files.

export class RetryError extends Error {
  constructor(message?: string) {
    super(message)
    this.name = 'RetryError'
  }
}

/** A stream that keeps what nobody reads yet. */
class PassThrough extends EventEmitter {
  readonly #held: unknown[] = []
  #ended = false

  override on(name: string, work: (...args: unknown[]) => void): this {
    super.on(name, work)
    if (name === 'data') for (const piece of this.#held.splice(0)) this.emit('data', piece)
    if (name === 'end' && this.#ended) this.emit('end')
    return this
  }
  write(piece: unknown) {
    if (!this.emit('data', piece)) this.#held.push(piece)
    return true
  }
  end(piece?: unknown) {
    if (piece !== undefined) this.write(piece)
    this.#ended = true
    this.emit('finish')
    this.emit('end')
    return this
  }
  pipe(target: PassThrough) {
    this.on('data', (piece) => target.write(piece))
    this.on('end', () => target.end())
    return target
  }
}

interface Factory {
  create(): unknown
  destroy?(one: unknown): unknown
}
const createPool = (factory: Factory, { max = 1 }: { readonly max?: number } = {}) => {
  const idle: unknown[] = []
  const queue: ((one: unknown) => void)[] = []
  let made = 0
  const pool = {
    async acquire() {
      if (idle.length > 0) return idle.pop()
      if (made >= max) return new Promise((resolve) => queue.push(resolve))
      made++
      return factory.create()
    },
    async release(one: unknown) {
      const next = queue.shift()
      if (next) next(one)
      else idle.push(one)
    },
    async destroy(one: unknown) {
      made--
      await factory.destroy?.(one)
    },
    async use(work: (one: unknown) => unknown) {
      const one = await pool.acquire()
      try {
        return await work(one)
      } finally {
        await pool.release(one)
      }
    },
    async drain() {},
    async clear() {
      for (const one of idle.splice(0)) await pool.destroy(one)
    },
  }
  return pool
}

type Bytes = string | Uint8Array
const base64 = (value: Bytes, encoding?: string): string =>
  (typeof value === 'string' ? Buffer.from(value, encoding) : Buffer.from(value)).toString('base64')
/** Text crosses as it is: encoding a large one here takes long. */
const pieceOf = (value: Bytes, encoding?: string) =>
  typeof value === 'string' && (encoding === undefined || /^utf-?8$/i.test(encoding)) ? { text: value } : base64(value, encoding)
const digesting = (name: string) => (algorithm: unknown, key?: Bytes) => {
  const pieces: (string | { readonly text: string })[] = []
  const self = {
    update(value: Bytes, encoding?: string) {
      pieces.push(pieceOf(value, encoding))
      return self
    },
    digest(encoding?: string) {
      const bytes = Buffer.from(sync<string>(name, String(algorithm), pieces, key === undefined ? null : base64(key)), 'base64')
      return encoding === undefined ? bytes : bytes.toString(encoding)
    },
  }
  return self
}

/** Looks at every byte, wherever the first difference is. */
const timingSafeEqual = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) throw new RangeError('Input buffers must have the same byte length')
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!
  return difference === 0
}

const modules: Readonly<Record<string, unknown>> = {
  crypto: {
    createHash: digesting('hash'),
    createHmac: digesting('hmac'),
    randomBytes: (size: unknown) => Buffer.from(sync<string>('random', Number(size)), 'base64'),
    randomUUID: () => sync<string>('uuid'),
    timingSafeEqual,
  },
  url: { URL, URLSearchParams, parse: legacyParse, format: String },
  stream: { PassThrough },
  buffer: { Buffer },
  events: Object.assign(EventEmitter, { EventEmitter }),
  'generic-pool': { createPool },
  'node-fetch': Object.assign((...args: Parameters<typeof fetch>) => fetch(...args), {
    default: (...args: Parameters<typeof fetch>) => fetch(...args),
    Headers,
    Response,
    __esModule: true,
  }),
  '@posthog/plugin-scaffold': { RetryError, __esModule: true },
}

interface LoadedFile {
  /** What the code of the plugin exports. */
  module: { exports: unknown }
  readonly found: Record<string, unknown>
}
const loaded = new Map<string, LoadedFile>()

const fileFor = (from: string, wanted: string): string | undefined => {
  const path = from.split('/').slice(0, -1)
  for (const part of wanted.split('/'))
    if (part === '..') path.pop()
    else if (part !== '.' && part !== '') path.push(part)
  const base = path.join('/')
  const folder = base && `${base}/`
  return [base, `${base}.ts`, `${base}.js`, `${base}.json`, `${folder}index.ts`, `${folder}index.js`].find((name) =>
    Object.hasOwn(settings.files, name),
  )
}
const requireFrom =
  (from: string) =>
  (wanted: unknown): unknown => {
    const name = String(wanted)
    if (name.startsWith('.')) {
      const file = fileFor(from, name)
      if (file === undefined) throw new Error(`Cannot find "${name}", imported by ${from}`)
      return runFile(file).module.exports
    }
    const known = name.replace(/^node:/, '')
    if (Object.hasOwn(modules, known)) return modules[known]
    throw new Error(`Cannot import "${name}": plugins can import ${Object.keys(modules).join(', ')}, and their own files`)
  }

/** Runs a file once. `tail`: code at its end, which fills `__found`. */
export const runFile = (name: string, tail = ''): LoadedFile => {
  const known = loaded.get(name)
  if (known) return known
  const entry: LoadedFile = { module: { exports: {} }, found: {} }
  loaded.set(name, entry)
  const code = settings.files[name]!
  if (name.endsWith('.json')) entry.module.exports = parse(code)
  else
    new Function('exports', 'module', 'require', '__found', code + tail).call(
      undefined,
      entry.module.exports,
      entry.module,
      requireFrom(name),
      entry.found,
    )
  return entry
}
