import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { RemovalCounts } from '../../language/catalog/removals.ts'
import { type AccountContext, log } from '../accounts/context.ts'
import { check, choice, integer, text } from '../accounts/fields.ts'
import { definedOf, type MemberInProject, writeIn } from '../accounts/project-writes.ts'
import type { AccountTables, Import, ProjectRecord } from '../accounts/records.ts'
import { invalid, mustFind } from '../accounts/refusals.ts'

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

export const createImports = ({ context, remove, report }: Parts) => {
  const { store, clock } = context
  const { read } = store
  /** Batches that are being stored, by import. */
  const entering = new Map<string, Set<Promise<unknown>>>()
  const undoing = new Map<string, Promise<void>>()

  const find = (project: Pick<ProjectRecord, 'id'>, id: string) => mustFind(read.imports.first({ id, project_id: project.id }))

  const logged = (tables: AccountTables, { project, by }: MemberInProject, record: Import, activity: string) =>
    log(context, tables, {
      by: by.user,
      organization_id: project.organization_id,
      project_id: project.id,
      scope: 'HistoricalImport',
      item_id: record.id,
      activity,
      name: record.file,
    })

  const made = (project: ProjectRecord, body: unknown, userId: number | null): Import => {
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
      created_at: clock(),
      finished_at: null,
      undone_by_id: null,
      undone_at: null,
    }
  }

  const changed = async (id: string, change: (before: Import) => Partial<Import> | null): Promise<void> => {
    await store.write(async (tables) => {
      const before = await tables.imports.first({ id })
      const after = before && change(before)
      if (after) await tables.imports.update({ id }, after)
    })
  }

  /** Repeated after a process that ended meanwhile: what is left is removed. */
  const carryOut = async (record: Import, isAgain: boolean): Promise<void> => {
    try {
      await Promise.allSettled(entering.get(record.id) ?? [])
      const counts = await remove(record.project_id, record.id)
      const undone = ({ events }: Import): Partial<Import> => ({
        status: 'undone',
        removed_events: bounded(isAgain ? Math.max(events, counts.events) : counts.events),
        removed_persons: bounded(counts.persons),
        latest_error: null,
        undone_at: clock(),
      })
      await changed(record.id, (before) => (before.status === 'undoing' ? undone(before) : null))
    } catch (error) {
      report(error)
      const message = error instanceof Error ? error.message : String(error)
      await changed(record.id, () => ({ latest_error: message.slice(0, longestError) })).catch(report)
    }
  }

  const carryOn = (record: Import, isAgain: boolean): Promise<void> => {
    const known = undoing.get(record.id)
    if (known) return known
    const work = carryOut(record, isAgain).finally(() => undoing.delete(record.id))
    undoing.set(record.id, work)
    return work
  }

  /** One that another process has not finished is carried on with. */
  const seen = (record: Import): Import => {
    if (record.status === 'undoing') void carryOn(record, true)
    return record
  }

  return {
    async list(project: ProjectRecord, page: { readonly limit: number; readonly offset: number }) {
      const where = { project_id: project.id }
      const rows = await read.imports.find(where, { orderBy: [{ column: 'created_at', isDescending: true }], ...page })
      return { rows: rows.map(seen), count: await read.imports.count(where) }
    },

    find: async (project: ProjectRecord, id: string): Promise<Import> => seen(await find(project, id)),

    begin: (place: MemberInProject, body: unknown): Promise<Import> =>
      writeIn(context, place, async (tables) => {
        const record = made(place.project, body, place.by.user.id)
        await tables.imports.insert(record)
        await logged(tables, place, record, 'created')
        return record
      }),

    /** The same by the operator, at the command line. */
    beginByOperator: (project: ProjectRecord, body: unknown): Promise<Import> =>
      store.write(async (tables) => {
        const record = made(project, body, null)
        await tables.imports.insert(record)
        return record
      }),

    /** Whether the events of these imports are not all there any more: their files have to be read from the beginning. */
    async areUndone(project: Pick<ProjectRecord, 'id'>, ids: readonly string[]): Promise<boolean> {
      const found = await read.imports.find({ project_id: project.id, id: [...ids] })
      return found.some(({ status }) => status === 'undoing' || status === 'undone')
    },

    /** Stores a batch of an import that is running; null if it is not. */
    async take<A extends ImportedBatch>(
      project: Pick<ProjectRecord, 'id'>,
      id: string,
      work: () => Promise<A | null>,
    ): Promise<{ readonly answer: A | null } | null> {
      const of = entering.get(id) ?? new Set()
      entering.set(id, of)
      const batch = (async () => {
        const record = await read.imports.first({ id, project_id: project.id })
        if (record?.status !== 'running') return null
        const answer = await work()
        if (answer)
          await changed(id, ({ events, duplicates }) => ({
            events: bounded(events + answer.accepted),
            duplicates: bounded(duplicates + answer.duplicates),
          }))
        return { answer }
      })()
      of.add(batch)
      try {
        return await batch
      } finally {
        of.delete(batch)
        if (of.size === 0) entering.delete(id)
      }
    },

    /** `place` null: the operator. */
    async finish(project: ProjectRecord, id: string, body: unknown): Promise<Import> {
      const { status, ...counts } = definedOf(check(importChange, body))
      await find(project, id)
      await changed(id, (before) => ({
        ...counts,
        ...(status !== undefined && before.status === 'running' && { status, finished_at: clock() }),
      }))
      return find(project, id)
    },

    /** Answers when it is done, or soon. An import that is undone stays so. */
    async undo(place: MemberInProject, id: string): Promise<Import> {
      const before = await find(place.project, id)
      if (before.status === 'undone') return before
      if (before.status !== 'undoing')
        await writeIn(context, place, async (tables) => {
          const now = await mustFind(tables.imports.first({ id, project_id: place.project.id }))
          if (now.status === 'undoing' || now.status === 'undone') return
          await tables.imports.update(
            { id },
            { status: 'undoing', undone_by_id: place.by.user.id, finished_at: now.finished_at ?? clock() },
          )
          await logged(tables, place, now, 'deleted')
        })
      await Promise.race([carryOn(before, before.status === 'undoing'), pause(answeredWithinMs)])
      return find(place.project, id)
    },

    mustBeId(id: string): string {
      if (!/^[0-9a-f-]{36}$/.test(id)) throw invalid('An import has a uuid as its id.', 'id')
      return id
    },

    /** Waits for what is being undone. */
    close: async (): Promise<void> => {
      await Promise.allSettled(undoing.values())
    },
  }
}
export type Imports = ReturnType<typeof createImports>
