import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { alias, call, field, isIn, literal, select, table } from '../../language/ast/build.ts'
import { parseQuery } from '../../language/parser/parse.ts'
import { isUuid } from '../../lib/ids/time-ordered-uuid.ts'
import { jsonText } from '../../lib/text/json-text.ts'
import { mustFit } from '../../limits/definitions.ts'
import { cohortFiltersSchema, cohortMembers, cohortsNamed } from '../../queries/filters/cohort-definition.ts'
import { filtersOfGroups } from './cohort-groups.ts'
import { cohortRefresher, type RefreshCounts } from './cohort-refresh.ts'
import { csvIds } from './csv-ids.ts'
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

/** The source of a static cohort's members. */
const membersSchema = z.looseObject({
  /** Uuids of persons. */
  person_ids: z.array(z.string()).nullish(),
  distinct_ids: z.array(z.string()).nullish(),
  /** The first column, or the one named distinct_id or person_id. */
  csv: z.string().nullish(),
  /** A statement whose first column identifies persons, or any query with actors. */
  query: z
    .union([z.string(), z.looseObject({ kind: z.string() })], { error: 'A query must be a statement, or an object with a kind.' })
    .nullish(),
})

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

/** Only such queries need members to be up to date. */
export const namesCohorts = (query: unknown): boolean => /cohort/i.test(jsonText(query) ?? '')

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
    const persons = cohort.is_static ? await personsOf(fields, store) : null
    const members: DefinitionRecord[] = persons ? [{ table: 'cohort_members', id: cohort.id, persons }] : []
    const saved = persons ? { ...cohort, members_at: cohort.updated_at } : cohort
    await store.write([record(saved), ...members])
    if (!saved.is_static) await refresher.refreshOne(saved.id, await all())
    return saved
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

/** null when the request does not set members. Unknown ids are skipped. */
async function personsOf(fields: unknown, store: DefinitionStore): Promise<string[] | null> {
  const { person_ids: ids, distinct_ids: distinctIds, csv, query } = check(membersSchema, fields)
  if (!ids && !distinctIds && !csv && !query) return null
  const persons = [...(ids ?? [])]
  const names = [...(distinctIds ?? [])]
  if (csv) {
    const found = csvIds(csv)
    ;(found.kind === 'person' ? persons : names).push(...found.ids)
  }
  persons.push(...(await ownersOf(names, store)))
  if (query) persons.push(...(await personsIn(query, store)))
  return [...new Set(persons.map((id) => id.toLowerCase()).filter(isUuid))]
}

async function personsIn(query: string | { readonly kind: string }, store: DefinitionStore): Promise<string[]> {
  const found = typeof query === 'string' ? await store.texts(parseQuery(query)) : await store.actors(query)
  const strange = found.find((id) => !isUuid(id))
  if (strange === undefined) return found
  const message = `The first column of the query must contain person ids, but got ${JSON.stringify(strange)}.`
  throw new WaymarkError('validation-failed', { message, attr: 'query' })
}

const chunk = 1000

async function ownersOf(distinctIds: readonly string[], store: DefinitionStore): Promise<string[]> {
  const owners: string[] = []
  for (let i = 0; i < distinctIds.length; i += chunk) {
    const names = distinctIds.slice(i, i + chunk).map((id) => literal(id))
    const columns = [alias(call('toString', field('person_id')), 'person')]
    owners.push(...(await store.texts(select({ columns, from: table('person_distinct_ids'), where: isIn(field('distinct_id'), names) }))))
  }
  return owners
}
