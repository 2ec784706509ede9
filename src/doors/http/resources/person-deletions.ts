import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import { type DeletionCounts, mostDeletionEntries } from '../../../service/accounts/projects/deletions.ts'
import type { Deletion } from '../../../service/accounts/records.ts'
import { pageSchema } from '../../answers/pages.ts'
import { type DeletionAnswer, deletionSchema } from '../../answers/persons.ts'
import type { ProjectData } from '../app.ts'
import { failures } from '../errors.ts'
import { time } from '../present.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { defineResource, type ProjectVisit } from '../resource.ts'

/** Persons of one request. */
export const mostDeleted = 100_000
/** Persons of one record of the log: what is held in memory while they are deleted. */
const deletedAtOnce = 1_000

/** The persons of a request. */
export interface Selected {
  readonly by: DeletionAnswer['asked']['by']
  readonly cohort?: number
  /** Different ids that were given, or members. */
  readonly count: number
  readonly isComplete?: boolean
  /** How many of the given ids each person has, by its uuid. */
  readonly persons: ReadonlyMap<string, number>
}

/** Each once. */
export const onceEach = (uuids: readonly string[]): Selected['persons'] => new Map(uuids.map((uuid) => [uuid, 1]))

export function* portions<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

export function uuidsIn(given: readonly string[], most: number): string[] {
  if (given.length > most) throw failures.invalid(`At most ${most} persons at a time.`, 'ids')
  const wrong = given.find((id) => !isUuid(id))
  if (wrong !== undefined) throw failures.invalid('Persons are identified by their uuids.', 'ids')
  return [...new Set(given.map((id) => id.toLowerCase()))]
}

/** The deletion that a project is at: events are counted by what is gone after a part. */
const turns = new WeakMap<object, Map<number, Promise<unknown>>>()

function inTurn<T>({ app, project }: ProjectVisit, work: () => Promise<T>): Promise<T> {
  const { store } = app.accounts.context
  const ofStore = turns.get(store) ?? new Map<number, Promise<unknown>>()
  turns.set(store, ofStore)
  const before = ofStore.get(project.id) ?? Promise.resolve()
  const own = before.then(work, work)
  ofStore.set(project.id, own)
  const forget = () => {
    if (ofStore.get(project.id) === own) ofStore.delete(project.id)
  }
  own.then(forget, forget)
  return own
}

async function removePart(data: ProjectData, uuids: readonly string[], withEvents: boolean) {
  const before = withEvents ? await data.removedEvents() : 0
  const ids = await data.deletePersons(uuids, withEvents)
  return { ids, events: withEvents ? (await data.removedEvents()) - before : 0 }
}

/** Deletes persons in parts, and keeps a receipt of what is gone so far. */
export async function removePersons(visit: ProjectVisit, selected: Selected, withEvents: boolean): Promise<DeletionAnswer> {
  const { deletions } = visit.app.accounts
  const { user } = visit.caller
  const receipt = await deletions.begin(user, visit.project, {
    asked_by: selected.by,
    cohort_id: selected.cohort ?? null,
    asked: selected.count,
    with_events: withEvents,
    is_complete: selected.isComplete ?? true,
  })
  const counts: { -readonly [K in keyof DeletionCounts]: number } = { persons: 0, distinct_ids: 0, events: 0, not_found: 0 }
  const gone: string[] = []
  let found = 0
  for (const uuids of portions([...selected.persons.keys()], deletedAtOnce)) {
    const data = await visit.app.project(visit.project.id)
    const { ids, events } = await inTurn(visit, () => removePart(data, uuids, withEvents))
    counts.events += events
    for (const [i, some] of ids.entries()) {
      if (some === null) continue
      counts.persons++
      found += selected.persons.get(uuids[i]!)!
      counts.distinct_ids += some
      if (gone.length < mostDeletionEntries) gone.push(uuids[i]!)
    }
    await deletions.note(receipt, counts)
  }
  counts.not_found = selected.count - found
  return presentDeletion(visit, await deletions.finish(user, visit.project, receipt, counts, gone))
}

export async function presentDeletion({ app }: ProjectVisit, row: Deletion): Promise<DeletionAnswer> {
  const by = row.created_by_id === null ? undefined : await app.accounts.users.byId(row.created_by_id)
  return {
    id: row.id,
    asked: { by: row.asked_by as DeletionAnswer['asked']['by'], cohort: row.cohort_id, property: row.property, count: row.asked },
    with_events: row.with_events,
    persons: row.persons,
    distinct_ids: row.distinct_ids,
    events: row.events,
    not_found: row.not_found,
    is_complete: row.is_complete,
    created_at: time(row.created_at),
    created_by: by ? { id: by.id, email: by.email } : null,
    finished_at: row.finished_at && time(row.finished_at),
  }
}

export const personDeletions = defineResource({
  name: 'person_deletions',
  summary:
    'Receipts of deleted persons, of deleted values of properties, and of what is not kept any longer ([records.md](records.md#deleting))',
  path: '/api/projects/:project_id/person_deletions',
  reach: 'project',
  object: 'person',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The receipts of a project, the newest first',
      queryParameters: paging,
      answer: pageSchema(deletionSchema),
      handle: async (visit) => {
        const { count, results } = await visit.app.accounts.deletions.page(visit.project, pageBounds(visit.query))
        return pageWith(await Promise.all(results.map((one) => presentDeletion(visit, one))), count, visit)
      },
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One receipt',
      answer: deletionSchema,
      handle: async (visit) => {
        const found = await visit.app.accounts.deletions.find(visit.project, visit.params.id ?? '')
        if (!found) throw failures.notFound()
        return presentDeletion(visit, found)
      },
    }),
  ],
})
