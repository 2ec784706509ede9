import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WaymarkError } from '../../errors/errors.ts'
import type { Attached, AttachedTable } from '../../language/catalog/attached.ts'
import { type Copy, CopyRefusal, lastCopy, makeCopy } from './copies.ts'
import { describedTable } from './describe.ts'
import { type FolderTable, tablesOfFolder } from './folder-tables.ts'
import type { Attachment } from './options.ts'
import { copyPostgres } from './postgres-copy.ts'
import { copyBucket } from './s3-copy.ts'

// What is attached, as it is now: files of folders are looked at before each question, copies are made again from time to time.

export interface AttachedHome {
  readonly attachments: readonly Attachment[]
  /** For copies. Null: there is no data directory. */
  readonly dataDir: string | null
  readonly everyMs: number
  readonly clock: () => Date
  organizations(): Promise<number>
  report(error: unknown): void
}

interface Held {
  readonly tables: readonly AttachedTable[]
  /** Why there are no tables. */
  readonly problem?: string
}
interface State {
  readonly attachment: Attachment
  held: Held
  copy: Copy | null
  /** Why the last copy could not be made. */
  failure: string | null
}

const nothing: Held = { tables: [] }
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  return error instanceof WaymarkError ? error.detail : error.message || (code ?? error.name)
}
/** For those who ask: no host, and no folder. */
function reasonOf(error: unknown): string {
  if (error instanceof CopyRefusal || error instanceof WaymarkError) return messageOf(error)
  const { code, name } = error as NodeJS.ErrnoException
  return `It could not be copied (${code ?? name}). The log of the server says more.`
}
const shownAge = (copy: Copy | null) => (copy ? `its copy of ${copy.copiedAt} is used` : 'there is no copy yet')

export class AttachedTables {
  private readonly home: AttachedHome
  private readonly states: readonly State[]
  private readonly closing = new AbortController()
  private readonly shown = new Map<string, Attached>()
  private isForAll = false
  private timer: NodeJS.Timeout | undefined
  private copying: Promise<void> = Promise.resolve()
  private running: Promise<void> | null = null
  private next: Promise<void> | null = null

  private constructor(home: AttachedHome) {
    this.home = home
    this.states = home.attachments.map((attachment) => ({ attachment, held: nothing, copy: null, failure: null }))
  }

  /** Refuses folders that are missing. Copies are begun behind everything else. */
  static async open(home: AttachedHome): Promise<AttachedTables> {
    for (const { name, kind, from } of home.attachments) {
      const attr = `attach__${name}`
      if (kind === 'folder' && !(await stat(from).catch(() => null))?.isDirectory())
        throw new WaymarkError('validation-failed', { message: `The attached ${name} is not a folder that can be read: ${from}.`, attr })
      if (kind !== 'folder' && home.dataDir === null)
        throw new WaymarkError('validation-failed', { message: `The attached ${name} needs a data directory, for its copy.`, attr })
    }
    const made = new AttachedTables(home)
    for (const state of made.states)
      if (state.attachment.kind !== 'folder') state.copy = await lastCopy(made.homeOf(state)).catch(() => null)
    return made
  }

  /** Looks at the files, and begins to make copies: now those that are due. */
  begin(): void {
    const { everyMs, clock } = this.home
    const round = async () => {
      const due = this.copies.filter(({ copy }) => !copy || clock().getTime() - Date.parse(copy.copiedAt) >= everyMs)
      for (const state of due) await this.copy(state)
    }
    const again = () => {
      if (this.closing.signal.aborted) return
      this.copying = round().catch(this.home.report)
      void this.copying.finally(() => {
        if (this.closing.signal.aborted) return
        const hasFailed = this.copies.some(({ failure }) => failure !== null)
        this.timer = setTimeout(again, Math.min(everyMs, hasFailed ? retryMs : longestTimerMs)).unref()
      })
    }
    if (this.copies.length > 0) again()
    // The first question need not wait for what is in the files.
    void this.refreshed().catch((error) => this.closing.signal.aborted || this.home.report(error))
  }

  /** Resolves when each copy was tried once more: for commands. */
  async copied(): Promise<void> {
    await this.copying
  }

  /** What a project may read, as it was when `refreshed` resolved. Undefined: nothing. */
  of(project: number): Attached | undefined {
    const states = this.states.filter(({ attachment: { projects } }) => (projects ? projects.includes(project) : this.isForAll))
    if (states.length === 0) return undefined
    const key = states.map(({ attachment }) => attachment.name).join(',')
    const known = this.shown.get(key)
    if (known) return known
    const made: Attached = {
      tables: Object.fromEntries(states.flatMap(({ held }) => held.tables.map((table) => [table.name, table]))),
      unavailable: Object.fromEntries(
        states.flatMap(({ attachment: { name }, held }) => (held.problem === undefined ? [] : [[name, held.problem]])),
      ),
      properties: states.flatMap(({ attachment }) => attachment.properties),
      version: createHash('sha256')
        .update(JSON.stringify(states.map(({ held }) => held)))
        .digest('base64'),
    }
    this.shown.set(key, made)
    return made
  }

  /** Looks at the files. A look that began before the call may have missed a change, so those who wait for one share the next. */
  refreshed(): Promise<void> {
    if (this.states.length === 0) return Promise.resolve()
    this.next ??= (this.running?.catch(() => undefined) ?? Promise.resolve()).then(() => {
      this.running = this.next
      this.next = null
      return this.look().finally(() => {
        this.running = null
      })
    })
    return this.next
  }

  async close(): Promise<void> {
    this.closing.abort(new WaymarkError('closed', {}))
    clearTimeout(this.timer)
    await this.copying
    await this.running?.catch(() => undefined)
  }

  private get copies(): readonly State[] {
    return this.states.filter(({ attachment }) => attachment.kind !== 'folder')
  }

  private homeOf({ attachment }: State): string {
    return join(this.home.dataDir!, 'attached', attachment.name)
  }

  private async look(): Promise<void> {
    this.isForAll = (await this.home.organizations()) <= 1
    const held = await Promise.all(this.states.map((state) => this.lookAt(state)))
    let hasChanged = this.shown.size === 0
    for (const [i, state] of this.states.entries()) {
      hasChanged ||= JSON.stringify(state.held) !== JSON.stringify(held[i])
      state.held = held[i]!
    }
    if (hasChanged) this.shown.clear()
  }

  private async lookAt(state: State): Promise<Held> {
    const { attachment, copy, failure } = state
    const folder = attachment.kind === 'folder' ? attachment.from : copy?.folder
    if (folder === undefined) return { tables: [], problem: failure ?? 'it is being copied for the first time.' }
    let found: readonly FolderTable[]
    try {
      found = await tablesOfFolder(folder)
    } catch (error) {
      return { tables: [], problem: `its folder cannot be read (${(error as NodeJS.ErrnoException).code ?? messageOf(error)}).` }
    }
    const known = new Map(state.held.tables.map((table) => [table.name, table]))
    const tables: AttachedTable[] = []
    for (const one of found) {
      const before = known.get(`${attachment.name}.${one.name}`)
      const isKnown = before !== undefined && before.version === one.version
      const table = isKnown ? before : await describedTable(folder, attachment.name, one, attachment.properties, this.closing.signal)
      tables.push(copy ? asOfCopy(table, copy, failure) : table)
    }
    return { tables }
  }

  private async copy(state: State): Promise<void> {
    const { name, kind, from } = state.attachment
    const { signal } = this.closing
    if (signal.aborted) return
    try {
      const fill = (folder: string) => (kind === 's3' ? copyBucket(from, folder, signal) : copyPostgres(from, folder, signal))
      state.copy = await makeCopy(this.homeOf(state), this.home.clock(), fill)
      state.failure = null
    } catch (error) {
      if (signal.aborted) return
      state.failure = reasonOf(error)
      this.home.report(new Error(`The attached ${name} cannot be copied, and ${shownAge(state.copy)}: ${messageOf(error)}`))
    }
  }
}

const longestTimerMs = 24 * 3_600_000
/** After a failure. */
const retryMs = 5 * 60_000

const asOfCopy = ({ overdue: _, ...table }: AttachedTable, { copiedAt: asOf }: Copy, failure: string | null): AttachedTable => ({
  ...table,
  asOf,
  ...(failure !== null && { overdue: failure }),
})
