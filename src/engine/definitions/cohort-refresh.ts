import { createHash } from 'node:crypto'
import { WaymarkError } from '../../errors/errors.ts'
import { isFollowed, movedOver } from '../../queries/filters/cohort-changes.ts'
import { type CohortFilters, cohortMembers, cohortsNamed, isTimeBound } from '../../queries/filters/cohort-definition.ts'
import { changedPersons, type DefinitionStore, type MembersRefresh } from './store.ts'
import type { StoredCohort } from './stored-cohort.ts'

// Members of dynamic cohorts are refreshed when a query needs them. Only persons who may have joined or left are evaluated: those who changed or
// acted since then, those with events that entered or left a time window, and those who joined or left a cohort that the definition names. If they
// cannot be determined, because of the definition, a type or the condition, everybody is evaluated.

/** The state for which members are correct. */
interface Watermark {
  /** Hash of the filters as written. */
  readonly definition: string
  /** Hash of the statement: it covers how properties are read and what actions mean. */
  readonly statement: string
  readonly seq: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** The named cohorts, and the state of their members. */
  readonly named: Readonly<Record<string, string>>
  /** Changes with the members. */
  readonly version: string
}

export interface RefreshCounts {
  /** All persons were evaluated. */
  whole: number
  /** Some persons were evaluated. */
  partial: number
}

/** Who joined or left between two versions of a cohort's members. */
interface Move {
  readonly from: string
  readonly to: string
  readonly persons: readonly number[] | null
}

const minute = 60_000
/** Statements are compared for one fixed time, because the clock is not part of the definition. */
const anyMoment = new Date('2000-01-01T00:00:00Z')

export function cohortRefresher(store: DefinitionStore) {
  const counts: RefreshCounts = { whole: 0, partial: 0 }

  async function markOf(cohort: number): Promise<Watermark | null> {
    const text = await store.membersMark(cohort)
    return text?.startsWith('{') ? (JSON.parse(text) as Watermark) : null
  }

  /** The members of a static cohort are those that were last set. */
  const versionOf = async ({ id, is_static, members_at, updated_at }: StoredCohort): Promise<string> =>
    is_static ? `${members_at ?? ''} ${updated_at}` : ((await markOf(id))?.version ?? '')

  async function refresh(cohort: StoredCohort, all: ReadonlyMap<number, StoredCohort>, moves: Map<number, Move>): Promise<void> {
    const { filters, id } = cohort
    if (!filters) return
    const known = await markOf(id)
    const definition = digest(JSON.stringify(filters))
    const named: Record<string, string> = {}
    for (const other of cohortsNamed(filters.properties)) {
      const found = all.get(other)
      if (found) named[other] = await versionOf(found)
    }
    const seq = await store.appliedSeq()
    const isBound = isTimeBound(filters.properties)
    const isSameMinute = known !== null && Math.floor(known.now / minute) === Math.floor(store.clock().getTime() / minute)
    const isSameNamed = known !== null && JSON.stringify(known.named) === JSON.stringify(named)
    if (known?.definition === definition && known.seq === seq && isSameNamed && (!isBound || isSameMinute)) return

    const env = await store.env()
    const statement = await store.fingerprint(cohortMembers(filters, { ...env, now: anyMoment }))
    const isSame = known !== null && known.definition === definition && known.statement === statement && isFollowed(filters.properties, env)
    const changed = isSame ? whoChanged(filters, known, named, moves, env) : null
    const now = env.now.getTime()
    const versionNow = `${seq}@${now}`
    const version = (hasMoved: boolean) => (hasMoved || !known ? versionNow : known.version)
    const done = await store.refreshMembers({
      cohort: id,
      all: cohortMembers(filters, env),
      changed,
      mark: (hasMoved) => JSON.stringify({ definition, statement, seq, now, named, version: version(hasMoved) } satisfies Watermark),
      madeAt: env.now.toISOString(),
    })
    counts[done.isWhole ? 'whole' : 'partial']++
    if (known && done.hasMoved) moves.set(id, { from: known.version, to: versionNow, persons: done.moved })
  }

  return {
    counts,

    refreshOne: async (id: number, all: ReadonlyMap<number, StoredCohort>): Promise<void> => {
      const cohort = all.get(id)
      if (cohort) await refresh(cohort, all, new Map())
    },

    /** Named cohorts come before those that name them; if a named cohort fails, so do they. */
    async refreshAll(cohorts: readonly StoredCohort[], all: ReadonlyMap<number, StoredCohort>): Promise<Map<number, WaymarkError>> {
      const failures = new Map<number, WaymarkError>()
      const moves = new Map<number, Move>()
      for (const cohort of cohorts) {
        if (!cohort.filters || cohort.is_static) continue
        const below = cohortsNamed(cohort.filters.properties).flatMap((id) => failures.get(id) ?? [])
        try {
          if (below[0]) throw below[0]
          await refresh(cohort, all, moves)
        } catch (error) {
          if (!(error instanceof WaymarkError)) throw error
          failures.set(cohort.id, error)
        }
      }
      return failures
    },
  }
}

function whoChanged(
  filters: CohortFilters,
  known: Watermark,
  named: Watermark['named'],
  moves: ReadonlyMap<number, Move>,
  env: Awaited<ReturnType<DefinitionStore['env']>>,
): MembersRefresh['changed'] {
  const persons: number[] = []
  for (const [id, version] of Object.entries(named)) {
    if (known.named[id] === version) continue
    const move = moves.get(Number(id))
    if (move?.from !== known.named[id] || move?.to !== version || !move.persons) return null
    for (const person of move.persons) persons.push(person)
  }
  const stretches = movedOver(filters, new Date(known.now), env)
  return stretches && { members: cohortMembers(filters, env, changedPersons), sinceSeq: known.seq, stretches, persons }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
