import { useMemo } from 'preact/hooks'
import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import type { PropertyDefinitionAnswer } from '../../doors/answers/property-definitions.ts'
import { readableEvent, readableProperty } from '../../service/pictures/readable.ts'
import { capital } from './format.ts'
import type { Choice } from './matching.ts'
import {
  kindOf,
  sessionProperties,
  useActions,
  useEventDefinitions,
  useGroupTypes,
  useKnownCohorts,
  usePropertyDefinitions,
  type Whose,
} from './names.ts'
import type { ValueKind } from './value-kind.ts'

// What a picker offers of a project.

export interface Choices<T> {
  readonly choices: readonly Choice<T>[]
  readonly isReading: boolean
}

/** Null: all events. */
export type EventChoice = { readonly event: string } | { readonly action: number; readonly name: string } | null

const isOfLibraries = (name: string) => name.startsWith('$')
/** What somebody named for the product comes before what client libraries name. */
const ownFirst = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] => [
  ...all.filter(({ name }) => !isOfLibraries(name)),
  ...all.filter(({ name }) => isOfLibraries(name)),
]

const choiceOfEvent = ({ name, count, description, last_seen_at }: EventDefinitionAnswer): Choice<EventChoice> => ({
  of: { event: name },
  name,
  label: readableEvent(name),
  group: isOfLibraries(name) ? 'Events sent by client libraries' : 'Events',
  count,
  about: description,
  seen: last_seen_at ?? undefined,
})

export const eventText = (choice: EventChoice): string =>
  choice === null ? '' : 'event' in choice ? readableEvent(choice.event) : choice.name || `Action ${choice.action}`

/** `all`: what stands for no choice; without it there must be one. */
export function useEventChoices(typed: string, { all, hasActions = false }: { all?: string; hasActions?: boolean }): Choices<EventChoice> {
  const { rows, isReading } = useEventDefinitions(typed)
  const actions = useActions(hasActions)
  const choices = useMemo(() => {
    return [
      ...(all === undefined ? [] : [{ of: null, name: '', label: all, group: '' }]),
      ...ownFirst(rows.filter(({ hidden }) => !hidden)).map(choiceOfEvent),
      ...actions.map(({ id, name, description }) => ({
        of: { action: id, name: name ?? '' },
        name: `Action: ${name || id}`,
        label: name || `Action ${id}`,
        group: 'Actions',
        about: description,
      })),
    ]
  }, [rows, actions, all])
  return { choices, isReading }
}

/** A property, a cohort, or an expression in SQL. */
export type PropertyChoice =
  | { readonly type: 'event' | 'person' | 'session'; readonly key: string }
  | { readonly type: 'group'; readonly group_type_index: number; readonly key: string }
  | { readonly type: 'cohort'; readonly id: number | 'all' }
  | { readonly type: 'hogql' }

const kindWords: Readonly<Record<ValueKind, string>> = { text: 'Text', number: 'Number', boolean: 'True or false', time: 'Time' }

function choiceOfProperty(definition: PropertyDefinitionAnswer, group: string, of: PropertyChoice): Choice<PropertyChoice> {
  const { name, count, description, last_seen_at } = definition
  const kind = kindOf(definition)
  return {
    of,
    name,
    label: readableProperty(name),
    group,
    count,
    about: description,
    kind: kind === null ? undefined : kindWords[kind],
    seen: last_seen_at ?? undefined,
  }
}

export interface PropertyChoicesAsked {
  /** Of these only; else of all, groups too. */
  readonly whose?: readonly ('event' | 'person' | 'session')[]
  /** Only cohorts, with everybody where that can be one. */
  readonly cohorts?: 'none' | 'with everybody' | 'without everybody'
  readonly hasSql?: boolean
  /** Numbers come first. */
  readonly isNumber?: boolean
  /** People are counted: their properties come first, before those of events with the same names. */
  readonly isOfPeople?: boolean
}

const [ofEvents, ofPersons, ofSessions] = ['Event properties', 'Person properties', 'Session properties']

/** The properties of the group type with each index; five lists, whether there are so many or not. */
const useGroupDefinitions = (indices: readonly number[], typed: string) =>
  [0, 1, 2, 3, 4].map((index) => usePropertyDefinitions(indices.includes(index) ? (`group:${index}` as Whose) : null, typed))

export function usePropertyChoices(typed: string, asked: PropertyChoicesAsked): Choices<PropertyChoice> {
  const { whose, cohorts: withCohorts = 'none', hasSql = false, isNumber = false, isOfPeople = false } = asked
  const has = (one: 'event' | 'person' | 'session') => whose === undefined || whose.includes(one)
  const events = usePropertyDefinitions(has('event') ? 'event' : null, typed)
  const people = usePropertyDefinitions(has('person') ? 'person' : null, typed)
  const types = useGroupTypes()
  const ofGroups = useGroupDefinitions(whose === undefined ? types.map(({ group_type_index }) => group_type_index) : [], typed)
  const cohorts = useKnownCohorts(withCohorts !== 'none')
  const choices = useMemo(() => {
    const ofDefinitions = (rows: readonly PropertyDefinitionAnswer[], group: string, of: (key: string) => PropertyChoice) =>
      ownFirst(rows.filter(({ hidden }) => !hidden)).map((one) => choiceOfProperty(one, group, of(one.name)))
    const ownEvents = ofDefinitions(events.rows, ofEvents, (key) => ({ type: 'event', key }))
    const ownPeople = ofDefinitions(people.rows, ofPersons, (key) => ({ type: 'person', key }))
    const properties = [
      ...(isOfPeople ? [...ownPeople, ...ownEvents] : [...ownEvents, ...ownPeople]),
      ...(has('session') ? sessionProperties : []).map((key) => ({
        of: { type: 'session' as const, key },
        name: key,
        label: readableProperty(key),
        group: ofSessions,
        ...(/_count$|duration$/.test(key) && { kind: kindWords.number }),
      })),
      ...types.flatMap(({ group_type, group_type_index, name_singular }) =>
        ofDefinitions(ofGroups[group_type_index]!.rows, `${capital(name_singular || group_type)} properties`, (key) => ({
          type: 'group',
          group_type_index,
          key,
        })),
      ),
    ]
    return [
      ...(isNumber ? numbersFirst(properties) : properties),
      ...(withCohorts === 'none' ? [] : cohortChoices(cohorts ?? [], withCohorts === 'with everybody')),
      ...(hasSql ? [{ of: { type: 'hogql' as const }, name: 'SQL expression', label: 'SQL expression', group: 'Anything else' }] : []),
    ]
  }, [events.rows, people.rows, types, ...ofGroups.map(({ rows }) => rows), cohorts, JSON.stringify(asked)])
  return { choices, isReading: cohorts === null || [events, people, ...ofGroups].some(({ isReading }) => isReading) }
}

const numbersFirst = (all: readonly Choice<PropertyChoice>[]): readonly Choice<PropertyChoice>[] => [
  ...all.filter(({ kind }) => kind === kindWords.number),
  ...all.filter(({ kind }) => kind !== kindWords.number).map((one) => ({ ...one, group: `${one.group} that are not all numbers` })),
]

const ofCohorts = 'Cohorts'
const cohortChoice = ({ id, name, count, description }: CohortAnswer) => ({
  name: name || `Cohort ${id}`,
  label: name || `Cohort ${id}`,
  group: ofCohorts,
  count,
  about: description,
})
const everybody: Choice<PropertyChoice> = { of: { type: 'cohort', id: 'all' }, name: 'Everybody', label: 'Everybody', group: ofCohorts }
const cohortChoices = (cohorts: readonly CohortAnswer[], hasEverybody: boolean): readonly Choice<PropertyChoice>[] => [
  ...(hasEverybody ? [everybody] : []),
  ...cohorts.map((one) => ({ ...cohortChoice(one), of: { type: 'cohort' as const, id: one.id } })),
]

/** By their ids. */
export function useCohortChoices(): Choices<number> {
  const cohorts = useKnownCohorts()
  const choices = useMemo(() => (cohorts ?? []).map((one) => ({ ...cohortChoice(one), of: one.id })), [cohorts])
  return { choices, isReading: cohorts === null }
}
