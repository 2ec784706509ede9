import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { BoundedCache } from '../../../lib/memory/bounded-cache.ts'
import { own } from '../../../lib/own.ts'
import { otherLimits } from '../../../limits/limits.ts'
import { embedStyle } from '../../../service/sharing/embed-style.ts'
import { tipsScript } from '../../../service/sharing/page-script.ts'

// The scripts that pages of other sites load: the elements of charts, posthog-js, unmodified, with the files that it loads later, and a small one for page views only. The build
// puts them into dist/client.

const [squeeze, zip] = [promisify(brotliCompress), promisify(gzip)]

/** Files of posthog-js that are served, and what stands for those whose feature does not exist here: a 404 would appear in the console of every page. */
const without = 'of a feature that Waymark does not have'
const files: Readonly<Record<string, 'posthog-js' | 'own' | { readonly text: string }>> = {
  'waymark.js': 'own',
  'array.js': 'posthog-js',
  'web-vitals.js': 'posthog-js',
  'web-vitals-with-attribution.js': 'posthog-js',
  'web-vitals-soft-navs.js': 'posthog-js',
  'web-vitals-with-attribution-soft-navs.js': 'posthog-js',
  'exception-autocapture.js': 'posthog-js',
  'dead-clicks-autocapture.js': 'posthog-js',
  'tracing-headers.js': 'posthog-js',
  'surveys.js': { text: '(window.__PosthogExtensions__=window.__PosthogExtensions__||{}).generateSurveys=function(){};' },
  ...Object.fromEntries(
    [
      'recorder.js',
      'lazy-recorder.js',
      'posthog-recorder.js',
      'recorder-v2.js',
      'toolbar.js',
      'logs.js',
      'conversations.js',
      'product-tours.js',
    ].map((name) => [name, { text: `/* ${name}: ${without} */` }]),
  ),
}
/** Of the package: what the build copies (build/client.mjs). */
export const libraryFiles: readonly string[] = Object.keys(files).filter((name) => files[name] === 'posthog-js')

/** Under `/embed/`: custom elements with charts, and their looks. */
const embedded: Readonly<Record<string, { readonly type: string; text(): Promise<string> }>> = {
  'waymark.js': {
    type: 'text/javascript',
    text: async () => `;(() => {\n${tipsScript}${await readFile(elementsPlace(), 'utf8')}\n})()\n`,
  },
  'waymark.css': { type: 'text/css', text: async () => embedStyle },
}
/** As the page script. */
const elementsPlace = (): string =>
  fileURLToPath(new URL(isSource ? '../../../web/embed/elements.js' : './client/elements.js', import.meta.url))

const isSource = import.meta.url.endsWith('.ts')
/** Beside the program; from the sources, where the package is installed. */
const placeOf = (name: string): string => {
  if (!isSource) return fileURLToPath(new URL(`./client/${name}`, import.meta.url))
  if (files[name] === 'own') return fileURLToPath(new URL(`../../../web/page-script/${name}`, import.meta.url))
  return nodeModule
    .createRequire(import.meta.url)
    .resolve(name === 'posthog-js.json' ? 'posthog-js/package.json' : `posthog-js/dist/${name}`)
}

interface Script {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly type?: string
}
const hashOf = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}

const read = async (name: string): Promise<Script> => {
  const file = files[name]
  const bytes = typeof file === 'object' ? new TextEncoder().encode(file.text) : new Uint8Array(await readFile(placeOf(name)))
  return { bytes, etag: `W/"${hashOf(bytes)}"` }
}
const versionOf = async (): Promise<string> =>
  (JSON.parse(await readFile(placeOf('posthog-js.json'), 'utf8')) as { version: string }).version

/** Encodings that the caller accepts, the smallest first. */
const encodingOf = (headers: Headers): 'br' | 'gzip' | null => {
  const accepted = new Map(
    (headers.get('accept-encoding') ?? '').split(',').map((one) => {
      const [name, quality] = one.split(';q=')
      return [name!.trim().toLowerCase(), quality === undefined || Number(quality) > 0]
    }),
  )
  return accepted.get('br') ? 'br' : accepted.get('gzip') ? 'gzip' : null
}
const compressed = async (bytes: Uint8Array, encoding: 'br' | 'gzip'): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(
    encoding === 'gzip'
      ? await zip(bytes, { level: 9 })
      : await squeeze(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  )
const smallest = 1024

const [minutes, year] = [60, 31_536_000]
/** An address with the version of the library has the same contents for ever; all others may change with the next version of Waymark. */
const caching = (isOfVersion: boolean) => (isOfVersion ? `public, max-age=${year}, immutable` : `public, max-age=${5 * minutes}`)

export const createScripts = () => {
  const found = new Map<string, Promise<Script>>()
  const packed = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  const withSettings = new BoundedCache<string, Promise<Uint8Array<ArrayBuffer>>>(otherLimits.keptLibraries.number)
  let known: Promise<string> | null = null

  /** What fails is tried again. */
  const once = <V>(map: {
    get(key: string): Promise<V> | undefined
    set(key: string, value: Promise<V>): void
    delete(key: string): void
  }) => {
    return (key: string, make: () => Promise<V>): Promise<V> => {
      const held = map.get(key)
      if (held) return held
      const made = make()
      made.catch(() => map.delete(key))
      map.set(key, made)
      return made
    }
  }
  const [readOnce, packOnce, packLibrary] = [once(found), once(packed), once(withSettings)]
  const scriptOf = (name: string) => readOnce(name, () => read(name))
  const version = () => {
    known ??= versionOf().catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }

  const answer = async (
    { headers, method }: Request,
    { bytes, etag, type = 'text/javascript' }: Script,
    isOfVersion: boolean,
    pack: (encoding: 'br' | 'gzip') => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<Response> => {
    const encoding = bytes.length < smallest ? null : encodingOf(headers)
    const all: Record<string, string> = {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': caching(isOfVersion),
      etag,
      vary: 'accept-encoding',
      'access-control-allow-origin': '*', // a script that is loaded with `crossorigin` must be readable by its page
      'cross-origin-resource-policy': 'cross-origin',
      ...(encoding && { 'content-encoding': encoding }),
    }
    const asked = headers
      .get('if-none-match')
      ?.split(',')
      .map((one) => one.trim().replace(/^W\//, ''))
    if (asked?.includes(etag.slice(2)) || asked?.includes('*')) {
      const { 'content-encoding': _, 'content-type': __, ...kept } = all
      return new Response(null, { status: 304, headers: kept })
    }
    const body = encoding === null ? bytes : await pack(encoding)
    return new Response(method === 'HEAD' ? null : body, { headers: { ...all, 'content-length': String(body.length) } })
  }

  return {
    version,

    /** `/static/array.js`, `/static/array.js?v=1.2.3`, `/static/1.2.3/array.js`. Null: there is no such file. */
    async file(request: Request, name: string, asked: string | null): Promise<Response | null> {
      if (own(files, name) === undefined) return null // before anything is kept for a name that a stranger chose
      const script = await scriptOf(name)
      const isOfVersion = asked !== null && files[name] === 'posthog-js' && asked === (await version())
      return answer(request, script, isOfVersion, (encoding) => packOnce(`${name} ${encoding}`, () => compressed(script.bytes, encoding)))
    },

    /** `/embed/waymark.js` and its style sheet. Null: there is no such file. */
    async embedded(request: Request, name: string): Promise<Response | null> {
      const file = own(embedded, name)
      if (file === undefined) return null
      const script = await readOnce(`embed ${name}`, async () => {
        const bytes = new TextEncoder().encode(await file.text())
        return { bytes, etag: `W/"${hashOf(bytes)}"`, type: file.type }
      })
      return answer(request, script, false, (encoding) => packOnce(`embed ${name} ${encoding}`, () => compressed(script.bytes, encoding)))
    },

    /** The library after the settings of a project, so that it does not have to ask for them. */
    async library(request: Request, settings: string): Promise<Response> {
      const library = await scriptOf('array.js')
      const before = new TextEncoder().encode(`${settings}\n`)
      const bytes = new Uint8Array(before.length + library.bytes.length)
      bytes.set(before)
      bytes.set(library.bytes, before.length)
      const etag = `W/"${hashOf(before, library.etag)}"`
      return answer(request, { bytes, etag }, false, (encoding) => {
        withSettings.trim()
        return packLibrary(`${etag} ${encoding}`, () => compressed(bytes, encoding))
      })
    },
  }
}
export type Scripts = ReturnType<typeof createScripts>
