import { WaymarkError } from '../../errors/errors.ts'
import { withoutTrailingSlashes } from '../../lib/text/without-trailing-slashes.ts'
import { isNetwork, networksOf, ownNetworks } from '../../lib/web/networks.ts'
import { clientAddress } from './requests/client-address.ts'
import { mountPath } from './server/mount.ts'

// The address under which the caller knows this server. The caller controls the `Host` header: links use it only if it cannot lead elsewhere,
// or if a trusted proxy confirms it.

export interface Site {
  /** Base of links. Empty if the host is unknown: then links are relative. */
  readonly base: string
  /** The caller uses TLS, here or at a trusted proxy. */
  readonly isSecure: boolean
  /** The address of the caller; null if unknown. */
  readonly client: string | null
  /** The origins of Waymark's own pages: their requests may use a login. */
  readonly origins: readonly string[]
}

export interface SiteOptions {
  /** The public address, whatever the request says. */
  readonly publicUrl?: string
  /** Addresses and networks of proxies whose `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-For` are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** The path in the application that the handler is mounted at; `publicUrl` contains it. */
  readonly at?: string
}

/** Names that are valid only inside a machine or its own network. */
const isLocal = (hostname: string): boolean =>
  /^[a-z0-9_-]+$|\.(localhost|local|internal)$/.test(hostname) || ownNetworks.has(hostname.replace(/^\[|\]$/g, ''))

const first = (header: string | null): string | null => header?.split(',', 1)[0]?.trim() || null

const originOf = (protocol: string, host: string): URL | null => {
  try {
    const url = new URL(`${protocol}//${host}`)
    return url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' ? url : null
  } catch {
    return null
  }
}

const forwarded = (headers: Headers, url: URL): URL => {
  const protocol = first(headers.get('x-forwarded-proto'))
  const scheme = protocol === 'https' || protocol === 'http' ? `${protocol}:` : url.protocol
  const host = first(headers.get('x-forwarded-host'))
  return (host === null ? null : originOf(scheme, host)) ?? originOf(scheme, url.host) ?? url
}

const refuse = (attr: string, message: string) => new WaymarkError('validation-failed', { message, attr })

const publicUrlOf = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === '') return url
  throw refuse('publicUrl', `The public URL must be an address like https://analytics.example.com, not ${text}.`)
}

export const createSites = ({ publicUrl, trustedProxies = [], at = '' }: SiteOptions) => {
  const mounted = mountPath(at)
  const strange = trustedProxies.find((one) => !isNetwork(one))
  if (strange !== undefined)
    throw refuse('trustedProxies', `Trusted proxies must be addresses or networks like 10.0.0.0/8, not ${strange}.`)
  const trusted = networksOf(trustedProxies)
  const open = publicUrl === undefined ? null : publicUrlOf(publicUrl)
  const base = open && withoutTrailingSlashes(open.origin + open.pathname)

  /** `address`: of the connection. `at`: the mount path of this request, where only its router knows it. */
  return ({ headers }: Request, url: URL, address: string | null, at: string = mounted): Site => {
    const isByProxy = address !== null && trusted.has(address)
    const seen = isByProxy ? forwarded(headers, url) : url
    const known = isByProxy || isLocal(seen.hostname) ? seen.origin + at : at
    return {
      base: base ?? known,
      isSecure: [url, seen, open].some((one) => one?.protocol === 'https:'),
      client: clientAddress(headers, address, trusted),
      origins: [url.origin, seen.origin, ...(open ? [open.origin] : [])],
    }
  }
}
export type Sites = ReturnType<typeof createSites>

/** A link to another page of the same request. Null removes a parameter. */
export const pageLink = (
  { url, site }: { readonly url: URL; readonly site: Site },
  change: Readonly<Record<string, number | string | null>>,
): string => {
  const parameters = new URLSearchParams(url.searchParams)
  for (const [name, value] of Object.entries(change))
    if (value === null) parameters.delete(name)
    else parameters.set(name, String(value))
  parameters.delete('personal_api_key') // a secret does not travel on in links
  return `${site.base}${url.pathname}?${parameters}`
}
