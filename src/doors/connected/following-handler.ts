import { type WireError, writeError } from '../../engine/isolation/wire-error.ts'
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

/** Bodies up to this size are read first, so that they can be sent to another owner, if those that are kept are not more in all. */
const mostRepeated = 1024 ** 2
const mostKept = 64 * 1024 ** 2

type Body = Uint8Array | ReadableStream<Uint8Array> | null

const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

/** Whether a request can come twice: it changes nothing, or what it changes has an id. */
const isRepeatable = (request: Request, url: URL): boolean =>
  isSafe(request.method) || sendsEvents(request, url) || request.headers.has('idempotency-key') || /\/query\/?$/.test(url.pathname)

/** The bytes of the bodies that a handler keeps until they are answered. */
class KeptBodies {
  private bytes = 0

  async read(request: Request, kept: { bytes: number }): Promise<Body> {
    if (request.body === null) return null
    const length = Number(request.headers.get('content-length') ?? Number.NaN)
    if (!(length <= mostRepeated && this.bytes + length <= mostKept)) return request.body
    this.bytes += length
    kept.bytes = length
    return new Uint8Array(await request.arrayBuffer())
  }

  release({ bytes }: { readonly bytes: number }): void {
    this.bytes -= bytes
  }
}

/** A stream that has been begun cannot be sent again. */
const isWhole = (body: Body): boolean => !(body instanceof ReadableStream) || !body.locked

const withBody = (request: Request, body: Body): Request =>
  body === null
    ? request
    : new Request(request.url, {
        method: request.method,
        headers: request.headers,
        signal: request.signal,
        body,
        duplex: 'half',
      } as RequestInit)

/** A caller with a key is not one whom the application has signed in, and clients' events have no caller. */
const mayBeSignedIn = (request: Request, url: URL): boolean =>
  !sendsEvents(request, url) && !/^bearer\s/i.test(request.headers.get('authorization') ?? '') && !url.searchParams.get('personal_api_key')

/** A stream that breaks off must not look finished. */
function breaking(response: Response, cut: (() => void) | undefined, log: Log | undefined): Response {
  if (!response.body) return response
  return new Response(ReadableStream.from(piecesOf(response.body, cut, log)), response)
}

async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  cut: (() => void) | undefined,
  log: Log | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>
  } catch (error) {
    log?.({ level: 'warn', message: 'a response was aborted', error: error instanceof Error ? error.message : String(error) })
    cut?.()
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

interface SignedIn {
  readonly host: HostUser | null
  readonly hostFailure: WireError | null
}
const nobody: SignedIn = { host: null, hostFailure: null }

/** What the application throws fails the requests that ask for it, and no others. */
const heard = async (user: () => Promise<HostUser | null>): Promise<SignedIn> => {
  try {
    return { host: await user(), hostFailure: null }
  } catch (error) {
    return { host: null, hostFailure: writeError(error) }
  }
}

export function followingHandler<R>(membership: Membership, options: HandlerOptions<R>): UnmountedHandler<R> {
  createSites(options) // wrong options are told now
  const { authenticate, log } = options
  const bodies = new KeptBodies()
  const answer = async (
    request: Request,
    address: string | null,
    cut: (() => void) | undefined,
    original: R,
    mountedAt: string | undefined,
    kept: { bytes: number },
  ): Promise<Response> => {
    const url = new URL(request.url)
    const attempt = newAttempt()
    const plain = plainOptions(options)
    const user = async () => (await authenticate?.(original)) ?? null
    let body: Body | undefined
    for (let tries = 1; ; tries++) {
      const role = await membership.current()
      if (role.is === 'owner') {
        const again = body === undefined ? request : withBody(request, body)
        const about = { address, mountedAt, attempt, authenticate: user, log: (line: Parameters<Log>[0]) => log?.(line), cut }
        return sharedHandlers(role.waymark).of(plain).handle(again, about)
      }
      const signedIn = mayBeSignedIn(request, url) ? await heard(user) : nobody
      if (body === undefined) body = await bodies.read(request, kept)
      const taken = { url: request.url, address, mountedAt: mountedAt ?? null, ...signedIn, options: plain, attempt }
      try {
        const { response, log: lines } = await role.link.send({
          method: request.method,
          headers: request.headers,
          body,
          taken,
          signal: request.signal,
        })
        for (const line of lines) log?.(line as Parameters<Log>[0])
        return breaking(response, cut, log)
      } catch (error) {
        await mayRepeat(error, role, tries, isWhole(body) && (!wasSent(error) || isRepeatable(request, url)))
      }
    }
  }
  const answered = async (...asked: [Request, string | null, (() => void) | undefined, R, string | undefined]) => {
    const kept = { bytes: 0 }
    try {
      return await answer(...asked, kept)
    } finally {
      bodies.release(kept)
    }
  }
  const handle = (request: Request, address: string | null = null, cut?: () => void, original = request as R, mountedAt?: string) =>
    answered(request, address, cut, original, mountedAt).catch(
      (error: unknown) => failed(request.signal.aborted ? new WaymarkError('query-cancelled', {}, { cause: error }) : error, log), // nobody waits for it
    )
  const drain = async (withinMs?: number) => {
    const { local } = membership
    if (local) await sharedHandlers(local).of(plainOptions(options)).drain(withinMs)
  }
  return Object.assign(handle, { drain })
}

const wasSent = (error: unknown): boolean => !(error instanceof OwnerGone) || error.wasSent

/** Resolves when the next owner may be asked. */
async function mayRepeat(error: unknown, role: Extract<Role, { is: 'guest' }>, tries: number, isRepeatable: boolean): Promise<void> {
  if (!(error instanceof OwnerGone)) throw error
  if (!isRepeatable) throw new WaymarkError('owner-ended', {}, { cause: error })
  await role.link.mayAskAgain(error, tries)
}

/** Requests of typed calls, which reach everything. */
export function operatorSend(membership: Membership): Send {
  return async (request) => {
    let body: Body | undefined
    for (let tries = 1; ; tries++) {
      const role = await membership.current()
      if (role.is === 'owner') {
        const { sendAsOperator } = await import('../http/server/operator.ts')
        return sendAsOperator(role.waymark)(body === undefined ? request : withBody(request, body))
      }
      if (body === undefined) body = request.body === null ? null : new Uint8Array(await request.arrayBuffer())
      const taken = { url: request.url, address: null, mountedAt: null, ...nobody, options: '{}', attempt: newAttempt() }
      try {
        return (await role.link.send({ method: request.method, headers: request.headers, body, taken }, 'operator')).response
      } catch (error) {
        await mayRepeat(error, role, tries, isSafe(request.method) || !wasSent(error))
      }
    }
  }
}
