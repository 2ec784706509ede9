import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ActionAnswer } from '../../doors/answers/actions.ts'
import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import type { GroupTypeAnswer } from '../../doors/answers/groups.ts'
import type { PropertyDefinitionAnswer } from '../../doors/answers/property-definitions.ts'
import { allOf, get, type Page } from './api.ts'
import { useProject } from './session.ts'
import type { ValueKind } from './value-kind.ts'

// Names for suggestions. Without them everything can still be typed.

/** Lists that many fields of a page need: asked once in a while. */
const kept = new Map<string, { readonly since: number; readonly value: Promise<unknown> }>()
const keptMs = 30_000

/** A list of definitions is read up to its limit; others are whole. */
const readList = <T>(path: string): Promise<readonly T[]> =>
  path.includes('_definitions/')
    ? get<Page<T>>(path).then(({ results }) => results)
    : path.includes('limit=')
      ? allOf<T>(path)
      : get<readonly T[]>(path)

function keptList<T>(path: string): Promise<readonly T[]> {
  const known = kept.get(path)
  if (known && Date.now() - known.since < keptMs) return known.value as Promise<readonly T[]>
  const value = readList<T>(path)
  kept.set(path, { since: Date.now(), value })
  // What is empty may be filled the next moment: with the first event of a project.
  value.then(
    ({ length }) => length === 0 && kept.delete(path),
    () => kept.delete(path),
  )
  return value
}

interface ListRead<T> {
  readonly path: string | null
  readonly rows: readonly T[]
  readonly isRead: boolean
}

function useListRead<T>(path: string | null): ListRead<T> | null {
  const { api } = useProject()
  const [list, setList] = useState<ListRead<T> | null>(null)
  useEffect(() => {
    if (path === null) return setList({ path, rows: [], isRead: false })
    let isLeft = false
    const take = (rows: readonly T[], isRead: boolean) => isLeft || setList({ path, rows, isRead })
    keptList<T>(api(path)).then(
      (rows) => take(rows, true),
      () => take([], false),
    )
    return () => {
      isLeft = true
    }
  }, [path])
  return list?.path === path ? list : null
}

/** Null: not known yet. A list that cannot be read is empty. */
const useList = <T>(path: string | null): readonly T[] | null => useListRead<T>(path)?.rows ?? null

/** Of a project that has more, the others are found by what is typed. */
const mostKnown = 500
const typingMs = 150

export interface Definitions<T> {
  readonly rows: readonly T[]
  /** The list is not there yet, or those that contain what is typed are not. */
  readonly isReading: boolean
}

/** A list, the most frequent first; with those that contain what is typed, where the list is not whole. */
function useDefinitions<T extends { readonly name: string }>(path: string | null, typed: string): Definitions<T> {
  const known = useList<T>(path)
  const [search, setSearch] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), typingMs)
    return () => clearTimeout(timer)
  }, [typed])
  const isWhole = known !== null && known.length < mostKnown
  const isAsked = path !== null && !isWhole && search !== ''
  const found = useList<T>(isAsked ? `${path}&search=${encodeURIComponent(search)}` : null)
  const isReading = path !== null && (known === null || (!isWhole && typed.trim() !== '' && (search !== typed.trim() || found === null)))
  return useMemo(() => {
    const names = new Set(found?.map(({ name }) => name))
    return { rows: [...(found ?? []), ...(known ?? []).filter(({ name }) => !names.has(name))], isReading }
  }, [found, known, isReading])
}
const eventsPath = `event_definitions/?limit=${mostKnown}`
export const useKnownEvents = () => useList<EventDefinitionAnswer>(eventsPath)
/** The server said so: a list that cannot be read says nothing. */
export function useHasNoEvents(): boolean {
  const list = useListRead(eventsPath)
  return list?.isRead === true && list.rows.length === 0
}
export const useEventDefinitions = (typed: string): Definitions<EventDefinitionAnswer> =>
  useDefinitions<EventDefinitionAnswer>(eventsPath, typed)
export const useEventNames = (): readonly string[] => useEventDefinitions('').rows.map(({ name }) => name)

/** Whose property it is; `group:0` is the group type with that index. */
export type Whose = 'event' | 'person' | 'session' | `group:${number}`

export const sessionProperties: readonly string[] = [
  ...['$session_duration', '$start_timestamp', '$end_timestamp', '$channel_type', '$is_bounce', '$pageview_count', '$autocapture_count'],
  ...['$entry_current_url', '$entry_pathname', '$end_current_url', '$end_pathname', '$entry_referring_domain', '$entry_utm_source'],
]

function pathOf(whose: Whose): string | null {
  if (whose === 'session') return null
  const [type, index] = whose.split(':')
  return `property_definitions/?type=${type}${index === undefined ? '' : `&group_type_index=${index}`}&ordering=-count&limit=${mostKnown}`
}
export const useProperties = (whose: Whose) => useList<PropertyDefinitionAnswer>(pathOf(whose)) ?? []
export const usePropertyDefinitions = (whose: Whose | null, typed: string) =>
  useDefinitions<PropertyDefinitionAnswer>(whose === null ? null : pathOf(whose), typed)

const declared = { DateTime: 'time', String: 'text', Numeric: 'number', Boolean: 'boolean', Duration: 'number' } as const

/** What the values of a property are. Null: it is not known, or there are several kinds. */
export function kindOf(property: PropertyDefinitionAnswer | undefined): ValueKind | null {
  if (!property) return null
  if (property.property_type) return declared[property.property_type]
  if (property.is_numerical) return 'number'
  if (property.count > 0 && property.counts.boolean === property.count) return 'boolean'
  return property.count > 0 && property.counts.time === property.count ? 'time' : null
}

const none: readonly never[] = []
export const useGroupTypes = () => useList<GroupTypeAnswer>('groups_types/') ?? none
/** Not wanted: none. */
export const useActions = (isWanted = true) => useList<ActionAnswer>(isWanted ? 'actions/?limit=200' : null) ?? none
/** Null: not known yet. Not wanted: none. */
export const useKnownCohorts = (isWanted = true) => useList<CohortAnswer>(isWanted ? 'cohorts/?limit=200' : null)
export const useCohorts = () => useKnownCohorts() ?? none

/** How a cohort is called in a sentence; without its name until that is known. Not wanted: no cohort is read. */
export function useCohortName(isWanted = true): (id: unknown) => string {
  const cohorts = useKnownCohorts(isWanted) ?? none
  return (id) => (id === 'all' ? 'all people' : cohorts.find((one) => one.id === Number(id))?.name || `cohort ${String(id)}`)
}
