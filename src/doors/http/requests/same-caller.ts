/** What says who calls, and from where. */
const callerHeaders = [
  'authorization',
  'cookie',
  'origin',
  'sec-fetch-site',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]

/** A request of the caller of another one, with its key or its session. */
export function sameCaller(outer: Request, method: string, path: string, body: object | undefined, signal: AbortSignal): Request {
  const url = new URL(path, outer.url)
  const key = new URL(outer.url).searchParams.get('personal_api_key')
  if (key !== null) url.searchParams.set('personal_api_key', key)
  const headers = new Headers()
  for (const name of callerHeaders) {
    const value = outer.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (body === undefined) return new Request(url, { method, headers, signal })
  headers.set('content-type', 'application/json')
  return new Request(url, { method, headers, signal, body: JSON.stringify(body) })
}
