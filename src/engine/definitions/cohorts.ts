import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { jsonText } from '../../lib/text/json-text.ts'
import { mustFit } from '../../limits/definitions.ts'
import { cohortFiltersSchema, cohortMembers, cohortsNamed } from '../../queries/filters/cohort-definition.ts'
import { filtersOfGroups } from './cohort-groups.ts'
import { cohortRefresher, type RefreshCounts } from './cohort-refresh.ts'
import { membersOf } from './members.ts'
import { check, freeId, oneAtATime } from './records.ts'
import type { DefinitionRecord, DefinitionStore } from './store.ts'
import type { StoredCohort } from './stored-cohort.ts'

const fieldsSchema = z.looseObject({
  name: z.string().trim().min(1, { error: 'A cohort needs a name.' }).max(400),
  description: z.string().nullish(),
  is_static: z.boolean().default(false),
  filters: cohortFiltersSchema.nullish(),
  /** The older format of filters. */
  groups: z.array(z.looseObject({}), { error: 'Groups must be a list of objects.' }).nullish(),
})

const cohortFieldFilters = fieldsSchema.pick({ filters: true })

/** A cohort as callers write it: a condition in `filters`, or a list of members. */
export interface CohortInput {
  readonly name: string
  readonly description?: string | null
  readonly is_static?: boolean
  readonly filters?: object | null
  /** Uuids of persons, for a static cohort. */
  readonly person_ids?: readonly string[] | null
  readonly distinct_ids?: readonly string[] | null
  readonly csv?: string | null
  /** The column of the CSV. Default: `distinct_id`, `person_id` or the property, else the first one. */
  readonly csv_column?: string | null
  /** A property of persons, such as `email`, by whose values the members are found: `values`, or a column of the CSV. */
  readonly match_property?: string | null
  readonly values?: readonly string[] | null
  /** A statement whose first column identifies persons, or a query with actors. */
  readonly query?: string | { readonly kind: string } | null
  /** An id chosen by the caller, used if it is free. */
  readonly id?: number
}

export const cohortFieldNames = [
  'name',
  'description',
  'is_static',
  'filters',
  'groups',
  'person_ids',
  'distinct_ids',
  'csv',
  'csv_column',
  'match_property',
  'values',
  'query',
  'id',
] as const

/** The state of a cohort's members. */
export interface CohortState {
  readonly count: number
  /** When the members were last computed. */
  readonly calculatedAt: string | null
  /** Why the refresh failed: for example, the condition refers to a removed cohort. */
  readonly failure: WaymarkError | null
}

export interface CohortService {
  list(): Promise<StoredCohort[]>
  retrieve(id: number): Promise<StoredCohort>
  /** Uses the caller's id if it is free. `author` is the id of a user. */
  create(fields: unknown, author?: number | null): Promise<StoredCohort>
  update(id: number, fields: unknown): Promise<StoredCohort>
  remove(id: number): Promise<void>
  /**
   * Refreshes the members of dynamic cohorts to what is acknowledged. A cohort that is current costs only a comparison of its watermark. Returns the errors
   * of those that cannot be refreshed: their condition refers to something that was removed.
   */
  refresh(ids?: readonly number[]): Promise<ReadonlyMap<number, WaymarkError>>
  count(id: number): Promise<number>
  /** Refreshes the cohorts one by one and returns their states: an error of one does not hide the others. */
  states(ids: readonly number[]): Promise<ReadonlyMap<number, CohortState>>
  /** How members were brought up to date since the project was opened. */
  readonly refreshes: RefreshCounts
}

/** Only such queries need members to be up to date. `definitionsOfActions`: as JSON; they are read if the query names actions. */
export function namesCohorts(query: unknown, definitionsOfActions: Iterable<string>): boolean {
  const text = jsonText(query) ?? ''
  if (/cohort/i.test(text)) return true
  if (namesActions(text)) for (const definition of definitionsOfActions) if (/cohort/i.test(definition)) return true
  return false
}

export const namesActions = (text: string): boolean => /action/i.test(text)

export function cohortService(store: DefinitionStore): CohortService {
  const inTurn = oneAtATime(store.alone)
  const refresher = cohortRefresher(store)
  const all = async (): Promise<Map<number, StoredCohort>> =>
    new Map([...(await store.definitions('cohorts'))].map(([id, text]) => [id, { ...(JSON.parse(text) as StoredCohort), id }]))
  const retrieve = async (id: number): Promise<StoredCohort> => {
    const found = (await all()).get(id)
    if (!found) throw new WaymarkError('not-found', { what: 'cohort', id: String(id) })
    return found
  }
  const textOf = ({ id: _, ...definition }: StoredCohort): string => JSON.stringify(definition)
  const record = (cohort: StoredCohort): DefinitionRecord => ({ table: 'cohorts', id: cohort.id, definition: textOf(cohort) })

  const save = async (cohort: StoredCohort, fields: unknown): Promise<StoredCohort> => {
    if (!cohort.is_static && !cohort.filters)
      throw new WaymarkError('validation-failed', { message: 'A dynamic cohort needs filters.', attr: 'filters' })
    if (cohort.filters) assertNoCycle(cohort, await all())
    // An invalid condition is rejected now, not by the first query.
    if (cohort.filters) await store.mustCompile(cohortMembers(cohort.filters, await store.env()))
    mustFit('cohorts', await store.definitions('cohorts'), cohort.id, textOf(cohort))
    const found = cohort.is_static ? await membersOf(fields, store) : null
    const members: DefinitionRecord[] = found ? [{ table: 'cohort_members', id: cohort.id, persons: found.persons }] : []
    const saved = found ? { ...cohort, members_at: cohort.updated_at } : cohort
    await store.write([record(saved), ...members])
    if (!saved.is_static) await refresher.refreshOne(saved.id, await all())
    return found?.matching ? { ...saved, matching: found.matching } : saved
  }
  const written = (fields: unknown) => {
    const { name, description, is_static, filters, groups } = check(fieldsSchema, fields)
    const older = !filters && groups?.length ? check(cohortFieldFilters, { filters: filtersOfGroups(groups) }).filters : null
    return { name, description, is_static, filters: filters ?? older }
  }

  return {
    list: async () => [...(await all()).values()].sort((a, b) => a.id - b.id),
    retrieve,
    create: (fields, author = null) =>
      inTurn(async () => {
        const now = store.clock().toISOString()
        const definition = written(fields)
        const id = freeId(fields, new Set((await all()).keys()))
        return save({ id, ...definition, created_by_id: author, created_at: now, updated_at: now }, fields)
      }),
    update: (id, fields) =>
      inTurn(async () => {
        const known = await retrieve(id)
        // `groups` is an older form of `filters`, so it replaces the stored filters.
        const isInGroups = (fields as { groups?: readonly unknown[] | null }).groups?.length && !(fields as { filters?: unknown }).filters
        const definition = written({ ...known, ...(isInGroups ? { filters: null } : {}), ...(fields as object) })
        if (definition.is_static !== known.is_static)
          throw new WaymarkError('validation-failed', {
            message: 'A cohort cannot change between static and dynamic. Create a new one.',
            attr: 'is_static',
          })
        return save({ ...known, ...definition, id, updated_at: store.clock().toISOString() }, fields)
      }),
    remove: (id) =>
      inTurn(async () => {
        await retrieve(id)
        await store.write([
          { table: 'cohorts', id, definition: null },
          { table: 'cohort_members', id, persons: [] },
        ])
        await store.clearMembers(id)
      }),
    refreshes: refresher.counts,
    refresh: (ids) =>
      inTurn(async () => {
        const known = await all()
        return refresher.refreshAll(inOrder(known, ids), known)
      }),
    count: async (id) => (await store.countMembers([id])).get(id) ?? 0,
    states: (ids) =>
      inTurn(async () => {
        const known = await all()
        const failures = await refresher.refreshAll(inOrder(known, ids), known)
        const counts = await store.countMembers(ids)
        const times = await store.membersMadeAt(ids)
        return new Map(
          ids.map((id) => [
            id,
            {
              count: counts.get(id) ?? 0,
              calculatedAt: times.get(id) ?? known.get(id)?.members_at ?? null,
              failure: failures.get(id) ?? null,
            },
          ]),
        )
      }),
  }
}

/** Named cohorts come before those that name them. */
function inOrder(all: ReadonlyMap<number, StoredCohort>, ids: readonly number[] | undefined): StoredCohort[] {
  const ordered = new Map<number, StoredCohort>()
  const visit = (id: number, path: readonly number[]) => {
    const cohort = all.get(id)
    if (!cohort || ordered.has(id) || path.includes(id)) return
    if (cohort.filters) for (const named of cohortsNamed(cohort.filters.properties)) visit(named, [...path, id])
    ordered.set(id, cohort)
  }
  for (const id of ids ?? all.keys()) visit(id, [])
  return [...ordered.values()]
}

function assertNoCycle(cohort: StoredCohort, all: ReadonlyMap<number, StoredCohort>): void {
  const reach = (id: number, seen: Set<number>): boolean => {
    if (id === cohort.id) return true
    if (seen.has(id)) return false
    seen.add(id)
    const filters = all.get(id)?.filters
    return filters ? cohortsNamed(filters.properties).some((named) => reach(named, seen)) : false
  }
  const isCircle = cohort.filters ? cohortsNamed(cohort.filters.properties).some((named) => reach(named, new Set())) : false
  if (isCircle) throw new WaymarkError('validation-failed', { message: 'A cohort cannot refer to itself.', attr: 'filters' })
}
