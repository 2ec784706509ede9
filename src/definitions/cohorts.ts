import { createHash } from 'node:crypto'
import { z } from 'zod'
import { alias, call, field, isIn, literal, select, table } from '../ast/build.ts'
import { WaymarkError } from '../errors/errors.ts'
import { parseQuery } from '../parser/parse.ts'
import { type CohortFilters, cohortFiltersSchema, cohortMembers, cohortsNamed, isTimeBound } from '../queries/cohort-definition.ts'
import { csvIds } from './csv-ids.ts'
import { check, freeId, oneAtATime } from './records.ts'
import type { DefinitionRecord, DefinitionStore } from './store.ts'

const fieldsSchema = z.looseObject({
  name: z.string().trim().min(1, { error: 'A cohort needs a name.' }).max(400),
  description: z.string().nullish(),
  is_static: z.boolean().default(false),
  filters: cohortFiltersSchema.nullish(),
})

/** Where the members of a static cohort come from. */
const membersSchema = z.looseObject({
  /** Uuids of persons. */
  person_ids: z.array(z.string()).nullish(),
  distinct_ids: z.array(z.string()).nullish(),
  /** The first column, or the one named distinct_id or person_id. */
  csv: z.string().nullish(),
  /** A statement whose first column names persons. */
  query: z.string().nullish(),
})

export interface StoredCohort {
  readonly id: number
  readonly name: string
  readonly description?: string | null
  readonly is_static: boolean
  readonly filters?: CohortFilters | null
  readonly created_at: string
  readonly updated_at: string
}

export interface CohortService {
  list(): Promise<StoredCohort[]>
  retrieve(id: number): Promise<StoredCohort>
  /** Keeps the caller's own id when it is free. */
  create(fields: unknown): Promise<StoredCohort>
  update(id: number, fields: unknown): Promise<StoredCohort>
  remove(id: number): Promise<void>
  /** Brings the members of dynamic cohorts up to what is acknowledged. What is up to date costs a look at its mark. */
  refresh(ids?: readonly number[]): Promise<void>
  count(id: number): Promise<number>
}

/** Only such queries need members to be up to date. */
export const namesCohorts = (query: unknown): boolean => /cohort/i.test(JSON.stringify(query) ?? '')

const minute = 60_000

export function cohortService(store: DefinitionStore): CohortService {
  const inTurn = oneAtATime()
  const all = async (): Promise<Map<number, StoredCohort>> =>
    new Map([...(await store.definitions('cohorts'))].map(([id, text]) => [id, { ...(JSON.parse(text) as StoredCohort), id }]))
  const retrieve = async (id: number): Promise<StoredCohort> => {
    const found = (await all()).get(id)
    if (!found) throw new WaymarkError('not-found', { what: 'cohort', id: String(id) })
    return found
  }
  const record = ({ id, ...definition }: StoredCohort): DefinitionRecord => ({
    table: 'cohorts',
    id,
    definition: JSON.stringify(definition),
  })

  const save = async (cohort: StoredCohort, fields: unknown): Promise<StoredCohort> => {
    if (!cohort.is_static && !cohort.filters)
      throw new WaymarkError('validation-failed', { message: 'A dynamic cohort needs filters.', attr: 'filters' })
    if (cohort.filters) assertNoCircle(cohort, await all())
    const persons = cohort.is_static ? await personsOf(fields, store) : null
    const members: DefinitionRecord[] = persons ? [{ table: 'cohort_members', id: cohort.id, persons }] : []
    await store.write([record(cohort), ...members])
    // A wrong condition is refused now, not by the first query.
    if (!cohort.is_static) await refreshOne(cohort, store)
    return cohort
  }

  return {
    list: async () => [...(await all()).values()].sort((a, b) => a.id - b.id),
    retrieve,
    create: (fields) =>
      inTurn(async () => {
        const checked = check(fieldsSchema, fields)
        const now = store.clock().toISOString()
        const id = freeId(fields, new Set((await all()).keys()))
        const { name, description, is_static, filters } = checked
        return save({ id, name, description, is_static, filters, created_at: now, updated_at: now }, fields)
      }),
    update: (id, fields) =>
      inTurn(async () => {
        const known = await retrieve(id)
        const { name, description, is_static, filters } = check(fieldsSchema, { ...known, ...(fields as object) })
        return save(
          { id, name, description, is_static, filters, created_at: known.created_at, updated_at: store.clock().toISOString() },
          fields,
        )
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
    refresh: (ids) =>
      inTurn(async () => {
        for (const cohort of inOrder(await all(), ids)) if (!cohort.is_static) await refreshOne(cohort, store)
      }),
    count: (id) => store.countMembers(id),
  }
}

async function refreshOne(cohort: StoredCohort, store: DefinitionStore): Promise<void> {
  const { filters } = cohort
  if (!filters) return
  const mark = await markOf(filters, store)
  if ((await store.membersMark(cohort.id)) === mark) return
  await store.refreshMembers(cohort.id, cohortMembers(filters, await store.env()), mark)
}

/** Members are as of a place in the log, for a definition; with conditions on time also as of a minute. */
async function markOf(filters: CohortFilters, store: DefinitionStore): Promise<string> {
  const definition = createHash('sha256').update(JSON.stringify(filters)).digest('hex').slice(0, 16)
  const time = isTimeBound(filters.properties) ? String(Math.floor(store.clock().getTime() / minute)) : ''
  return [await store.appliedSeq(), definition, time].join(' ')
}

/** Cohorts that others name come before them. */
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

function assertNoCircle(cohort: StoredCohort, all: ReadonlyMap<number, StoredCohort>): void {
  const reach = (id: number, seen: Set<number>): boolean => {
    if (id === cohort.id) return true
    if (seen.has(id)) return false
    seen.add(id)
    const filters = all.get(id)?.filters
    return filters ? cohortsNamed(filters.properties).some((named) => reach(named, seen)) : false
  }
  const isCircle = cohort.filters ? cohortsNamed(cohort.filters.properties).some((named) => reach(named, new Set())) : false
  if (isCircle) throw new WaymarkError('validation-failed', { message: 'A cohort cannot be a condition of itself.', attr: 'filters' })
}

/** null when the caller says nothing about members. */
async function personsOf(fields: unknown, store: DefinitionStore): Promise<string[] | null> {
  const { person_ids: ids, distinct_ids: distinctIds, csv, query } = check(membersSchema, fields)
  const persons = new Set<string>(ids ?? [])
  const names = [...(distinctIds ?? [])]
  if (csv) {
    const found = csvIds(csv)
    if (found.kind === 'person') for (const id of found.ids) persons.add(id)
    else names.push(...found.ids)
  }
  for (const id of await ownersOf(names, store)) persons.add(id)
  if (query) for (const id of await store.texts(parseQuery(query))) persons.add(id)
  return ids || distinctIds || csv || query ? [...persons] : null
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
