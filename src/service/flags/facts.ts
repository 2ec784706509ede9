import { isObject } from '../../lib/is-object.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import type { SavedHome } from '../saved/asked-project.ts'
import type { Needed } from './evaluate.ts'
import type { Properties } from './matching.ts'

// What the store knows of somebody who is asked for, read by as few statements as it takes, and only if a condition of a flag needs it.

export interface StoredFacts {
  readonly person: Properties
  readonly cohorts: ReadonlySet<number>
  /** By the index of the type. */
  readonly groups: ReadonlyMap<number, Properties>
}

const nothing: StoredFacts = { person: {}, cohorts: new Set(), groups: new Map() }
const askingMs = 10_000

const ofPerson = `select properties from persons
  where id in (select person_id from person_distinct_ids where distinct_id = {id}) limit 1`
const ofCohorts = `select cohort_id from cohort_people
  where cohort_id in {cohorts} and person_id in (select person_id from person_distinct_ids where distinct_id = {id}) group by cohort_id limit 10000`
const ofGroups = 'select index, properties from groups where index in {types} and key in {keys} limit 100'

const propertiesOf = (text: unknown): Properties => {
  const value: unknown = typeof text === 'string' ? JSON.parse(text) : text
  return isObject(value) ? value : {}
}

/** `groups`: the keys of the groups that are asked for, by the index of their type. */
export async function storedFacts(
  home: SavedHome,
  project: ProjectRecord,
  distinctId: string,
  groups: ReadonlyMap<number, string>,
  needed: Needed,
): Promise<StoredFacts> {
  const types = needed.groups.filter((index) => groups.has(index))
  if (!project.ingested_event || (!needed.person && needed.cohorts.length === 0 && types.length === 0)) return nothing
  const asked = await home.project(project)
  const rowsOf = async (query: string, values: object): Promise<readonly (readonly unknown[])[]> => {
    const outcome = await asked.ask(
      { query: { kind: 'SqlLikeQuery', query, values }, refresh: 'force_blocking', client_query_id: null, wantsStatus: false },
      { name: `flags of ${project.id}`, signal: AbortSignal.timeout(askingMs) },
    )
    const { results } = ('answer' in outcome ? outcome.answer.object : {}) as { results?: readonly (readonly unknown[])[] }
    return results ?? []
  }
  const [person, cohorts, found] = await Promise.all([
    needed.person ? rowsOf(ofPerson, { id: distinctId }) : [],
    needed.cohorts.length > 0 ? rowsOf(ofCohorts, { id: distinctId, cohorts: needed.cohorts }) : [],
    types.length > 0 ? rowsOf(ofGroups, { types, keys: types.map((index) => groups.get(index)!) }) : [],
  ])
  return {
    person: propertiesOf(person[0]?.[0] ?? {}),
    cohorts: new Set(cohorts.map(([id]) => Number(id))),
    groups: new Map(found.map(([index, properties]) => [Number(index), propertiesOf(properties)])),
  }
}
