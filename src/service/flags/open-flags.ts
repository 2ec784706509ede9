import { runInSlices } from '../../lib/flow/run-in-slices.ts'
import type { CohortFilters } from '../../queries/filters/cohort-definition.ts'
import type { AccountContext } from '../accounts/context.ts'
import type { FeatureFlag, ProjectRecord } from '../accounts/records.ts'
import type { SavedHome } from '../saved/asked-project.ts'
import type { FlagFilters } from './definition.ts'
import { type EvaluatedFlag, evaluate, type FlagValue, neededBy, type Subject } from './evaluate.ts'
import { storedFacts } from './facts.ts'
import type { Properties } from './matching.ts'
import { createFlagRecords, evaluated, type FlagRecords } from './records.ts'

// Feature flags of a project: their records, their values for somebody, and their definitions for clients that compute the values themselves.

/** Who is asked for, as a client says it. What it says of the person and the groups counts more than what is stored. */
export interface FlagQuestion {
  readonly distinctId: string
  /** By the names of their types: the keys. */
  readonly groups?: Readonly<Record<string, unknown>>
  readonly person?: Properties
  /** By the names of their types. */
  readonly groupProperties?: Readonly<Record<string, unknown>>
  /** Only these, by their keys. */
  readonly only?: readonly string[] | null
}

export interface FlagAnswer {
  readonly values: readonly FlagValue[]
  /** What is stored could not be read, and conditions needed it: their flags are left out. */
  readonly hasErrors: boolean
}

export interface FlagDefinitions {
  readonly flags: readonly FeatureFlag[]
  /** Names of the types of groups, by their indices. */
  readonly groupTypes: Readonly<Record<string, string>>
  /** The conditions of the cohorts that flags name, by their ids. */
  readonly cohorts: Readonly<Record<string, unknown>>
}

interface Parts extends SavedHome {
  readonly context: AccountContext
  groupTypes(project: ProjectRecord): Promise<readonly { readonly index: number; readonly name: string }[]>
  cohortFilters(project: ProjectRecord, id: number): Promise<CohortFilters | null>
}

/** Characters. With the project key, everybody may send texts of any length, and each flag looks at them. */
const [longestId, longestValue] = [1_000, 10_000]

/** Lists and objects are compared as their JSON, which is made once for all flags. */
const bounded = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => {
      if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return [name, value]
      return [name, (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, longestValue)]
    }),
  )

const sliceMs = 10

const isProperties = (value: unknown): value is Properties => typeof value === 'object' && value !== null && !Array.isArray(value)

export interface OpenedFlags {
  readonly records: FlagRecords
  values(project: ProjectRecord, asked: FlagQuestion): Promise<FlagAnswer>
  definitions(project: ProjectRecord, withCohorts: boolean): Promise<FlagDefinitions>
}

export function openFlags(parts: Parts): OpenedFlags {
  const { context } = parts
  const records = createFlagRecords(context)

  return {
    records,

    async values(project, { distinctId, groups = {}, person = {}, groupProperties = {}, only = null }) {
      const wanted = only && new Set(only)
      const flags = (await records.active(project)).filter(({ key }) => wanted === null || wanted.has(key)).map(evaluated)
      if (flags.length === 0 || distinctId.length > longestId) return { values: [], hasErrors: flags.length > 0 }
      const types = Object.keys(groups).length > 0 ? await parts.groupTypes(project) : []
      const keys = new Map(
        types.flatMap(({ index, name }) => (groups[name] == null ? [] : [[index, String(groups[name]).slice(0, longestId)] as const])),
      )
      const given = new Map(
        types.flatMap(({ index, name }) => (isProperties(groupProperties[name]) ? [[index, groupProperties[name]] as const] : [])),
      )
      const needed = neededBy(flags, person, given)
      const stored = await storedFacts(parts, project, distinctId, keys, needed).catch((error: unknown) => {
        context.report('failed to read what flags need', error)
        return null
      })
      const subject: Subject = {
        distinctId,
        person: bounded({ ...stored?.person, ...person }),
        cohorts: stored?.cohorts ?? new Set(),
        groups: new Map(
          [...keys].map(([index, key]) => [index, { key, properties: bounded({ ...stored?.groups.get(index), ...given.get(index) }) }]),
        ),
      }
      const readable = stored === null ? flags.filter((one) => isEmpty(neededBy([one], person, given))) : flags
      const now = context.clock()
      return { values: await runInSlices(evaluatedFor(readable, subject, now), sliceMs), hasErrors: readable.length < flags.length }
    },

    async definitions(project, withCohorts) {
      const flags = await records.active(project)
      const types = flags.length > 0 ? await parts.groupTypes(project) : []
      const cohorts: Record<string, unknown> = {}
      const named = flags.flatMap((flag) =>
        (flag.filters as unknown as FlagFilters).groups.flatMap(({ properties }) =>
          properties.flatMap((one) => (one.type === 'cohort' ? [Number(one.value)] : [])),
        ),
      )
      if (withCohorts)
        for (const id of new Set(named)) {
          const filters = await parts.cohortFilters(project, id)
          if (filters) cohorts[id] = filters.properties
        }
      return { flags, groupTypes: Object.fromEntries(types.map(({ index, name }) => [String(index), name])), cohorts }
    },
  }
}

/** Each step computes one: others have their turn between them. */
function* evaluatedFor(flags: readonly EvaluatedFlag[], subject: Subject, now: Date): Generator<void, readonly FlagValue[]> {
  const values: FlagValue[] = []
  for (const flag of flags) {
    values.push(evaluate(flag, subject, now))
    yield
  }
  return values
}

const isEmpty = ({ person, cohorts, groups }: ReturnType<typeof neededBy>): boolean =>
  !person && cohorts.length === 0 && groups.length === 0
