import { WaymarkError } from '../../../errors/errors.ts'
import type { QuotaRefusal } from '../../../service/accounts/organizations/event-quotas.ts'
import type { ProjectRecord } from '../../../service/accounts/records.ts'
import type { ReceivedRequest } from '../../../service/plugins/ports.ts'
import type { Receiver } from '../../../service/plugins/receiving/addresses.ts'
import type { ReceivedAnswer } from '../../../service/plugins/receiving/answer.ts'
import type { Received, Receiving } from '../../../service/plugins/receiving/receive.ts'
import { failures } from '../errors.ts'
import type { Body, RequestBodies } from '../requests/request-bodies.ts'
import type { CaptureTarget, Refused } from './handler.ts'
import { CaptureRefusal } from './refusal.ts'

// The addresses that other services send webhooks to. The plugin of the address makes events of a request; they are taken as those of clients are. Only the secret in the address says
// who may send: no session, no key and no header counts.

export const webhookPath = '/webhooks/:secret'

export interface WebhookServices {
  readonly receiving: Receiving
  readonly intake: RequestBodies
  projectOf(project: ProjectRecord): Promise<CaptureTarget>
  readonly quotas: {
    refusal(project: ProjectRecord, events: number): Promise<QuotaRefusal | null>
    count(project: ProjectRecord, events: number): Promise<void>
  }
  onRefused(refused: Refused): void
}

const largestBody = 2 * 1024 * 1024
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** A browser that opens the address would give the plugin a login. */
const keptBack = new Set(['cookie', 'proxy-authorization'])
const retrySeconds = 60

const tooLarge = () => new CaptureRefusal('too-large', `The body exceeds ${largestBody} bytes, the limit of this path.`)
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const requestOf = ({ method, headers }: Request, { search }: URL, bytes: Uint8Array): ReceivedRequest => {
  const about = {
    method,
    headers: Object.fromEntries([...headers].filter(([name]) => !keptBack.has(name))),
    search: search.replace(/^\?/, ''),
  }
  try {
    return { ...about, text: utf8.decode(bytes) }
  } catch {
    return { ...about, base64: Buffer.from(bytes).toString('base64') }
  }
}

const json = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers } })
const refusal = (status: number, type: string, code: string, detail: string, headers: Readonly<Record<string, string>> = {}) =>
  json(status, { type, code, detail, attr: null }, headers)

/** The sender learns that it failed; why it did is in the log of the plugin. */
const refusals: Readonly<Record<Exclude<Received['kind'], 'answer' | 'absent'>, () => Response>> = {
  failed: () => refusal(500, 'server_error', 'plugin_failed', 'The plugin failed. Its log says why.'),
  waiting: () =>
    refusal(503, 'server_error', 'plugin_unavailable', 'The plugin is not ready. Send the request again later.', {
      'retry-after': String(retrySeconds),
    }),
  busy: () =>
    refusal(503, 'server_error', 'plugin_busy', 'The plugin is busy with other requests. Send the request again later.', {
      'retry-after': '1',
    }),
}

const withoutBody = new Set([204, 205])
const answered = ({ status, body }: ReceivedAnswer): Response => {
  if (withoutBody.has(status)) return new Response(null, { status, headers: { 'cache-control': 'no-store' } })
  if (!body) return json(status, { status: status < 300 ? 1 : 0 })
  const type = body.isJson ? 'application/json' : 'text/plain; charset=utf-8'
  return new Response(body.text, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } })
}

/** Null: they are stored. */
const take = async (services: WebhookServices, { project }: Receiver, { events, bytes }: ReceivedAnswer): Promise<Response | null> => {
  if (events.length === 0) return null
  const refused = await services.quotas.refusal(project, events.length)
  if (refused) {
    const { status, body } = new CaptureRefusal('over-quota', refused.detail)
    services.onRefused({ reason: 'over-quota', path: webhookPath, token: null })
    return json(status, body, { 'retry-after': String(refused.retryAfterSeconds) })
  }
  const source = { count: events.length, bytes, [Symbol.iterator]: () => events[Symbol.iterator]() }
  // The address of the sender is that of a service, not of the person whom an event is about.
  await (await services.projectOf(project)).ingestEvents(source, { ip: null, userAgent: null })
  await services.quotas.count(project, events.length)
  return null
}

const taken = async (request: Request, secret: string, url: URL, services: WebhookServices, bytes: Uint8Array): Promise<Response> => {
  const { receiving } = services
  // A body may take minutes to arrive, and the address may have been replaced meanwhile.
  const receiver = await receiving.receiver(secret)
  if (!receiver) throw failures.notFound()
  const received = await receiving.give(receiver, requestOf(request, url, bytes))
  if (received.kind === 'absent') throw failures.notFound()
  if (received.kind !== 'answer') return refusals[received.kind]()
  try {
    return (await take(services, receiver, received.answer)) ?? answered(received.answer)
  } catch (error) {
    if (!(error instanceof WaymarkError) || error.code !== 'bad-event') throw error
    receiving.refuse(receiver, `an event cannot be stored: ${error.detail}`)
    return refusals.failed()
  }
}

/** A request to the address with this secret. Other errors than those of the request throw. */
export async function answerWebhook(request: Request, secret: string, url: URL, services: WebhookServices): Promise<Response> {
  if (!(await services.receiving.receiver(secret))) throw failures.notFound()
  if (!methods.includes(request.method)) throw failures.wrongMethod(request.method, methods)
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') return refusal(415, 'invalid_request', 'unsupported_encoding', 'Send the body uncompressed.')
  let body: Body | null = null
  try {
    body = await services.intake.read(request, largestBody, tooLarge)
    return await taken(request, secret, url, services, body.bytes)
  } catch (error) {
    if (!(error instanceof CaptureRefusal)) throw error
    return json(error.status, error.body)
  } finally {
    body?.release()
  }
}
