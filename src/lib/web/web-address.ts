import { parsedUrl } from './parsed-url.ts'

/** Whether a text is an address of the web: http or https, with a host, and without spaces, line breaks and tabs, which a parser of URLs removes or encodes. */
export function isWebAddress(value: string): boolean {
  const url = /[\s\p{Cc}]/u.test(value) ? null : parsedUrl(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ''
}

/** Whether a text is the name or the address of a host, without a scheme, a port or a path. */
export function isHostName(value: string): boolean {
  const host = value.includes(':') ? `[${value.replace(/^\[|\]$/g, '')}]` : value
  return !/[\s\p{Cc}/?#@\\]/u.test(value) && parsedUrl(`http://${host}`) !== null
}
