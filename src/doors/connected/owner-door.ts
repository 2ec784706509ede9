import { randomUUID, timingSafeEqual } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { getRequestListener } from '@hono/node-server'
import { readError, writeError } from '../../engine/isolation/wire-error.ts'
import { writeValue } from '../../engine/isolation/wire-value.ts'
import type { LocalWaymark } from '../../engine.ts'
import { InternalError, WaymarkError } from '../../errors/errors.ts'
import { arrowBytes } from '../../lib/bytes/arrow-bytes.ts'
import type { LocalProject } from '../../project.ts'
import type { HostUser } from '../../service/accounts/organizations/host-users.ts'
import { announceOwner, leftSocket, newSecret } from '../../service/directory/announcement.ts'
import type { Send } from '../http/server/operator.ts'
import type { FileImportOptions } from '../library/import-files.ts'
import { allCalls } from './calls.ts'
import {
  type Call,
  framed,
  type Kind,
  kindHeader,
  logHeader,
  mostHeaderBytes,
  read,
  readTaken,
  secretHeader,
  type Taken,
  takenHeader,
  type Watched,
} from './protocol.ts'
import { serverCallsOf } from './server-calls.ts'
import { type SharedHandler, sharedHandlers } from './shared-handlers.ts'

// Where the owner of a data directory takes the calls and requests of its guests. Who does not know the secret, which is in the directory, is told nothing.

/** How long an owner that leaves waits for what its guests have asked. */
const leaveMs = 20_000

/** What guests see when nothing more is taken: they look for the next owner. */
const leavingStatus = 503

const socketName = 'owner.sock'
/** The longest path that every system takes for a socket, and the folder for those that would be longer. */
const longestPath = 100
const shortFolder = '/tmp'

/**
 * In a folder that only this user may enter: others can neither reach it nor put one of theirs in its place. Not in the data directory, which people copy while it is
 * in use: a socket cannot be copied.
 */
async function newSocket(): Promise<{ path: string; remove: () => Promise<void> }> {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\waymark-${randomUUID()}`, remove: async () => undefined }
  const isLong = Buffer.byteLength(join(tmpdir(), 'waymark-xxxxxx', socketName)) > longestPath
  const folder = await mkdtemp(join(isLong ? shortFolder : tmpdir(), 'waymark-'))
  return { path: join(folder, socketName), remove: () => rm(folder, { recursive: true, force: true }) }
}

/** The folder of an owner that was killed. */
async function removeSocketOf(left: string | null): Promise<void> {
  if (left !== null && basename(left) === socketName && /^waymark-\w{6}$/.test(basename(dirname(left))))
    await rm(dirname(left), { recursive: true, force: true })
}

const isSecret = (given: string | string[] | undefined, secret: string): boolean => {
  const [a, b] = [Buffer.from(String(given ?? '')), Buffer.from(secret)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Aborts when the guest no longer waits. */
function signalOf(response: ServerResponse): AbortSignal {
  const stop = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) stop.abort(new WaymarkError('query-cancelled', {}))
  })
  return stop.signal
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>

/** The calls of guests, on an open directory. */
async function targetOf(waymark: LocalWaymark, { target, method }: Call): Promise<{ on: Methods; token: string | null }> {
  if (!Object.hasOwn(allCalls[target.of], method)) throw new InternalError(`There is no call ${target.of}.${method}`)
  if (!('project' in target)) return { on: (target.of === 'server' ? serverCallsOf(waymark) : waymark) as unknown as Methods, token: null }
  const project = await waymark.project(target.project)
  return { on: (await objectOf(waymark, project, target.of)) as unknown as Methods, token: project.token }
}

async function objectOf(waymark: LocalWaymark, project: LocalProject, of: 'project' | 'actions' | 'cohorts' | 'files'): Promise<object> {
  if (of === 'actions' || of === 'cohorts') return project[of]
  if (of === 'project') return project
  const { importFiles } = await import('../library/import-files.ts')
  return { importFiles: (paths: readonly string[], options: FileImportOptions) => importFiles(waymark, project.id, paths, options) }
}

/** Projects are answered as what a guest makes its own from. */
const answerOf = async (waymark: LocalWaymark, { target, method }: Call, answer: unknown): Promise<unknown> => {
  if (target.of !== 'directory' || !['createProject', 'findOrCreateProject', 'project'].includes(method)) return writeValue(answer)
  const { id } = answer as { readonly id: number }
  const project = await waymark.project(id)
  return { id, token: project.token, reports: project.recoveryReports() }
}

/** Options hold what cannot be sent: a signal, and a function that hears of progress. */
const withWatching = ({ args, watched }: Call, own: Required<Watched>): unknown[] =>
  args.map((arg, i) =>
    watched[i]!.length === 0 ? arg : { ...(arg as object), ...Object.fromEntries(watched[i]!.map((name) => [name, own[name]])) },
  )

async function call(waymark: LocalWaymark, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const signal = signalOf(response)
  try {
    const asked = read(await buffer(request)) as Call
    const { on, token } = await targetOf(waymark, asked)
    const args = withWatching(asked, { signal, onProgress: (progress) => response.write(framed({ progress })) })
    const answer = await on[asked.method]!(...args)
    response.end(framed({ answer: await answerOf(waymark, asked, answer), token }))
  } catch (error) {
    response.end(framed({ failure: writeError(error) }))
  }
}

async function batches(waymark: LocalWaymark, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const signal = signalOf(response)
  try {
    const { project, query } = read(await buffer(request)) as { project: number; query: never }
    const bytes = arrowBytes((await waymark.project(project)).queryArrowBatches(query, { signal }))
    const first = await bytes.next() // a wrong statement fails before anything is answered
    const rest = async function* () {
      if (!first.done) yield first.value
      yield* bytes
    }
    await pipeline(Readable.from(rest()), response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end(framed({ failure: writeError(error) }))
  }
}

/** Of lines that would be too long for a header, the beginnings. */
function linesText(lines: readonly unknown[]): string {
  const whole = encodeURIComponent(JSON.stringify(lines))
  if (whole.length < mostHeaderBytes / 2) return whole
  const short = (_: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 1000) : value)
  return encodeURIComponent(JSON.stringify(lines.slice(0, 20), short))
}

async function forwarded(shared: SharedHandler, request: Request, taken: Taken, cut: () => void): Promise<Response> {
  const lines: unknown[] = []
  const headers = new Headers(request.headers)
  for (const name of [secretHeader, kindHeader, takenHeader]) headers.delete(name)
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const { method, signal } = request
  const asSent = new Request(taken.url, { method, headers, signal, ...(hasBody && { body: request.body, duplex: 'half' }) } as RequestInit)
  const response = await shared.handle(asSent, {
    address: taken.address,
    mountedAt: taken.mountedAt ?? undefined,
    attempt: taken.attempt,
    authenticate: async () => {
      if (taken.hostFailure) throw readError(taken.hostFailure)
      return taken.host as HostUser | null
    },
    log: (line) => void lines.push(line),
    cut,
  })
  const answer = new Response(response.body, response)
  answer.headers.set(logHeader, linesText(lines))
  return answer
}

/** Guests that are connected, each with the answer that lasts as long. */
class Guests {
  private readonly connected = new Set<ServerResponse>()
  private isEmpty: (() => void) | null = null
  isLeaving = false

  welcome(response: ServerResponse): void {
    this.connected.add(response)
    response.once('close', () => {
      this.connected.delete(response)
      if (this.connected.size === 0) this.isEmpty?.()
    })
    response.write('open\n')
  }

  async leave(withinMs: number): Promise<void> {
    this.isLeaving = true
    if (this.connected.size === 0) return
    const left = new Promise<void>((resolve) => {
      this.isEmpty = resolve
    })
    for (const response of this.connected) response.write('leaving\n')
    const late = setTimeout(() => this.isEmpty?.(), withinMs)
    await left
    clearTimeout(late)
  }
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, exclusive: true }, () => resolve()) // a worker of a cluster would leave the socket to its primary
  })

/** Opens the door of the process that has the directory. It is closed with the directory, when what guests have asked is answered. */
export async function openOwnerDoor(waymark: LocalWaymark, report: (error: unknown) => void): Promise<void> {
  const secret = newSecret()
  const guests = new Guests()
  const handlers = sharedHandlers(waymark)
  let operator: Promise<Send> | null = null
  const asOperator = () => (operator ??= import('../http/server/operator.ts').then(({ sendAsOperator }) => sendAsOperator(waymark)))
  const commands = async () => (await import('../http/commands/embedded-commands.ts')).ownerCommands(waymark, secret)
  const answerHttp = getRequestListener(
    async (request, env) => {
      const { outgoing } = env as { outgoing: ServerResponse }
      const cut = () => void outgoing.destroy()
      if (request.headers.get(kindHeader) === 'command') return (await commands())(request, null, cut)
      const taken = readTaken(request.headers.get(takenHeader)!)
      if (request.headers.get(kindHeader) !== 'operator') return forwarded(await handlers.of(taken.options), request, taken, cut)
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
      const { method, headers, signal } = request
      return (await asOperator())(
        new Request(taken.url, { method, headers, signal, ...(hasBody && { body: request.body, duplex: 'half' }) } as RequestInit),
      )
    },
    { overrideGlobalObjects: false },
  )
  const server = createServer({ maxHeaderSize: mostHeaderBytes }, (request, response) => {
    if (!isSecret(request.headers[secretHeader], secret)) return void response.writeHead(404).end()
    if (guests.isLeaving && request.headers[kindHeader] === 'watch') return void response.writeHead(leavingStatus).end()
    response.on('error', () => undefined) // the guest has gone
    const kind = request.headers[kindHeader] as Kind
    if (kind === 'watch') guests.welcome(response)
    else if (kind === 'call') call(waymark, request, response).catch(report)
    else if (kind === 'batches') batches(waymark, request, response).catch(report)
    else answerHttp(request, response).catch(report)
  })
  // Connections last as long as their guests: one that ended by itself could meet a request on its way.
  Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0, timeout: 0 })
  await removeSocketOf(await leftSocket(waymark.dataDir))
  const { path, remove } = await newSocket()
  await listening(server, path)
  server.unref()
  const retract = await announceOwner(waymark.dataDir, { socket: path, secret })
  waymark.beforeRefusing(async () => {
    await retract()
    await guests.leave(leaveMs)
  })
  waymark.beforeClosing(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await remove()
  })
}
