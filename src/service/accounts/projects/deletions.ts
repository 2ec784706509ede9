import { type AccountContext, log } from '../context.ts'
import type { AccountTables, Deletion, ProjectRecord, User } from '../records.ts'

export interface AskedDeletion extends Pick<Deletion, 'asked_by' | 'cohort_id' | 'asked' | 'with_events' | 'is_complete'> {
  readonly property?: string
}
export type DeletionCounts = Pick<Deletion, 'persons' | 'distinct_ids' | 'events' | 'not_found'>

/** Deleted persons that have an entry of their own in the activity log. Of more, one entry has their number: others must find their entries, too. */
const mostEntries = 1_000

/** Receipts of deleted persons. */
export const createDeletions = (context: AccountContext) => ({
  /** Written before the first person is deleted: what a killed process had deleted by then is known. */
  async begin(by: User, project: ProjectRecord, asked: AskedDeletion): Promise<Deletion> {
    const counts: DeletionCounts = { persons: 0, distinct_ids: 0, events: 0, not_found: 0 }
    const id = context.newId()
    const row = {
      id,
      project_id: project.id,
      created_by_id: by.id,
      property: null,
      ...asked,
      ...counts,
      created_at: context.clock(),
      finished_at: null,
    }
    await context.store.write((tables) => tables.deletions.insert(row))
    return row
  },

  note: (receipt: Deletion, counts: DeletionCounts): Promise<void> =>
    context.store.write(async (tables) => void (await tables.deletions.update({ id: receipt.id }, counts))),

  /** With its entries in the activity log. `uuids`: the deleted persons, as far as they are few. */
  async finish(by: User, project: ProjectRecord, receipt: Deletion, counts: DeletionCounts, uuids: readonly string[]): Promise<Deletion> {
    const finished = { ...receipt, ...counts, finished_at: context.clock() }
    const field = (name: string, after: string | number) =>
      ({ type: 'Person', action: 'changed', field: name, before: null, after }) as const
    const events = field('events', receipt.with_events ? 'deleted' : 'kept')
    const entry = {
      by,
      organization_id: project.organization_id,
      project_id: project.id,
      scope: 'Person' as const,
      activity: 'deleted' as const,
    }
    const { persons } = counts
    await context.store.write(async (tables) => {
      await tables.deletions.update({ id: receipt.id }, { ...counts, finished_at: finished.finished_at })
      if (persons > mostEntries)
        await log(context, tables, {
          ...entry,
          item_id: receipt.id,
          name: `${persons} persons`,
          changes: [events, field('persons', persons), field('receipt', receipt.id)],
        })
      else
        for (const uuid of uuids)
          await log(context, tables, { ...entry, item_id: uuid, name: uuid, changes: [events, field('receipt', receipt.id)] })
    })
    return finished
  },

  /** Of a property. Its name in the log of activities is the definition's. */
  async finishProperty(
    by: User,
    project: ProjectRecord,
    receipt: Deletion,
    counts: DeletionCounts,
    definition: { id: string; name: string },
  ) {
    const finished = { ...receipt, ...counts, finished_at: context.clock() }
    const field = (name: string, after: string | number) =>
      ({ type: 'PropertyDefinition', action: 'changed', field: name, before: null, after }) as const
    await context.store.write(async (tables) => {
      await tables.deletions.update({ id: receipt.id }, { ...counts, finished_at: finished.finished_at })
      await log(context, tables, {
        by,
        organization_id: project.organization_id,
        project_id: project.id,
        scope: 'PropertyDefinition',
        item_id: definition.id,
        name: definition.name,
        activity: 'updated',
        changes: [field('values', 'deleted'), field('receipt', receipt.id)],
      })
    })
    return finished
  },

  /** What a project has not kept any longer. Nobody asked for it today, so the log of activities has only the setting. */
  retained: (
    tables: AccountTables,
    project: Pick<ProjectRecord, 'id'>,
    { events, persons }: Pick<DeletionCounts, 'events' | 'persons'>,
  ) => {
    const now = context.clock()
    return tables.deletions.insert({
      id: context.newId(),
      project_id: project.id,
      created_by_id: null,
      asked_by: 'retention',
      cohort_id: null,
      property: null,
      asked: 0,
      with_events: true,
      persons,
      distinct_ids: 0,
      events,
      not_found: 0,
      is_complete: true,
      created_at: now,
      finished_at: now,
    })
  },

  async page(project: ProjectRecord, bounds: { readonly limit: number; readonly offset: number }) {
    const { deletions } = context.store.read
    const where = { project_id: project.id }
    return { count: await deletions.count(where), results: await deletions.find(where, { newestFirst: 'created_at', ...bounds }) }
  },

  find: (project: ProjectRecord, id: string): Promise<Deletion | undefined> =>
    context.store.read.deletions.first({ id, project_id: project.id }),
})

export { mostEntries as mostDeletionEntries }
