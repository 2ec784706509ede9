import type { Token } from '../statements/lexer.ts'
import { statementsOf, tokenize } from '../statements/lexer.ts'
import { SqlError } from '../statements/sql-error.ts'
import { oidOf, type TypeName, typeOfOid } from '../types/pg-types.ts'
import { textFromBinary } from '../types/values.ts'
import { Fields, type Message } from '../wire/incoming.ts'
import type { Outgoing } from '../wire/outgoing.ts'
import { Answer, groupsOfRows, onWire, type ResultColumn } from './answers.ts'
import { type Command, commandOf } from './commands.ts'
import { type Asker, ask, prepareQuestion, type Question } from './questions.ts'
import { reported } from './reports.ts'
import { Settings } from './settings.ts'

// What one client asks after it is known: statements by both protocols, prepared statements, portals and cursors.

/** What a session may keep. A message of the longest size fits, beside some statements. */
const sessionLimits = { statements: 1000, portals: 200, bytes: 32 * 1024 * 1024 }
/** Of a token of a statement in memory. */
const tokenBytes = 100

interface Statement {
  readonly text: string
  readonly command: Command | null
  readonly question: Question | null
  readonly types: readonly TypeName[]
  /** What it takes in memory. */
  readonly bytes: number
}

interface Portal {
  readonly statement: Statement
  readonly values: readonly (string | null)[]
  readonly formats: readonly number[]
  readonly bytes: number
  readonly isCursor: boolean
  answer: Answer | null
  stop: AbortController | null
  isOver: boolean
}

export interface SessionParts extends Omit<Asker, 'zone' | 'settings'> {
  readonly out: Outgoing
  readonly settings: Settings
  /** The session keeps more bytes; fewer if negative. */
  hold(bytes: number): void
  readonly onError: (error: unknown) => void
}

const one = (name: string): ResultColumn => ({ name, type: 'text' })

export class Session {
  private readonly parts: SessionParts
  private readonly statements = new Map<string, Statement>()
  private readonly portals = new Map<string, Portal>()
  private bytes = 0
  private status: 'I' | 'T' | 'E' = 'I'
  /** After an error of the extended protocol everything up to Sync is left out. */
  private isSkipping = false
  private running: AbortController | null = null
  /** Of the statement at hand, for places in it. */
  private text = ''

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  private get out(): Outgoing {
    return this.parts.out
  }

  private get asker(): Asker {
    const { settings, ...parts } = this.parts
    return { ...parts, zone: settings.zone, settings: settings.all() }
  }

  /** By a cancel request, or because the client has left. */
  cancel(): void {
    this.running?.abort()
  }

  async end(): Promise<void> {
    this.cancel()
    await this.closePortals(() => true)
  }

  /** False: the client has said goodbye. */
  async take({ type, body }: Message): Promise<boolean> {
    if (type === 'X') return false
    if (this.isSkipping && type !== 'S') return true
    try {
      await this.handle(type, new Fields(body))
    } catch (error) {
      await this.fail(error)
      if (type === 'Q') this.out.ready(this.status)
      else this.isSkipping = true
      if (error instanceof SqlError && error.state === '08P01') throw error
    }
    if (type === 'Q' || type === 'S' || type === 'H') await this.out.flush()
    return true
  }

  private async handle(type: string, fields: Fields): Promise<void> {
    switch (type) {
      case 'Q':
        return this.simple(fields.text())
      case 'P':
        return this.parse(fields)
      case 'B':
        return this.bind(fields)
      case 'D':
        return this.describe(fields)
      case 'E':
        return this.execute(fields)
      case 'C':
        return this.close(fields)
      case 'S':
        this.isSkipping = false
        if (this.status === 'I') await this.closePortals(({ isCursor }) => !isCursor)
        return this.out.ready(this.status)
      case 'H':
      case 'd':
      case 'c':
      case 'f':
        return
      case 'F':
        throw new SqlError('0A000', 'function calls by the protocol are not supported')
      default:
        throw new SqlError('08P01', `invalid frontend message type ${type.charCodeAt(0)}`)
    }
  }

  private async fail(error: unknown): Promise<void> {
    if (!(error instanceof SqlError)) this.parts.onError(error)
    if (this.status === 'T') this.status = 'E'
    this.out.report('E', reported(error, this.text))
  }

  private notice(message: string, state = '01000'): void {
    this.out.report('N', { S: 'NOTICE', V: 'NOTICE', C: state, M: message })
  }

  /** Runs with a signal that a cancel request, a time limit or the end of the connection aborts. */
  private async runStoppable<T>(work: (signal: AbortSignal) => Promise<T>, stop = new AbortController()): Promise<T> {
    this.running = stop
    const { timeoutMs } = this.parts.settings
    let isLate = false
    const outOfTime = () => {
      isLate = true
      stop.abort()
    }
    const timer = timeoutMs > 0 ? setTimeout(outOfTime, timeoutMs) : undefined
    try {
      return await work(stop.signal)
    } catch (error) {
      throw isLate ? new SqlError('57014', 'canceling statement due to statement timeout') : error
    } finally {
      clearTimeout(timer)
      if (this.running === stop) this.running = null
    }
  }

  private mustNotBeFailed(command: Command | null): void {
    const ends = command?.kind === 'commit' || command?.kind === 'rollback'
    if (this.status === 'E' && !ends)
      throw new SqlError('25P02', 'current transaction is aborted, commands ignored until end of transaction block')
  }

  private async simple(text: string): Promise<void> {
    this.text = text
    this.drop('', this.statements.get(''))
    const all = statementsOf(tokenize(text))
    if (all.length === 0) this.out.sign('I')
    for (const tokens of all) await this.simpleStatement(tokens)
    await this.closePortals(({ isCursor }) => !isCursor)
    this.out.ready(this.status)
  }

  private async simpleStatement(tokens: readonly Token[]): Promise<void> {
    const statement = await this.prepared(tokens, this.text, [])
    const portal = newPortal(statement, [], [])
    const columns = this.columnsOf(statement)
    try {
      if (columns) this.out.rowDescription(onWire(columns, []))
      await this.run(portal, Number.POSITIVE_INFINITY)
    } finally {
      await end(portal)
    }
  }

  private async prepared(tokens: readonly Token[], text: string, given: (TypeName | undefined)[]): Promise<Statement> {
    const command = commandOf(tokens)
    const bytes = text.length + tokens.length * tokenBytes
    this.mustNotBeFailed(command)
    if (command.kind !== 'query') {
      const inner = command.kind === 'declare' || command.kind === 'explain' ? command.query : null
      const question = inner && (await this.runStoppable((signal) => prepareQuestion(inner, given, this.asker, signal)))
      return { text, command, question, types: question ? (question.types as TypeName[]) : [], bytes }
    }
    const question = await this.runStoppable((signal) => prepareQuestion(tokens, given, this.asker, signal))
    return { text, command: null, question, types: question.types as TypeName[], bytes }
  }

  /** Null: it answers no rows. */
  private columnsOf({ command, question }: Statement): readonly ResultColumn[] | null {
    if (!command) return question!.columns
    switch (command.kind) {
      case 'show':
        return command.name === null ? [one('name'), one('setting'), one('description')] : [one(Settings.shown(command.name))]
      case 'fetch':
        return command.moves ? null : this.cursor(command.name).statement.question!.columns
      case 'execute':
        return this.columnsOf(this.named(command.name))
      case 'explain':
        return [one('QUERY PLAN')]
      default:
        return null
    }
  }

  private named(name: string): Statement {
    const found = this.statements.get(name)
    if (!found) throw new SqlError('26000', `prepared statement "${name}" does not exist`)
    return found
  }

  private cursor(name: string): Portal {
    const found = this.portals.get(name)
    if (!found?.isCursor) throw new SqlError('34000', `cursor "${name}" does not exist`)
    return found
  }

  private hold(bytes: number): void {
    if (bytes > 0 && this.bytes + bytes > sessionLimits.bytes)
      throw new SqlError('53200', 'out of memory', {
        detail: `The statements, portals and cursors of a connection may have ${sessionLimits.bytes} bytes.`,
        hint: 'Close those that are no longer used, or send DISCARD ALL.',
      })
    this.bytes += bytes
    this.parts.hold(bytes)
  }

  private drop(name: string, statement: Statement | undefined): void {
    if (!statement) return
    this.hold(-statement.bytes)
    this.statements.delete(name)
  }

  private keep(name: string, statement: Statement): void {
    if (name === '') this.drop('', this.statements.get(''))
    if (this.statements.has(name)) throw new SqlError('42P05', `prepared statement "${name}" already exists`)
    if (this.statements.size >= sessionLimits.statements)
      throw new SqlError('53400', `a connection may have at most ${sessionLimits.statements} prepared statements`, {
        hint: 'Close those that are no longer used, or send DISCARD ALL.',
      })
    this.hold(statement.bytes)
    this.statements.set(name, statement)
  }

  private async parse(fields: Fields): Promise<void> {
    const [name, text] = [fields.text(), fields.text()]
    const types = Array.from({ length: fields.uint16() }, () => {
      const oid = fields.int32()
      return typeOfOid(oid)
    })
    this.text = text
    const all = statementsOf(tokenize(text))
    if (all.length > 1) throw new SqlError('42601', 'cannot insert multiple commands into a prepared statement')
    const statement = all[0]
      ? await this.prepared(all[0], text, types)
      : { text, command: null, question: null, types: [], bytes: text.length }
    this.keep(name, statement)
    this.out.sign('1')
  }

  private async bind(fields: Fields): Promise<void> {
    const [portalName, name] = [fields.text(), fields.text()]
    const statement = this.named(name)
    this.text = statement.text
    const formats = Array.from({ length: fields.uint16() }, () => fields.int16())
    const count = fields.uint16()
    const values = Array.from({ length: count }, (_, i) => {
      const bytes = fields.bytes()
      if (bytes === null) return null
      const isBinary = (formats.length === 1 ? formats[0] : (formats[i] ?? 0)) === 1
      return isBinary ? textFromBinary(bytes, statement.types[i] ?? 'text') : bytes.toString('utf8')
    })
    const resultFormats = Array.from({ length: fields.uint16() }, () => fields.int16())
    fields.needEnd()
    if (count < statement.types.length)
      throw new SqlError(
        '08P01',
        `bind message supplies ${count} parameters, but prepared statement "${name}" requires ${statement.types.length}`,
      )
    if (portalName === '') await this.closePortals((_, open) => open === '')
    if (this.portals.has(portalName)) throw new SqlError('42P03', `cursor "${portalName}" already exists`)
    this.keepPortal(portalName, newPortal(statement, values, resultFormats, fields.length))
    this.out.sign('2')
  }

  private keepPortal(name: string, portal: Portal): void {
    if (this.portals.size >= sessionLimits.portals)
      throw new SqlError('53400', `a connection may have at most ${sessionLimits.portals} portals`)
    this.hold(portal.bytes)
    this.portals.set(name, portal)
  }

  private describe(fields: Fields): void {
    const kind = fields.byte()
    const name = fields.text()
    if (kind === 'S') {
      const statement = this.named(name)
      this.out.parameterDescription(statement.types.map(oidOf))
      this.describeColumns(statement, [])
      return
    }
    const portal = this.portals.get(name)
    if (!portal) throw new SqlError('34000', `portal "${name}" does not exist`)
    this.describeColumns(portal.statement, portal.formats)
  }

  private describeColumns(statement: Statement, formats: readonly number[]): void {
    const columns = statement.command || statement.question ? this.columnsOf(statement) : null
    if (columns) this.out.rowDescription(onWire(columns, formats))
    else this.out.sign('n')
  }

  private async execute(fields: Fields): Promise<void> {
    const name = fields.text()
    const most = fields.int32()
    const portal = this.portals.get(name)
    if (!portal) throw new SqlError('34000', `portal "${name}" does not exist`)
    this.text = portal.statement.text
    if (!portal.statement.command && !portal.statement.question) return this.out.sign('I')
    this.mustNotBeFailed(portal.statement.command)
    await this.run(portal, most > 0 ? most : Number.POSITIVE_INFINITY)
  }

  private async close(fields: Fields): Promise<void> {
    const kind = fields.byte()
    const name = fields.text()
    if (kind === 'S') this.drop(name, this.statements.get(name))
    else await this.closePortals((_, open) => open === name)
    this.out.sign('3')
  }

  private async closePortals(which: (portal: Portal, name: string) => boolean): Promise<void> {
    for (const [name, portal] of [...this.portals])
      if (which(portal, name)) {
        this.portals.delete(name)
        this.hold(-portal.bytes)
        await end(portal)
      }
  }

  private async run(portal: Portal, most: number): Promise<void> {
    const { command } = portal.statement
    if (command) return this.command(command, portal)
    await this.rows(portal, most, 'SELECT')
  }

  /** Asks once, and writes the next rows. */
  private async rows(portal: Portal, most: number, tag: string, formats = portal.formats): Promise<void> {
    if (portal.isOver) return this.out.complete(`${tag} 0`)
    await this.opened(portal)
    const { count, isSuspended } = await this.runStoppable(() => portal.answer!.write(this.out, formats, most), portal.stop!)
    if (isSuspended && !portal.isCursor) return this.out.sign('s')
    this.out.complete(`${tag} ${count}`)
    if (!isSuspended) {
      portal.isOver = true
      await end(portal)
    }
  }

  private async opened(portal: Portal): Promise<void> {
    if (portal.answer) return
    portal.stop = new AbortController()
    const { answer, notices } = await this.runStoppable(
      (signal) => ask(portal.statement.question!, portal.values, this.asker, signal),
      portal.stop,
    )
    portal.answer = answer
    for (const text of notices) this.notice(text)
  }

  private async table(
    rows: readonly (readonly string[])[],
    columns: readonly ResultColumn[],
    { formats }: Portal,
    tag: string,
  ): Promise<void> {
    const answer = new Answer(columns, groupsOfRows(rows), 'UTC')
    await answer.write(this.out, formats, Number.POSITIVE_INFINITY)
    this.out.complete(tag)
  }

  private async command(command: Command, portal: Portal): Promise<void> {
    const { settings } = this.parts
    switch (command.kind) {
      case 'set':
        if (command.value === null) settings.reset(command.name)
        else settings.set(command.name, command.value)
        return this.out.complete('SET')
      case 'show': {
        const rows = command.name === null ? settings.all().map(([name, value]) => [name, value, '']) : [[settings.get(command.name)]]
        return this.table(rows, this.columnsOf(portal.statement)!, portal, 'SHOW')
      }
      case 'reset':
        settings.reset(command.name ?? undefined)
        return this.out.complete('RESET')
      case 'begin':
        if (this.status === 'T')
          this.out.report('N', { S: 'WARNING', V: 'WARNING', C: '25001', M: 'there is already a transaction in progress' })
        this.status = 'T'
        return this.out.complete(command.tag)
      case 'commit':
      case 'rollback':
        return this.endTransaction(command)
      case 'nothing':
        return this.out.complete(command.tag)
      case 'discard':
        return this.discard(command.what)
      case 'deallocate':
        for (const [name, statement] of [...this.statements]) if (command.name === null || name === command.name) this.drop(name, statement)
        return this.out.complete(command.name === null ? 'DEALLOCATE ALL' : 'DEALLOCATE')
      case 'prepare': {
        const types = command.types.map((name) => typeNamed(name))
        this.keep(command.name, await this.prepared(command.query, this.text, types))
        return this.out.complete('PREPARE')
      }
      case 'execute': {
        const statement = this.named(command.name)
        const inner = newPortal(statement, command.values, portal.formats)
        try {
          return await this.run(inner, Number.POSITIVE_INFINITY)
        } finally {
          await end(inner)
        }
      }
      case 'declare':
        if (this.portals.has(command.name)) throw new SqlError('42P03', `cursor "${command.name}" already exists`)
        this.keepPortal(command.name, {
          ...newPortal({ ...portal.statement, command: null }, portal.values, [], portal.bytes + portal.statement.bytes),
          isCursor: true,
        })
        return this.out.complete('DECLARE CURSOR')
      case 'fetch':
        return this.fetch(command, portal)
      case 'close':
        if (command.name !== null) this.cursor(command.name)
        await this.closePortals(({ isCursor }, name) => isCursor && (command.name === null || name === command.name))
        return this.out.complete(command.name === null ? 'CLOSE CURSOR ALL' : 'CLOSE CURSOR')
      case 'explain':
        return this.table(
          [['A question in the language of Waymark. The API explains it with "explain": true.']],
          [one('QUERY PLAN')],
          portal,
          'EXPLAIN',
        )
    }
  }

  private async endTransaction({ kind, tag }: Extract<Command, { kind: 'begin' | 'commit' | 'rollback' }>): Promise<void> {
    if (this.status === 'I') this.out.report('N', { S: 'WARNING', V: 'WARNING', C: '25P01', M: 'there is no transaction in progress' })
    const isFailed = this.status === 'E'
    this.status = 'I'
    await this.closePortals(({ isCursor }) => isCursor)
    this.out.complete(kind === 'commit' && isFailed ? 'ROLLBACK' : tag)
  }

  private async fetch({ name, count, moves }: Extract<Command, { kind: 'fetch' }>, { formats }: Portal): Promise<void> {
    const cursor = this.cursor(name)
    if (!moves) return this.rows(cursor, count, 'FETCH', formats)
    if (cursor.isOver) return this.out.complete('MOVE 0')
    await this.opened(cursor)
    this.out.complete(`MOVE ${await this.runStoppable(() => cursor.answer!.skip(count), cursor.stop!)}`)
  }

  private async discard(what: string): Promise<void> {
    if (what === 'all') {
      for (const [name, statement] of [...this.statements]) this.drop(name, statement)
      await this.closePortals(() => true)
      this.parts.settings.reset()
    }
    this.out.complete(`DISCARD ${what.toUpperCase()}`)
  }
}

const typeNamed = (name: string): TypeName | undefined => {
  const known: Readonly<Record<string, TypeName>> = {
    int: 'int4',
    integer: 'int4',
    bigint: 'int8',
    text: 'text',
    boolean: 'bool',
    numeric: 'numeric',
    date: 'date',
    timestamp: 'timestamp',
    timestamptz: 'timestamptz',
    uuid: 'uuid',
  }
  return known[name]
}

const newPortal = (statement: Statement, values: readonly (string | null)[], formats: readonly number[], bytes = 0): Portal => ({
  statement,
  values,
  formats,
  bytes,
  isCursor: false,
  answer: null,
  stop: null,
  isOver: false,
})

async function end(portal: Portal): Promise<void> {
  portal.stop?.abort()
  await portal.answer?.end()
}
