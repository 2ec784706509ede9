import { WaymarkError } from '../../errors/errors.ts'
import type { HostUser } from '../../service/accounts/organizations/host-users.ts'
import type { Log } from '../http/app.ts'
import { sendsEvents } from '../http/capture/handler.ts'
import { failureBody, failureOf, failures, knownFailure } from '../http/errors.ts'
import type { HandlerOptions, UnmountedHandler } from '../http/server/create-handler.ts'
import type { Send } from '../http/server/operator.ts'
import { createSites } from '../http/site.ts'
import { newAttempt } from './guest-calls.ts'
import type { Membership, Role } from './membership.ts'
import { OwnerGone } from './owner-link.ts'
import { plainOptions, sharedHandlers } from './shared-handlers.ts'

// Requests that are answered wherever the directory is open.

/** Bodies up to this size are read first, so that they can be sent to another owner. */
const mostRepeated = 1024 ** 2

type Body = Uint8Array | ReadableStream<Uint8Array> | null

const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

/** Whether a request can come twice: it changes nothing, or what it changes has an id. */
const isRepeatable = (request: Request, url: URL): boolean =>
  isSafe(request.method) || sendsEvents(request, url) || request.headers.has('idempotency-key') || /\/query\/?$/.test(url.pathname)

async function bodyOf(request: Request): Promise<Body> {
  if (request.body === null) return null
  const length = Number(request.headers.get('content-length') ?? Number.NaN)
  return length <= mostRepeated ? new Uint8Array(await request.arrayBuffer()) : request.body
}

const withBody = (request: Request, body: Body): Request =>
  body === null
    ? request
    : new Request(request.url, { method: request.method, headers: request.headers, body, duplex: 'half' } as RequestInit)

/** A caller with a key is not one whom the application has signed in, and clients' events have no caller. */
const mayBeSignedIn = (request: Request, url: URL): boolean =>
  !sendsEvents(request, url) && !/^bearer\s/i.test(request.headers.get('authorization') ?? '') && !url.searchParams.has('personal_api_key')

/** A stream that breaks off must not look finished. */
function breaking(response: Response, cut: (() => void) | undefined): Response {
  if (!response.body || !cut) return response
  return new Response(ReadableStream.from(piecesOf(response.body, cut)), response)
}

async function* piecesOf(body: ReadableStream<Uint8Array>, cut: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>
  } catch (error) {
    cut()
    throw error
  }
}

const failed = (error: unknown, log: Log | undefined): Response => {
  const known = knownFailure(error)
  if (!known)
    log?.({ level: 'error', message: 'a request failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  const failure = known ?? failureOf(failures.internal())
  const headers: Record<string, string> = {
    'access-control-allow-origin': '*',
    ...failure.headers,
    ...(failure.status === 503 && { 'retry-after': '1' }),
  }
  return Response.json(failureBody(failure), { status: failure.status, headers })
}

export function followingHandler<R>(membership: Membership, options: HandlerOptions<R>): UnmountedHandler<R> {
  createSites(options) // wrong options are told now
  const { authenticate, log } = options
  const answer = async (
    request: Request,
    address: string | null,
    cut: (() => void) | undefined,
    original: R,
    mountedAt: string | undefined,
  ): Promise<Response> => {
    const url = new URL(request.url)
    const attempt = newAttempt()
    const plain = plainOptions(options)
    const user = async () => (await authenticate?.(original)) ?? null
    let body: Body | undefined
    for (;;) {
      const role = await membership.current()
      if (role.is === 'owner') {
        const again = body === undefined ? request : withBody(request, body)
        const about = { address, mountedAt, attempt, authenticate: user, log: (line: Parameters<Log>[0]) => log?.(line), cut }
        return sharedHandlers(role.waymark).of(plain).handle(again, about)
      }
      const host: HostUser | null = authenticate && mayBeSignedIn(request, url) ? await user() : null
      body ??= await bodyOf(request)
      const taken = { url: request.url, address, mountedAt: mountedAt ?? null, host, options: plain, attempt }
      try {
        const { response, log: lines } = await role.link.send({
          method: request.method,
          headers: request.headers,
          body,
          taken,
          signal: request.signal,
        })
        for (const line of lines) log?.(line as Parameters<Log>[0])
        return breaking(response, cut)
      } catch (error) {
        await mayRepeat(error, role, (isRepeatable(request, url) && !(body instanceof ReadableStream)) || body === null)
      }
    }
  }
  const handle = (request: Request, address: string | null = null, cut?: () => void, original = request as R, mountedAt?: string) =>
    answer(request, address, cut, original, mountedAt).catch((error: unknown) => failed(error, log))
  const drain = async (withinMs?: number) => {
    const { local } = membership
    if (local) await sharedHandlers(local).of(plainOptions(options)).drain(withinMs)
  }
  return Object.assign(handle, { drain })
}

/** Resolves when the next owner may be asked. */
async function mayRepeat(error: unknown, role: Extract<Role, { is: 'guest' }>, isRepeatable: boolean): Promise<void> {
  if (!(error instanceof OwnerGone)) throw error
  if (!isRepeatable) throw new WaymarkError('owner-ended', {}, { cause: error })
  await role.link.left
}

/** Requests of typed calls, which reach everything. */
export function operatorSend(membership: Membership): Send {
  return async (request) => {
    let body: Body | undefined
    for (;;) {
      const role = await membership.current()
      if (role.is === 'owner') {
        const { sendAsOperator } = await import('../http/server/operator.ts')
        return sendAsOperator(role.waymark)(body === undefined ? request : withBody(request, body))
      }
      body ??= request.body === null ? null : new Uint8Array(await request.arrayBuffer())
      const taken = { url: request.url, address: null, mountedAt: null, host: null, options: '{}', attempt: newAttempt() }
      try {
        return (await role.link.send({ method: request.method, headers: request.headers, body, taken }, 'operator')).response
      } catch (error) {
        await mayRepeat(error, role, isSafe(request.method) || (error instanceof OwnerGone && !error.wasSent))
      }
    }
  }
}
