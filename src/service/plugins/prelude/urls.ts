import { Buffer } from 'buffer/'
import { sync } from './host.ts'

// The URL classes of browsers. The thread parses addresses, by the rules of the WHATWG; parameters are read here.

const formDecode = (text: string): string => {
  const plain = text.replace(/\+/g, ' ')
  if (!plain.includes('%')) return plain
  return plain.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return Buffer.from(run.replace(/%/g, ''), 'hex').toString()
    }
  })
}
const formEncode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

type Pair = [key: string, value: string]

export class URLSearchParams {
  #pairs: Pair[] = []
  readonly #changed: ((text: string) => void) | null

  constructor(from: unknown = '', changed: ((text: string) => void) | null = null) {
    this.#changed = changed
    if (typeof from === 'object' && from !== null) {
      const entries = typeof (from as Iterable<Pair>)[Symbol.iterator] === 'function' ? (from as Iterable<Pair>) : Object.entries(from)
      for (const [key, value] of entries) this.#pairs.push([String(key), String(value)])
    } else this.#read(String(from))
  }

  #read(text: string) {
    for (const part of text.replace(/^\?/, '').split('&')) {
      if (part === '') continue
      const at = part.indexOf('=')
      this.#pairs.push(at < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))])
    }
  }
  #change(pairs: Pair[]) {
    this.#pairs = pairs
    this.#changed?.(this.toString())
  }
  append(key: string, value: string) {
    this.#change([...this.#pairs, [String(key), String(value)]])
  }
  delete(key: string) {
    this.#change(this.#pairs.filter(([name]) => name !== String(key)))
  }
  get(key: string) {
    return this.#pairs.find(([name]) => name === String(key))?.[1] ?? null
  }
  getAll(key: string) {
    return this.#pairs.filter(([name]) => name === String(key)).map(([, value]) => value)
  }
  has(key: string) {
    return this.#pairs.some(([name]) => name === String(key))
  }
  set(key: string, value: string) {
    const at = this.#pairs.findIndex(([name]) => name === String(key))
    const pair: Pair = [String(key), String(value)]
    if (at < 0) this.#change([...this.#pairs, pair])
    else this.#change(this.#pairs.flatMap((one, i) => (i === at ? [pair] : one[0] === pair[0] ? [] : [one])))
  }
  sort() {
    this.#change(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  }
  forEach(work: (value: string, key: string, self: URLSearchParams) => void, self?: unknown) {
    for (const [key, value] of this) work.call(self, value, key, this)
  }
  keys() {
    return this.#pairs.map(([key]) => key)[Symbol.iterator]()
  }
  values() {
    return this.#pairs.map(([, value]) => value)[Symbol.iterator]()
  }
  entries() {
    return this.#pairs.map(([key, value]): Pair => [key, value])[Symbol.iterator]()
  }
  [Symbol.iterator]() {
    return this.entries()
  }
  get size() {
    return this.#pairs.length
  }
  toString() {
    return this.#pairs.map(([key, value]) => `${formEncode(key)}=${formEncode(value)}`).join('&')
  }
}

const urlParts = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'] as const
type Parts = Readonly<Record<(typeof urlParts)[number] | 'href' | 'origin', string>>
const parsed = (input: unknown, base?: unknown): Parts | null => sync('url', String(input), base === undefined ? null : String(base))

export class URL {
  #parts: Parts
  #params: URLSearchParams | null = null

  constructor(input: unknown, base?: unknown) {
    this.#parts = URL.#valid(input, base)
  }
  static #valid(input: unknown, base?: unknown): Parts {
    const parts = parsed(input, base)
    if (parts === null) throw new TypeError(`Invalid URL: ${String(input).slice(0, 200)}`)
    return parts
  }
  static canParse(input: unknown, base?: unknown) {
    return parsed(input, base) !== null
  }
  get href() {
    return this.#parts.href
  }
  set href(value) {
    this.#parts = URL.#valid(value)
    this.#params = null
  }
  get origin() {
    return this.#parts.origin
  }
  get searchParams(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.#parts.search, (text) => {
      this.#parts = sync('url-set', this.href, 'search', text)
    })
    return this.#params
  }
  toString() {
    return this.href
  }
  toJSON() {
    return this.href
  }
  static {
    for (const name of urlParts)
      Object.defineProperty(URL.prototype, name, {
        get(this: URL) {
          return this.#parts[name]
        },
        set(this: URL, value: unknown) {
          this.#parts = sync('url-set', this.href, name, String(value))
          if (name === 'search') this.#params = null
        },
        configurable: true,
        enumerable: true,
      })
  }
}

/** `url.parse` of Node. */
export const legacyParse = (text: unknown, withQuery?: boolean) => {
  const parts = parsed(text)
  if (parts === null) {
    const none = { protocol: null, host: null, hostname: null, port: null, search: null, hash: null }
    return { ...none, href: String(text), pathname: String(text).split('?')[0], query: withQuery ? {} : null }
  }
  const query = parts.search.replace(/^\?/, '')
  return { ...parts, path: parts.pathname + parts.search, query: withQuery ? Object.fromEntries(new URLSearchParams(query)) : query }
}
