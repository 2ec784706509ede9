import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { isObject } from '../../../lib/is-object.ts'
import { parsedUrl } from '../../../lib/web/parsed-url.ts'

// What plugins call without awaiting it: pure functions, run in the thread of the plugin. Arguments and results are JSON.

const urlParts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'] as const
const partsOf = (url: URL) => Object.fromEntries(urlParts.map((name) => [name, url[name]]))
const settable = new Set<string>(urlParts.filter((name) => name !== 'origin'))
const algorithms = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'])
const algorithmOf = (name: unknown) => {
  const known = String(name).toLowerCase().replace('-', '')
  if (!algorithms.has(known)) throw new Error(`Unknown digest "${String(name)}": ${[...algorithms].join(', ')} are available`)
  return known
}
const bytesOf = (base64: unknown) => Buffer.from(String(base64), 'base64')
/** A piece of what is hashed: a text, or bytes in base64. */
const pieceOf = (piece: unknown) => (isObject(piece) ? Buffer.from(String(piece.text), 'utf8') : bytesOf(piece))
const mostRandomBytes = 65_536

const functions: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {
  url(input, base) {
    const below = base === null ? undefined : parsedUrl(String(base))
    const url = below === null ? null : parsedUrl(String(input), below)
    return url && partsOf(url)
  },
  'url-set'(href, name, value) {
    const url = parsedUrl(String(href))
    if (!url) throw new TypeError('Invalid URL')
    const [part, text] = [String(name), String(value)]
    if (settable.has(part) && (!/^h(?:ost|ref)/.test(part) || parsedUrl(part === 'href' ? text : `http://${text}`)))
      (url as unknown as Record<string, string>)[part] = text
    return partsOf(url)
  },
  hash(algorithm, pieces) {
    const hash = createHash(algorithmOf(algorithm))
    for (const piece of pieces as readonly unknown[]) hash.update(pieceOf(piece))
    return hash.digest('base64')
  },
  hmac(algorithm, pieces, key) {
    const hmac = createHmac(algorithmOf(algorithm), bytesOf(key))
    for (const piece of pieces as readonly unknown[]) hmac.update(pieceOf(piece))
    return hmac.digest('base64')
  },
  random: (size) => randomBytes(Math.min(mostRandomBytes, Math.max(0, Math.trunc(Number(size)) || 0))).toString('base64'),
  uuid: () => randomUUID(),
  'base64-encode': (latin1) => Buffer.from(String(latin1), 'latin1').toString('base64'),
  'base64-decode': (text) => bytesOf(text).toString('latin1'),
  'utf8-decode': (latin1) => Buffer.from(String(latin1), 'latin1').toString('utf8'),
}

export function callServerFunction(name: string, json: string): string {
  if (!Object.hasOwn(functions, name)) throw new Error(`Unknown function "${name}"`)
  return JSON.stringify(functions[name]!(...(JSON.parse(json) as unknown[])))
}
