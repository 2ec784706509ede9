import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import type { CatalogEngines } from '../catalog/catalog-engine.ts'
import { SqlError } from '../statements/sql-error.ts'
import type { ProjectTables } from '../translation/tables.ts'
import { Fields, Incoming, type Message } from '../wire/incoming.ts'
import { Outgoing } from '../wire/outgoing.ts'
import type { Holder, Holdings } from './holdings.ts'
import { Api, type Found, type Send } from './project.ts'
import { reported } from './reports.ts'
import { Session } from './session.ts'
import { Settings } from './settings.ts'

// One connection from its first byte: TLS, cancel requests, the password, then a session.

const codes = { cancel: 80_877_102, tls: 80_877_103, gss: 80_877_104 } as const
const protocol3 = 3

export interface Cancellable {
  readonly secret: number
  cancel(): void
}

export interface Shared {
  readonly send: Send
  readonly tls: SecureContext | null
  readonly catalogs: CatalogEngines
  readonly tablesOf: (api: Api, project: number) => Promise<ProjectTables>
  readonly cancellable: Map<number, Cancellable>
  readonly holdings: Holdings
  readonly onError: (error: unknown) => void
  /** A client is known: it is no longer one of those that may not be many. */
  readonly onKnown: () => void
}

const isLoopback = (address: string | undefined): boolean => /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address ?? '')
const plainAddress = (address: string | undefined): string | null => address?.replace(/^::ffff:([\d.]+)$/, '$1') ?? null

/** Time for TLS, the first message and the password. */
const startLimits = { ms: 30_000 }

interface Start {
  readonly user: string
  readonly database: string
  readonly options: ReadonlyMap<string, string>
}

export class Connection implements Holder {
  private socket: Socket
  private readonly shared: Shared
  private readonly incoming = new Incoming()
  private readonly out: Outgoing
  private readonly address: string | undefined
  private isSecure = false
  private wake: (() => void) | null = null
  private isClosed = false
  /** It holds nothing any more. */
  private isOut = false
  private session: Session | null = null
  private readonly process: number

  constructor(socket: Socket, process: number, shared: Shared) {
    this.socket = socket
    this.process = process
    this.shared = shared
    this.address = socket.remoteAddress
    this.out = new Outgoing(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    this.listen()
  }

  private listen(): void {
    const { socket } = this
    socket.on('data', (chunk: Buffer) => {
      if (this.isOut) return
      this.incoming.push(chunk)
      this.hold(chunk.length)
      if (this.incoming.isFull) socket.pause()
      this.wake?.()
    })
    const closed = () => {
      if (socket !== this.socket) return
      this.isClosed = true
      this.session?.cancel()
      this.wake?.()
    }
    socket.on('error', closed)
    socket.on('end', closed)
    socket.on('close', closed)
  }

  private hold(bytes: number): void {
    if (!this.isOut) this.shared.holdings.add(this, bytes)
  }

  giveUp(): void {
    const gone = this.refuse(new SqlError('53200', 'out of memory', { detail: 'This connection held most of what all have together.' }))
    this.isOut = true
    this.isClosed = true
    this.session?.cancel()
    this.wake?.()
    void gone.finally(() => this.socket.destroy())
  }

  private async next(): Promise<Message | null> {
    for (;;) {
      const before = this.incoming.waiting
      const message = this.isOut ? null : this.incoming.next()
      if (message) {
        this.hold(this.incoming.waiting - before)
        this.socket.resume()
        return message
      }
      if (this.isClosed) return null
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
      this.wake = null
    }
  }

  /** Until the connection ends. */
  async serve(): Promise<void> {
    const late = setTimeout(() => this.socket.destroy(), startLimits.ms)
    try {
      const start = await this.start()
      if (!start) return
      const session = await this.begin(start)
      clearTimeout(late)
      if (!session) return
      this.shared.onKnown()
      for (;;) {
        const message = await this.next()
        if (!message || !(await session.take(message))) return
      }
    } catch (error) {
      await this.refuse(error)
    } finally {
      clearTimeout(late)
      this.shared.cancellable.delete(this.process)
      await this.session?.end()
      this.isOut = true
      this.shared.holdings.leave(this)
      this.socket.end(() => this.socket.destroySoon())
    }
  }

  /** An error that ends the connection. */
  async refuse(error: unknown): Promise<void> {
    if (!(error instanceof SqlError)) this.shared.onError(error)
    if (this.isClosed) return
    this.out.report('E', reported(error, '', 'FATAL'))
    await this.out.flush().catch(() => undefined)
  }

  /** The parameters of the start; null: it was only a cancel request, or nothing. */
  private async start(): Promise<Start | null> {
    for (;;) {
      const message = await this.next()
      if (!message) return null
      const fields = new Fields(message.body)
      const code = fields.int32()
      if (code === codes.cancel) {
        this.cancelOther(fields.int32(), fields.int32())
        return null
      }
      if (code === codes.gss || (code === codes.tls && !this.shared.tls)) this.socket.write('N')
      else if (code === codes.tls) await this.secure()
      else return this.parameters(code, fields)
    }
  }

  private cancelOther(process: number, secret: number): void {
    const other = this.shared.cancellable.get(process)
    const digest = (number: number) => createHash('sha256').update(String(number)).digest()
    if (other && timingSafeEqual(digest(other.secret), digest(secret))) other.cancel()
  }

  private async secure(): Promise<void> {
    if (this.isSecure || this.incoming.waiting > 0) throw new SqlError('08P01', 'received unencrypted data after SSL request')
    const plain = this.socket
    plain.removeAllListeners('data')
    plain.removeAllListeners('end')
    plain.removeAllListeners('close')
    plain.write('S')
    const socket = new TLSSocket(plain, { isServer: true, secureContext: this.shared.tls! })
    this.socket = socket
    this.out.over(socket)
    this.isSecure = true
    this.listen()
  }

  private parameters(code: number, fields: Fields): Start {
    const [major, minor] = [code >>> 16, code & 0xffff]
    if (major !== protocol3) throw new SqlError('0A000', `unsupported frontend protocol ${major}.${minor}: server supports 3.0`)
    const options = new Map<string, string>()
    for (;;) {
      const name = fields.text()
      if (name === '') break
      options.set(name, fields.text())
    }
    this.incoming.isStarted = true
    const unknown = [...options.keys()].filter((name) => name.startsWith('_pq_.'))
    if (minor > 0 || unknown.length > 0) {
      this.out.begin('v').int32(0).int32(unknown.length)
      for (const name of unknown) this.out.text(name)
      this.out.end()
    }
    const user = options.get('user') ?? ''
    if (user === '') throw new SqlError('28000', 'no PostgreSQL user name specified in startup packet')
    if (options.has('replication') && !/^(false|off|no|0)$/.test(options.get('replication')!))
      throw new SqlError('0A000', 'replication is not supported')
    return { user, database: options.get('database') || user, options }
  }

  private async begin({ user, database, options }: Start): Promise<Session | null> {
    if (!this.isSecure && !isLoopback(this.address))
      throw new SqlError('28000', 'a connection without TLS is accepted from this machine only', {
        hint: 'Connect with sslmode=require. The server needs --postgres-cert and --postgres-key.',
      })
    this.out.authentication(3)
    await this.out.flush()
    const message = await this.next()
    if (!message) return null
    if (message.type !== 'p') throw new SqlError('08P01', `expected password response, got message type ${message.type.charCodeAt(0)}`)
    const key = new Fields(message.body).text()
    const api = new Api(this.shared.send, key, plainAddress(this.address))
    const { scoped_teams: scoped } = await api.mustBeKnown().catch((error: unknown) => {
      if (!(error instanceof SqlError) || error.state !== '28000') throw error
      throw new SqlError('28P01', `password authentication failed for user "${user}"`, {
        hint: 'The password is a personal API key with the scope query:read.',
      })
    })
    const project = await projectNamed(api, database, scoped)
    this.incoming.trust()
    return this.open(api, project, user, options)
  }

  private async open(api: Api, project: Found, user: string, options: ReadonlyMap<string, string>): Promise<Session> {
    const secret = randomInt(1, 2 ** 31 - 1)
    let isOpen = false
    const settings = new Settings(user, project.timezone, (name, value) => isOpen && this.out.parameter(name, value))
    for (const [name, value] of [...options, ...commandLineOptions(options.get('options') ?? '')])
      if (!['user', 'database', 'options', 'replication'].includes(name) && !name.startsWith('_pq_.')) settings.set(name, value)
    const session = new Session({
      api,
      project,
      user,
      pid: this.process,
      catalogs: this.shared.catalogs,
      tables: () => this.shared.tablesOf(api, project.id),
      out: this.out,
      settings,
      hold: (bytes) => this.hold(bytes),
      onError: this.shared.onError,
    })
    this.session = session
    this.shared.cancellable.set(this.process, { secret, cancel: () => session.cancel() })
    this.out.authentication(0)
    for (const [name, value] of settings.reports()) this.out.parameter(name, value)
    isOpen = true
    this.out.keyData(this.process, secret)
    this.out.ready('I')
    await this.out.flush()
    return session
  }
}

/** `-c name=value` and `--name=value`, as `PGOPTIONS` has them. */
function commandLineOptions(text: string): [string, string][] {
  return [...text.slice(0, 2000).matchAll(/(?:-c\s*|--)([A-Za-z_.]{1,64})=((?:\\.|[^\s\\])*)/g)].map(([, name, value]) => [
    name!,
    value!.replace(/\\(.)/g, '$1'),
  ])
}

const shownProjects = 20

async function projectNamed(api: Api, database: string, scoped: readonly number[]): Promise<Found> {
  if (/^\d{1,15}$/.test(database)) {
    const byId = await api.project(Number(database))
    if (byId) return mustAsk(api, byId)
  }
  const projects = await api.projects(scoped)
  const named = projects.filter(({ name }) => name === database)
  if (named.length === 1) return mustAsk(api, named[0]!)
  const list = projects.slice(0, shownProjects).map(({ id, name }) => `${name} (${id})`)
  const hint =
    list.length > 0
      ? `The key may read: ${list.join(', ')}${projects.length > list.length ? ', …' : ''}. Use a name or an id as the database.`
      : 'Use the id of a project as the database. With the scope project:read a key finds projects by their names.'
  const message = named.length > 1 ? `several projects are named "${database}"` : `database "${database}" does not exist`
  throw new SqlError('3D000', message, { hint })
}

/** The key may ask questions of the project. */
async function mustAsk(api: Api, project: Found): Promise<Found> {
  await api.call('POST', `/api/projects/${project.id}/query/check_auth_for_async/`, {})
  return project
}
