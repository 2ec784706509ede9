import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, log } from '../context.ts'
import { check, flag, integer, text } from '../fields.ts'
import type { AccountTables, HistoricalImport, ProjectRecord } from '../records.ts'
import { notAllowed, notFound } from '../refusals.ts'

// The import that a project requested, and what the operator approved. On a self-hosted server the user is the operator: imports are
// approved and unlimited by default. On a hosted server they are limited until the operator approves.

/** Beyond these an import needs approval. */
const importDefaults = { total_events: 20_000_000, events_per_minute: 10_000 } as const

export interface ImportLimits {
  /** Null: no limit. */
  readonly total_events: number | null
  readonly events_per_minute: number | null
}

const amount = () => integer(1).nullable()
export const historicalImportInput = z.object({
  source: text({ max: 400, blank: true }),
  method: text({ max: 400, blank: true }),
  total_events: amount(),
  events_per_minute: amount(),
  is_approved: flag(),
})
const change = historicalImportInput.partial()

const largestCount = 2_147_483_647
/** After a crash the count may lack at most this many. */
const countEvery = 1_000

export const limitsOf = (record: HistoricalImport): ImportLimits =>
  record.is_approved ? { total_events: record.total_events, events_per_minute: record.events_per_minute } : importDefaults
const unsaid = (context: AccountContext, projectId: number): HistoricalImport => ({
  project_id: projectId,
  source: '',
  method: '',
  total_events: null,
  events_per_minute: null,
  is_approved: !context.settings().isHosted,
  approved_by: null,
  approved_at: null,
  imported_events: 0,
})
const stored = ({ store }: AccountContext, projectId: number) => store.read.historical_imports.first({ project_id: projectId })

export const createHistoricalImports = (context: AccountContext) => {
  const { store } = context
  const uncounted = new Map<number, number>()
  const withUncounted = (record: HistoricalImport): HistoricalImport => ({
    ...record,
    imported_events: Math.min(record.imported_events + (uncounted.get(record.project_id) ?? 0), largestCount),
  })
  const of = async (projectId: number): Promise<HistoricalImport> =>
    withUncounted((await stored(context, projectId)) ?? unsaid(context, projectId))

  const note = (projectId: number, events: number): number => {
    const sum = (uncounted.get(projectId) ?? 0) + events
    uncounted.set(projectId, sum)
    return sum
  }
  const write = async (projectId: number): Promise<void> => {
    const events = uncounted.get(projectId) ?? 0
    uncounted.delete(projectId)
    const work = async (tables: AccountTables) => {
      if (!(await tables.projects.first({ id: projectId }))) return
      const known = await tables.historical_imports.first({ project_id: projectId })
      const sum = Math.min((known?.imported_events ?? 0) + events, largestCount)
      if (known) await tables.historical_imports.update({ project_id: projectId }, { imported_events: sum })
      else await tables.historical_imports.insert({ ...unsaid(context, projectId), imported_events: sum })
    }
    try {
      await store.write(work)
    } catch (error) {
      note(projectId, events)
      throw error
    }
  }

  /** `by` null: the operator. */
  const save = async (by: ActingMember | null, project: ProjectRecord, given: z.infer<typeof change>): Promise<HistoricalImport> => {
    const work = async (tables: AccountTables) => {
      if (!(await tables.projects.first({ id: project.id }))) throw notFound()
      const known = await tables.historical_imports.first({ project_id: project.id })
      const before = known ?? unsaid(context, project.id)
      const isCustomer = by !== null && context.settings().isHosted
      if (isCustomer && given.is_approved) throw notAllowed('Imports are approved by the operator of this server.')
      // The approval does not cover what is requested now.
      const isMore = given.total_events !== undefined || given.events_per_minute !== undefined
      const isApproved = given.is_approved ?? (before.is_approved && !(isCustomer && isMore))
      const isDecided = given.is_approved !== undefined || isApproved !== before.is_approved
      const after: HistoricalImport = {
        ...before,
        ...given,
        is_approved: isApproved,
        ...(isDecided && {
          approved_by: isApproved ? (by?.user.email ?? 'the operator') : null,
          approved_at: isApproved ? context.clock() : null,
        }),
      }
      if (known) await tables.historical_imports.update({ project_id: project.id }, after)
      else await tables.historical_imports.insert(after)
      const changes = changesOf('HistoricalImport', before, { ...given, is_approved: isApproved })
      if (changes.length > 0)
        await log(context, tables, {
          by: by?.user ?? null,
          organization_id: project.organization_id,
          project_id: project.id,
          scope: 'HistoricalImport',
          item_id: project.id,
          activity: 'updated',
          name: project.name,
          changes,
        })
      return after
    }
    return withUncounted(await (by ? writeAs(context, by, work) : store.write(work)))
  }

  return {
    of,
    update: (by: ActingMember | null, project: ProjectRecord, body: unknown) => save(by, project, check(change, body)),
    /** Missing fields are reset to their defaults. */
    replace: (by: ActingMember | null, project: ProjectRecord, body: unknown) => {
      const { source = '', method = '', total_events = null, events_per_minute = null, is_approved } = check(change, body)
      return save(by, project, { source, method, total_events, events_per_minute, ...(is_approved !== undefined && { is_approved }) })
    },
    /** Counts imported events towards the total. The count is visible immediately, and stored at intervals. */
    count: async (projectId: number, events: number): Promise<void> => {
      if (events === 0) return
      if (note(projectId, events) >= countEvery) await write(projectId)
    },
    /** Stores the counts. */
    flush: async (): Promise<void> => {
      for (const projectId of [...uncounted.keys()]) await write(projectId)
    },
  }
}
