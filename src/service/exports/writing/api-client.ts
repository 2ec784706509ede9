import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { isObject } from '../../../lib/is-object.ts'
import { type Retry, retryWait } from '../../jobs/retry.ts'
import { DestinationError, type Outside } from '../destinations/destination.ts'
import { lateAnswer, withinLimits } from './answer-limits.ts'
import { networkFailure } from './network-failure.ts'

// Requests to HTTP APIs of warehouses: to allowed addresses only, with a time limit for silence, and with retries of what passes.

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: Buffer | object
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** Null if the body is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>> | null
}

export interface ApiClient {
  /** An answer of any status but those that are retried. */
  send(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer>
  /** Calls until there is a value, with growing pauses. */
  poll<T>(look: () => Promise<T | null>, signal: AbortSignal): Promise<T>
}

export interface ApiTimes {
  /** Without a byte for this long, a request has failed. */
  readonly silentMs: number
  /** Before the first retry, and between the first two looks of a poll. */
  readonly pauseMs: number
}
export const apiTimes: ApiTimes = { silentMs: 60_000, pauseMs: 500 }

/** Of one request; a run that failed has its own. */
const retry: Omit<Retry, 'firstMs'> = { attempts: 4, growth: 2, longestMs: 15_000, jitter: 0.25 }
const isPassing = (status: number) => status === 408 || status === 429 || status === 502 || status === 503 || status === 504

/** `name`: of the service, for messages. */
export function apiClient(name: string, outside: Outside, { silentMs, pauseMs }: ApiTimes): ApiClient {
  const waits = { ...retry, firstMs: pauseMs }
  const pause = (n: number, signal: AbortSignal) => setTimeout(retryWait(waits, n + 1, Math.random()), undefined, { signal })
  const once = async ({ method, url, headers = {}, body }: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> => {
    const target = new URL(url)
    outside.mustBeAllowed(target.hostname)
    const isJson = body !== undefined && !Buffer.isBuffer(body)
    const bytes = isJson ? Buffer.from(JSON.stringify(body)) : (body as Buffer | undefined)
    const options = {
      method,
      headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers, 'content-length': String(bytes?.length ?? 0) },
      lookup: outside.lookup,
      signal,
    }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (target.protocol === 'https:' ? secureRequest : plainRequest)(target, options, resolve)
      sent.setTimeout(silentMs, () => sent.destroy(lateAnswer(name, silentMs)))
      sent.on('error', reject)
      sent.end(bytes)
    })
    const said = await text(withinLimits(response, name, { silentMs }))
    return { status: response.statusCode ?? 0, headers: response.headers, text: said, json: jsonOf(said) }
  }
  return {
    async send(request, signal) {
      for (let n = 0; ; n++) {
        try {
          const answer = await once(request, signal)
          if (!isPassing(answer.status) || n + 1 === retry.attempts) return answer
        } catch (error) {
          if (signal.aborted) throw signal.reason
          const failure = error instanceof DestinationError ? error : networkFailure(error, name)
          if (!failure?.isRetryable || n + 1 === retry.attempts) throw failure ?? error
        }
        await pause(n, signal)
      }
    },
    async poll(look, signal) {
      for (let n = 0; ; n++) {
        const value = await look()
        if (value !== null) return value
        await pause(n, signal)
      }
    },
  }
}

function jsonOf(said: string): ApiAnswer['json'] {
  try {
    const value: unknown = JSON.parse(said)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
