import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { frontPage } from './front-page.ts'

// The web interface: files that `npm run build` puts into dist/web, each also compressed. It calls the API like any other client.

/** Beside the program; from the sources, where the build puts it. */
const webFolder = () => fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../../../dist/web/' : './web/', import.meta.url))

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  json: 'application/json',
}
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
const day = 86_400

/** Styles and requests of this server only, and of its scripts those that the page names and what they import. */
const policyWith = (nonce: string) =>
  [
    "default-src 'none'",
    // Not 'self': this server also serves scripts that users wrote, for other sites.
    `script-src 'nonce-${nonce}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'", // a form whose answer is a download
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Scripts of the page, and by the `meta` those that they load later. */
const withNonce = (html: string, nonce: string): string =>
  html
    .replace(/<(script|link rel="modulepreload")(?=[\s>])/g, `<$1 nonce="${nonce}"`)
    .replace('<head>', `<head><meta property="csp-nonce" nonce="${nonce}" />`)

const isFileName = (name: string) => /^[\w-]+(\.[\w-]+)+$/.test(name)
const accepts = ({ headers }: Request, encoding: string) =>
  (headers.get('accept-encoding') ?? '').split(',').some((one) => one.split(';', 1)[0]!.trim() === encoding)

export const createWebPages = (folder = webFolder()) => {
  const found = new Map<string, Uint8Array<ArrayBuffer>>()
  const read = async (name: string): Promise<Uint8Array<ArrayBuffer> | null> => {
    const known = found.get(name)
    if (known) return known
    const bytes = await readFile(`${folder}${name}`).catch(() => null)
    if (bytes) found.set(name, bytes)
    return bytes
  }
  const compressed = async (
    request: Request,
    name: string,
  ): Promise<{ bytes: Uint8Array<ArrayBuffer>; headers: Record<string, string> } | null> => {
    for (const [encoding, suffix] of encodings) {
      const bytes = accepts(request, encoding) ? await read(name + suffix) : null
      if (bytes) return { bytes, headers: { 'content-encoding': encoding, vary: 'accept-encoding' } }
    }
    const bytes = await read(name)
    return bytes && { bytes, headers: { vary: 'accept-encoding' } }
  }

  return {
    async front(request: Request): Promise<Response> {
      const isForPeople = request.headers.get('accept')?.includes('text/html')
      const page = isForPeople ? await read('index.html') : null
      if (!page) return frontPage(request)
      const nonce = randomBytes(16).toString('base64')
      const html = withNonce(new TextDecoder().decode(page), nonce)
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policyWith(nonce),
        'cache-control': 'no-cache',
      }
      if (!accepts(request, 'gzip')) return new Response(html, { headers: { ...headers, vary: 'accept, accept-encoding' } })
      const zipped = new Uint8Array(gzipSync(html))
      return new Response(zipped, { headers: { ...headers, 'content-encoding': 'gzip', vary: 'accept, accept-encoding' } })
    },
    /** The name of each file contains a hash of its contents. Null: there is no such file. */
    async asset(request: Request, name: string): Promise<Response | null> {
      const file = isFileName(name) ? await compressed(request, `assets/${name}`) : null
      const type = types[name.slice(name.lastIndexOf('.') + 1)]
      if (!file || type === undefined) return null
      return new Response(file.bytes, {
        headers: { 'content-type': type, 'cache-control': `public, max-age=${365 * day}, immutable`, ...file.headers },
      })
    },
  }
}
