import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request as plainRequest, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import * as z from 'zod'
import { excerpt } from '../../../lib/text/excerpt.ts'
import { isWebAddress } from '../../../lib/web/web-address.ts'
import { text } from '../../accounts/fields.ts'
import { lateAnswer, longestRequestMs } from '../writing/answer-limits.ts'
import { networkFailure } from '../writing/network-failure.ts'
import {
  DestinationError,
  defineDestination,
  type ExportRun,
  type Limits,
  type Outside,
  type RowFile,
  type Sink,
  usualLimits,
} from './destination.ts'

const config = z.object({
  url: text({ max: 2000 }).refine(isWebAddress, { error: 'Enter a valid URL that starts with http:// or https://.' }),
  token: z.string().min(1),
})
type Config = z.infer<typeof config>

/**
 * Sends each part of the rows as a POST with JSON lines, and at the end one with the summary of the run. Requests are repeated after a failure: receivers
 * recognize rows by `uuid`, and know a run as complete by its summary.
 */
export const httpDestination = defineDestination<Config>({
  type: 'HTTP',
  summary: 'Signed POST requests with JSON lines.',
  config,
  secrets: ['token'],
  sentTo: ['url'],
  places: ({ url }) => [['url', new URL(url).hostname]],
  files: () => ({ format: 'JSONLines', compression: null, maxFileBytes: 4 * 1024 ** 2 }),
  steps: (settings, outside) => [
    {
      name: 'Check that the server responds',
      description: 'Sends a signed request without rows, with the header `X-Waymark-Kind: test`.',
      run: (signal) => send(settings, outside, { kind: 'test', key: 'test', body: Buffer.from('') }, signal),
    },
  ],
  open: async (settings, run, outside) => new HttpSink(settings, run, outside),
})

class HttpSink implements Sink {
  private readonly settings: Config
  private readonly run: ExportRun
  private readonly outside: Outside
  private rows = 0
  private parts = 0

  constructor(settings: Config, run: ExportRun, outside: Outside) {
    this.settings = settings
    this.run = run
    this.outside = outside
  }

  async write({ path, index, rows }: RowFile, signal: AbortSignal): Promise<void> {
    const body = await readFile(path)
    await send(this.settings, this.outside, { kind: 'rows', key: `${this.run.key}-${index}`, body, run: this.run }, signal)
    this.rows += rows
    this.parts++
  }

  async publish(signal: AbortSignal): Promise<void> {
    const { run, rows, parts } = this
    const { export_id, id, key, model, start, end } = run
    const summary = { export_id, run_id: id, key, model, data_interval_start: start, data_interval_end: end, rows, parts }
    const body = Buffer.from(`${JSON.stringify(summary)}\n`)
    await send(this.settings, this.outside, { kind: 'summary', key: `${key}-summary`, body, run }, signal)
  }

  /** What was sent cannot be taken back: without a summary the run is not complete. */
  async discard(): Promise<void> {}
}

interface Message {
  readonly kind: 'rows' | 'summary' | 'test'
  readonly key: string
  readonly body: Buffer
  readonly run?: ExportRun
}

/** `t=<seconds>,v1=<hex>`: HMAC-SHA256 with the token over the seconds, a point and the body. */
export const signature = (token: string, seconds: number, body: Buffer): string =>
  `t=${seconds},v1=${createHmac('sha256', token).update(`${seconds}.`).update(body).digest('hex')}`

const send = async ({ url, token }: Config, outside: Outside, { kind, key, body, run }: Message, signal: AbortSignal): Promise<void> => {
  const target = new URL(url)
  outside.mustBeAllowed(target.hostname)
  const seconds = Math.floor(outside.clock().getTime() / 1000)
  const headers = {
    'content-type': 'application/x-ndjson',
    'content-length': body.length,
    'idempotency-key': key,
    'user-agent': 'waymark',
    'x-waymark-kind': kind,
    'x-waymark-signature': signature(token, seconds, body),
    ...(run && { 'x-waymark-run': run.key, 'x-waymark-attempt': run.attempt }),
  }
  const { status, text } = await post(
    target,
    { method: 'POST', headers, lookup: outside.lookup, signal },
    body,
    outside.limits ?? usualLimits,
  )
  if (status >= 200 && status < 300) return
  const said = text.trim() === '' ? '' : ` It said: ${excerpt(text.trim())}`
  throw new DestinationError(`${target.host} answered ${status}: ${advice(status)}${said}`, {
    isRetryable: status === 408 || status === 429 || status >= 500,
  })
}

const advice = (status: number): string => {
  if (status === 401 || status === 403) return 'it refuses the signature. Check the token.'
  if (status >= 300 && status < 400) return 'redirects are not followed. Enter the address that it redirects to.'
  if (status === 404) return 'nothing is at this address. Check the path of the URL.'
  if (status === 413) return 'the request is too large for it. Allow bodies of 8 MiB.'
  if (status === 429) return 'it limits the rate of requests.'
  return status >= 500 ? 'it failed.' : 'it refuses the request.'
}

/** The beginning of an answer is enough for a message. */
const longestAnswer = 1000

const post = (
  url: URL,
  options: RequestOptions,
  body: Buffer,
  limits: Limits,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { silentMs } = limits
    const most = longestRequestMs(limits)
    const request = (url.protocol === 'https:' ? secureRequest : plainRequest)(url, { ...options, timeout: silentMs }, (response) => {
      let text = ''
      const done = () => resolve({ status: response.statusCode ?? 0, text: text.slice(0, longestAnswer) })
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        if (text.length < longestAnswer) return
        done()
        request.destroy()
      })
      response.on('end', done)
      response.on('error', (error) => reject(networkFailure(error, url.host) ?? error))
    })
    const late = (ms: number) => request.destroy(lateAnswer(url.host, ms))
    const timer = setTimeout(() => late(most), most)
    request.on('timeout', () => late(silentMs))
    request.on('close', () => clearTimeout(timer))
    request.on('error', (error) => reject(error instanceof DestinationError ? error : (networkFailure(error, url.host) ?? error)))
    request.end(body)
  })
