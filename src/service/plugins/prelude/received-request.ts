import { Buffer } from 'buffer/'
import { parse } from './host.ts'
import { URLSearchParams } from './urls.ts'

// The first argument of `onRequest`: what somebody sent to the webhook address of the plugin config. The body is parsed here, in the time and memory of the plugin.

export interface ReceivedRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly search: string
  /** The body; in base64 if it is not UTF-8. */
  readonly text?: string
  readonly base64?: string
}

/** Undefined: it is not JSON. */
const jsonIn = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/** Of several values, the last one. */
const queryOf = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].map(([name, value]) => [String(name), String(value)]))

export const requestOf = ({ method, headers, search, text, base64 }: ReceivedRequest) => {
  const bytes = () => (base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64'))
  const body = text ?? bytes().toString()
  return {
    method,
    headers,
    query: queryOf(search),
    search,
    body,
    json: jsonIn(body),
    /** Most plugins need the text only. */
    get rawBody() {
      return bytes()
    },
  }
}
