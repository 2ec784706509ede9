/**
 * Maximum length of a host. Names in DNS have at most 253 characters. The URL parser of Node normalizes a host that is not ASCII in time proportional to the
 * square of its length: minutes for a megabyte.
 */
const longestHost = 300

/** The beginning of a URL whose host is normalized, up to its authority. Without a scheme: relative to another URL. */
const beforeAuthority = /^[\0- ]*(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]{2,})/i

function hasLongHost(text: string): boolean {
  if (text.length <= longestHost) return false
  const plain = text.replace(/[\t\n\r]/g, '') // as the parser does
  const start = beforeAuthority.exec(plain)?.[0].length
  if (start === undefined) return false
  const end = plain.slice(start).search(/[/\\?#]/)
  const authority = plain.slice(start, end < 0 ? undefined : start + end)
  return authority.length - (authority.lastIndexOf('@') + 1) > longestHost
}

/** The URL that a text from outside is; null if it is not a URL, or its host is longer than any name. */
export function parsedUrl(text: string, base?: URL): URL | null {
  return !hasLongHost(text) && URL.canParse(text, base?.href) ? new URL(text, base) : null
}
