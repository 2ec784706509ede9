import { createHash } from 'node:crypto'
import type { Answer } from '../../engine/admission/answer.ts'
import { own } from '../../lib/own.ts'
import { maybeTime, time } from '../../lib/time/wire-time.ts'
import { queryKinds } from '../../queries/registry.ts'
import type { ProjectRecord } from '../accounts/records.ts'

// Cached answers of insight queries, valid while a new one would be equal: the log has no new records, the project's settings are the same,
// the same events are kept, and the date range has not moved by an interval.

export interface Entry {
  readonly key: string
  readonly answer: Answer
  /** Characters of its JSON. */
  readonly length: number
  /** The end of its date range, if it has one. */
  readonly endsAt: string | null
  readonly position: number
  /** From when on the project kept events, and the version of what lies beside them. */
  readonly kept: string
  readonly computedAt: Date
  /** When it is too old for most callers; null: never. */
  readonly staleAt: Date | null
  readonly timezone: string
}

export const isCachedKind = (kind: string): boolean => Object.hasOwn(queryKinds, kind) && queryKinds[kind]!.isCached === true

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** How long an answer is valid, by the interval of its points: usually, and for lazy callers. */
const ages: Readonly<Record<string, readonly [usual: number, lazy: number]>> = {
  second: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  minute: [5 * minute, 15 * minute],
  hour: [hour, 2 * hour],
  day: [6 * hour, 12 * hour],
  week: [day, day],
  month: [day, day],
  quarter: [day, day],
  year: [day, day],
}
const slack = 10_000
/** How long clients should wait before a manual refresh. */
const clientPause = 3 * minute

type Query = Readonly<Record<string, unknown>>

/** JSON has no bigint. The wrapper differs from every text. */
const exact = (_: string, value: unknown) => (typeof value === 'bigint' ? { bigint: String(value) } : value)
const sorted = (name: string, value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : exact(name, value)

const settingsDigests = new WeakMap<ProjectRecord, string>()
/** Settings may be large: they hold the statements of views. */
const digestOf = (project: ProjectRecord): string => {
  const known = settingsDigests.get(project)
  if (known !== undefined) return known
  const text = JSON.stringify([project.id, project.timezone, project.week_start_day, project.settings], sorted)
  const digest = createHash('sha256').update(text).digest('hex')
  settingsDigests.set(project, digest)
  return digest
}

const cacheKey = (query: Query, project: ProjectRecord): string =>
  createHash('sha256').update(digestOf(project)).update(JSON.stringify(query, sorted)).digest('hex').slice(0, 32)

/** A replacer function called for each value is slow, and few queries contain bigints. */
const writtenOf = (query: Query): string => {
  try {
    return JSON.stringify(query)
  } catch {
    return JSON.stringify(query, exact)
  }
}

const maxKeys = 1000
/** Caches keys by the text of the query. Every change of the project creates a new record object. */
const keysOf = () => {
  const known = new WeakMap<ProjectRecord, Map<string, string>>()
  return (query: Query, project: ProjectRecord): string => {
    const keys = known.get(project) ?? new Map<string, string>()
    if (keys.size === 0) known.set(project, keys)
    const written = writtenOf(query)
    const found = keys.get(written)
    if (found !== undefined) return found
    if (keys.size >= maxKeys) keys.clear()
    const key = cacheKey(query, project)
    if (written.length < 10_000) keys.set(written, key)
    return key
  }
}

const agesOf = (query: Query): readonly [usual: number, lazy: number] =>
  query.kind === 'ViewerQuery' ? agesOf(query.source as Query) : (own(ages, String(query.interval)) ?? ages.day!)
const isFinal = ({ endsAt, computedAt }: Pick<Entry, 'endsAt' | 'computedAt'>): boolean =>
  endsAt !== null && Date.parse(endsAt) + slack < computedAt.getTime()

/** When an answer becomes too old for most callers; null: never, because its date range had ended. */
export const staleAt = (entry: Pick<Entry, 'endsAt' | 'computedAt'>, query: Query): Date | null => {
  const [usual] = agesOf(query)
  return isFinal(entry) || !Number.isFinite(usual) ? null : new Date(entry.computedAt.getTime() + usual)
}

const isYoung = (entry: Entry, query: Query, now: Date, isLazy: boolean): boolean => {
  if (isFinal(entry)) return true
  const [usual, lazy] = agesOf(query)
  const age = now.getTime() - entry.computedAt.getTime()
  return age >= 0 && age <= (isLazy ? lazy : usual)
}

const most = 64 * 1024 * 1024

export const createResultCache = () => {
  const entries = new Map<string, { readonly entry: Entry; readonly bytes: number }>()
  let held = 0
  const drop = (key: string) => {
    held -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  return {
    keyOf: keysOf(),
    /** The cached answer, and whether it is still fresh. Lazy callers also accept an answer without the newest events. */
    find(
      key: string,
      query: Query,
      { position, kept }: Pick<Entry, 'position' | 'kept'>,
      now: Date,
      isLazy: boolean,
    ): { entry: Entry; isFresh: boolean } | undefined {
      const found = entries.get(key)
      if (!found) return undefined
      entries.delete(key)
      entries.set(key, found)
      const { entry } = found
      return { entry, isFresh: entry.kept === kept && (isLazy || entry.position === position) && isYoung(entry, query, now, isLazy) }
    },
    entry: (key: string): Entry | undefined => entries.get(key)?.entry,
    keep(entry: Entry): void {
      drop(entry.key)
      const bytes = 5 * entry.length // the answer, its text, and the text for repeated requests
      if (bytes > most / 4) return
      entries.set(entry.key, { entry, bytes })
      held += bytes
      for (const key of entries.keys()) {
        if (held <= most) break
        drop(key)
      }
    },
  }
}
export type ResultCache = ReturnType<typeof createResultCache>

const withFacts = ({ key, answer, computedAt, staleAt, timezone }: Entry, isCached: boolean): Promise<Answer> =>
  answer.with({
    is_cached: isCached,
    cache_key: key,
    cache_target_age: maybeTime(staleAt),
    last_refresh: time(computedAt),
    next_allowed_client_refresh: time(new Date(computedAt.getTime() + clientPause)),
    timezone,
    calculation_trigger: null,
  })

export const newAnswer = (entry: Entry): Promise<Answer> => withFacts(entry, false)

const repeated = new WeakMap<Entry, Promise<Answer>>()
/** The same answer for repeated requests, with its text. */
export const cachedAnswer = (entry: Entry): Promise<Answer> => {
  const known = repeated.get(entry)
  if (known) return known
  const answer = withFacts(entry, true)
  repeated.set(entry, answer)
  return answer
}
