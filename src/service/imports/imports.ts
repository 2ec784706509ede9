import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import type { RemovalCounts } from '../../language/catalog/removals.ts'
import { type AccountContext, log } from '../accounts/context.ts'
import { check, choice, integer, text } from '../accounts/fields.ts'
import { definedOf, type MemberInProject, writeIn } from '../accounts/project-writes.ts'
import type { AccountTables, Import, ProjectRecord } from '../accounts/records.ts'
import { mustFind } from '../accounts/refusals.ts'

// What was imported: when, by whom, from which file, and what became of it. An import can be undone: the log says which events are of it, and a record of the
// log removes them.

export const importInput = z.object({
  file: text({ max: 400 }).meta({ description: 'What was read, as people recognize it' }),
  format: text({ max: 40, blank: true }).optional(),
})
export const importChange = z.object({
  status: choice(['done', 'stopped']).optional().meta({ description: 'How it has ended: no more events are taken' }),
  rows: integer(0).optional(),
  unreadable: integer(0).optional(),
})

export interface ImportedBatch {
  readonly accepted: number
  readonly duplicates: number
}

interface Parts {
  readonly context: AccountContext
  remove(project: number, id: string): Promise<RemovalCounts>
  report(error: unknown): void
}

/** An undo that is done within this time is answered as a whole. */
const answeredWithinMs = 1_500
const largestCount = 2_147_483_647
const bounded = (count: number): number => Math.min(count, largestCount)
const longestError = 1_000

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })

export class Imports {
  private readonly parts: Parts
  /** Batches that are being stored, by import. */
  private readonly entering = new Map<string, Set<Promise<unknown>>>()
  private readonly looking = new Map<string, Promise<unknown>>()
  private readonly undoing = new Map<string, Promise<void>>()

  constructor(parts: Parts) {
    this.parts = parts
  }

  private get imports() {
    return this.parts.context.store.read.imports
  }

  private stored({ id: project_id }: Pick<ProjectRecord, 'id'>, id: string): Promise<Import> {
    return mustFind(this.imports.first({ id, project_id }))
  }

  async list({ id: project_id }: ProjectRecord, page: { readonly limit: number; readonly offset: number }) {
    const rows = await this.imports.find({ project_id }, { orderBy: [{ column: 'created_at', isDescending: true }], ...page })
    return { rows: rows.map((one) => this.seen(one)), count: await this.imports.count({ project_id }) }
  }

  /** Events that were removed with the imports that were undone, of those whose records are kept. */
  async removed({ id: project_id }: Pick<ProjectRecord, 'id'>): Promise<number> {
    const undone = await this.imports.find({ project_id, status: 'undone' })
    return undone.reduce((sum, { removed_events: events }) => sum + (events ?? 0), 0)
  }

  async find(project: ProjectRecord, id: string): Promise<Import> {
    return this.seen(await this.stored(project, id))
  }

  begin(place: MemberInProject, body: unknown): Promise<Import> {
    return writeIn(this.parts.context, place, async (tables) => {
      const record = this.made(place.project, body, place.by.user.id)
      await tables.imports.insert(record)
      await this.log(tables, place, record, 'created')
      return record
    })
  }

  /** The same by the operator, at the command line. */
  beginByOperator(project: ProjectRecord, body: unknown): Promise<Import> {
    return this.parts.context.store.write(async (tables) => {
      const record = this.made(project, body, null)
      await tables.imports.insert(record)
      return record
    })
  }

  /** Whether the events of these imports are not all there any more: their files have to be read from the beginning. */
  async areUndone({ id: project_id }: Pick<ProjectRecord, 'id'>, ids: readonly string[]): Promise<boolean> {
    const found = await this.imports.find({ project_id, id: [...ids] })
    return found.some(({ status }) => status === 'undoing' || status === 'undone')
  }

  /** Stores a batch of an import that is running; null if it is not. */
  async take<A extends ImportedBatch>(
    project: Pick<ProjectRecord, 'id'>,
    id: string,
    work: () => Promise<A | null>,
  ): Promise<{ readonly answer: A | null } | null> {
    const { entering } = this
    const of = entering.get(id) ?? new Set()
    entering.set(id, of)
    const batch = this.takeIn(project, id, work)
    of.add(batch)
    try {
      return await batch
    } finally {
      of.delete(batch)
      if (of.size === 0) entering.delete(id)
    }
  }

  private async takeIn<A extends ImportedBatch>({ id: project_id }: Pick<ProjectRecord, 'id'>, id: string, work: () => Promise<A | null>) {
    // One look after the other: batches that are sent together stay in their order.
    const before = this.looking.get(id) ?? Promise.resolve()
    const looked = before.catch(() => undefined).then(() => this.imports.first({ id, project_id }))
    this.looking.set(id, looked)
    const record = await looked
    if (this.looking.get(id) === looked) this.looking.delete(id)
    if (record?.status !== 'running') return null
    const answer = await work().catch((error: unknown) => {
      // Undone at another server since then.
      if (error instanceof WaymarkError && error.code === 'import-over') return undefined
      throw error
    })
    if (answer === undefined) return null
    if (answer)
      await this.change(id, ({ events, duplicates }) => ({
        events: bounded(events + answer.accepted),
        duplicates: bounded(duplicates + answer.duplicates),
      }))
    return { answer }
  }

  async finish(project: ProjectRecord, id: string, body: unknown): Promise<Import> {
    const { status, ...counts } = definedOf(check(importChange, body))
    await this.stored(project, id)
    await this.change(id, (before) => ({
      ...counts,
      ...(status !== undefined && before.status === 'running' && { status, finished_at: this.parts.context.clock() }),
    }))
    return this.stored(project, id)
  }

  /** Answers when it is done, or soon. An import that is undone stays so. */
  async undo(place: MemberInProject, id: string): Promise<Import> {
    const { context } = this.parts
    const before = await this.stored(place.project, id)
    if (before.status === 'undone') return before
    const isAgain = before.status === 'undoing'
    if (!isAgain)
      await writeIn(context, place, async (tables) => {
        const now = await mustFind(tables.imports.first({ id, project_id: place.project.id }))
        if (now.status === 'undoing' || now.status === 'undone') return
        const finished_at = now.finished_at ?? context.clock()
        await tables.imports.update({ id }, { status: 'undoing', undone_by_id: place.by.user.id, finished_at })
        await this.log(tables, place, now, 'deleted')
      })
    await Promise.race([this.carryOn(before, isAgain), pause(answeredWithinMs)])
    return this.stored(place.project, id)
  }

  /** Waits for what is being undone. */
  async close(): Promise<void> {
    await Promise.allSettled(this.undoing.values())
  }

  /** One that another process has not finished is carried on with. */
  private seen(record: Import): Import {
    if (record.status === 'undoing') void this.carryOn(record, true)
    return record
  }

  private carryOn(record: Import, isAgain: boolean): Promise<void> {
    const known = this.undoing.get(record.id)
    if (known) return known
    const work = this.carryOut(record, isAgain).finally(() => this.undoing.delete(record.id))
    this.undoing.set(record.id, work)
    return work
  }

  /** Repeated after a process that ended meanwhile: what is left is removed. */
  private async carryOut({ id, project_id }: Import, isAgain: boolean): Promise<void> {
    const { context, remove, report } = this.parts
    try {
      await Promise.allSettled(this.entering.get(id) ?? [])
      const counts = await remove(project_id, id)
      const undone = ({ events }: Import): Partial<Import> => ({
        status: 'undone',
        removed_events: bounded(isAgain ? Math.max(events, counts.events) : counts.events),
        removed_persons: bounded(counts.persons),
        latest_error: null,
        undone_at: context.clock(),
      })
      await this.change(id, (before) => (before.status === 'undoing' ? undone(before) : null))
    } catch (error) {
      report(error)
      const message = error instanceof Error ? error.message : String(error)
      await this.change(id, () => ({ latest_error: message.slice(0, longestError) })).catch(report)
    }
  }

  private async change(id: string, change: (before: Import) => Partial<Import> | null): Promise<void> {
    await this.parts.context.store.write(async (tables) => {
      const before = await tables.imports.first({ id })
      const after = before && change(before)
      if (after) await tables.imports.update({ id }, after)
    })
  }

  private log(tables: AccountTables, { project, by }: MemberInProject, { id, file }: Import, activity: string): Promise<void> {
    return log(this.parts.context, tables, {
      by: by.user,
      organization_id: project.organization_id,
      project_id: project.id,
      scope: 'HistoricalImport',
      item_id: id,
      activity,
      name: file,
    })
  }

  private made(project: ProjectRecord, body: unknown, userId: number | null): Import {
    const { file, format = '' } = check(importInput, body)
    return {
      id: randomUUID(),
      project_id: project.id,
      file,
      format,
      status: 'running',
      rows: null,
      unreadable: null,
      events: 0,
      duplicates: 0,
      removed_events: null,
      removed_persons: null,
      latest_error: null,
      created_by_id: userId,
      created_at: this.parts.context.clock(),
      finished_at: null,
      undone_by_id: null,
      undone_at: null,
    }
  }
}
