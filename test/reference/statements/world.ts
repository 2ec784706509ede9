import { cannot, type Kind, type Own, ownNumber, ownText, type Time, type Value } from './values.ts'

// The tables of a project as arrays of rows, made from what was sent to it.

export interface SentEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
}

export interface Sent {
  readonly events: readonly SentEvent[]
  readonly persons: readonly { readonly distinct_ids: readonly string[]; readonly properties: Readonly<Record<string, unknown>> }[]
  readonly groups: readonly { readonly group_key: string; readonly properties: Readonly<Record<string, unknown>> }[]
  /** Distinct ids that another one turned out to be. */
  readonly same: Readonly<Record<string, string>>
  /** Distinct ids whose events make no person. */
  readonly personless: readonly string[]
  /** Distinct ids of the members of cohort 1. */
  readonly cohort: readonly string[]
  /** Event properties whose type was declared. */
  readonly declared: Readonly<Record<string, 'Numeric' | 'Boolean' | 'String'>>
}

export interface Row {
  /** What a chain of names leads to. */
  read(chain: readonly (string | number)[]): Value
}
export interface Relation {
  readonly rows: readonly Row[]
  has(name: string): boolean
  /** Can the value be null in some row? */
  mayBeNull(chain: readonly (string | number)[]): boolean
  kindOf(chain: readonly (string | number)[]): Kind
  readonly columns?: readonly string[]
}

/** `2024-03-10T07:00:00.000001Z` in microseconds. */
function micros(iso: string): number {
  const [, whole, fraction = ''] = /^([^.]*?)(?:\.(\d+))?Z$/.exec(iso)!
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, '0'))
}

/** The value below a document at a path; nothing for null. */
function valueAt(document: unknown, path: readonly (string | number)[]): Own | null {
  let value = document
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return null
    value = Array.isArray(value) ? value[Number(step) - 1] : (value as Record<string, unknown>)[step]
  }
  return value === null || value === undefined ? null : { own: value }
}

function declaredValue(value: Own, type: Sent['declared'][string]): Value {
  if (type === 'Numeric') return ownNumber(value)
  const text = ownText(value)
  return type === 'String' ? text : text === 'true' ? true : text === 'false' ? false : null
}

const time = (at: number): Time => ({ micros: at, isDay: false })

export function worldOf(sent: Sent): Readonly<Record<string, Relation>> {
  const whose = (distinctId: string) => sent.same[distinctId] ?? distinctId
  const imported = new Map(sent.persons.flatMap((person) => person.distinct_ids.map((id) => [id, person.properties] as const)))
  const groups = new Map(sent.groups.map((group) => [group.group_key, group.properties]))
  const groupOf = ({ properties }: SentEvent) => (properties.$groups as { company?: string } | undefined)?.company ?? ''
  const sessionOf = ({ properties }: SentEvent) => (properties.$session_id as string | undefined) ?? ''
  const person = (distinctId: string, [field, ...path]: readonly (string | number)[]): Value => {
    if (field === 'id') return { person: whose(distinctId) }
    if (field === 'properties' && path.length > 0) return valueAt(imported.get(whose(distinctId)) ?? {}, path)
    return cannot(`the person's ${field}`)
  }
  const sessions = sessionRows(sent.events, sessionOf)

  const event = (sentEvent: SentEvent): Row => ({
    read([field, ...path]) {
      switch (field) {
        case 'event':
        case 'distinct_id':
          return sentEvent[field]
        case 'timestamp':
          return time(micros(sentEvent.timestamp))
        case '$session_id':
          return sessionOf(sentEvent)
        case 'properties': {
          if (path.length === 0) return cannot('a whole document')
          const value = valueAt(sentEvent.properties, path)
          return value && isDeclared(path) ? declaredValue(value, sent.declared[String(path[0])]!) : value
        }
        case 'person_id':
          return { person: whose(sentEvent.distinct_id) }
        case 'person':
          return person(sentEvent.distinct_id, path)
        case 'pdi':
          if (path[0] !== 'person') return cannot('a field of pdi')
          return sent.personless.includes(sentEvent.distinct_id) ? null : person(sentEvent.distinct_id, path.slice(1))
        case 'group_0':
          if (path[0] !== 'properties') return cannot('a field of a group')
          return valueAt(groups.get(groupOf(sentEvent)) ?? {}, path.slice(1))
        case 'session':
          return sessions.get(sessionOf(sentEvent))?.read(path) ?? missingSession(path)
      }
      return cannot(`the field ${field}`)
    },
  })
  const isDeclared = (path: readonly (string | number)[]) => path.length === 1 && String(path[0]) in sent.declared
  const sure = new Set(['event', 'distinct_id', 'timestamp', '$session_id', 'person_id'])
  const known = [...new Set([...sent.persons.flatMap((p) => p.distinct_ids), ...sent.events.map((e) => e.distinct_id)])].filter(
    (id) => !sent.personless.includes(id),
  )
  return {
    events: {
      rows: sent.events.map(event),
      has: (name) => sure.has(name) || ['properties', 'person', 'pdi', 'group_0', 'session'].includes(name),
      mayBeNull: (chain) => chain.length > 1 || !sure.has(String(chain[0])),
      kindOf: (chain) => {
        if (chain[0] === 'session') return sessionKind(chain[1])
        if (!chain.includes('properties')) return 'other'
        const path = chain.slice(1)
        if (chain[0] !== 'properties' || !isDeclared(path)) return 'own'
        return ({ Numeric: 'number', Boolean: 'boolean', String: 'other' } as const)[sent.declared[String(path[0])]!]
      },
    },
    persons: {
      rows: [...new Set(known.map(whose))].map((id): Row => ({ read: (chain) => person(id, chain) })),
      has: (name) => name === 'id' || name === 'properties',
      mayBeNull: (chain) => chain[0] !== 'id',
      kindOf: (chain) => (chain[0] === 'properties' ? 'own' : 'other'),
    },
    person_distinct_ids: {
      rows: known.map((id): Row => ({ read: ([field]) => (field === 'distinct_id' ? id : { person: whose(id) }) })),
      has: (name) => name === 'distinct_id' || name === 'person_id',
      mayBeNull: () => false,
      kindOf: () => 'other',
    },
    cohort: {
      rows: [...new Set(sent.cohort.map(whose))].map((id): Row => ({ read: () => ({ person: id }) })),
      has: (name) => name === 'person_id',
      mayBeNull: () => false,
      kindOf: () => 'other',
    },
    sessions: {
      rows: [...sessions.values()],
      has: (name) => sessionFields.has(name),
      mayBeNull: (chain) => chain[0] === '$is_bounce',
      kindOf: ([field]) => sessionKind(field),
    },
  }
}

const sessionFields = new Set(
  '$session_duration duration session_id $start_timestamp $end_timestamp $pageview_count $is_bounce $num_uniq_urls'.split(' '),
)
const sessionKind = (field: string | number | undefined): Kind =>
  field === '$is_bounce' ? 'boolean' : /duration|count|num_/.test(String(field)) ? 'number' : 'other'
const missingSession = ([field]: readonly (string | number)[]): Value => (sessionFields.has(String(field)) ? null : cannot(`${field}`))

/** One row for each session id. Which of several events at one moment is the first is not said, so first and last addresses are left out. */
function sessionRows(events: readonly SentEvent[], idOf: (event: SentEvent) => string): Map<string, Row> {
  const bySession = new Map<string, SentEvent[]>()
  for (const event of events) if (idOf(event)) bySession.set(idOf(event), [...(bySession.get(idOf(event)) ?? []), event])
  const row = (id: string, own: readonly SentEvent[]): Row => {
    const at = own.map((event) => micros(event.timestamp))
    const [start, end] = [Math.min(...at), Math.max(...at)]
    const seconds = Math.floor(end / 1_000_000) - Math.floor(start / 1_000_000)
    const seen = own.filter(({ event }) => ['$pageview', '$screen', '$autocapture'].includes(event)).length
    const values: Readonly<Record<string, Value>> = {
      session_id: id,
      $start_timestamp: time(start),
      $end_timestamp: time(end),
      duration: seconds,
      $session_duration: seconds,
      $pageview_count: own.filter(({ event }) => event === '$pageview').length,
      $is_bounce: seen === 0 ? null : seen === 1 && seconds < 10,
      $num_uniq_urls: new Set(own.flatMap(({ properties }) => properties.$current_url ?? [])).size,
    }
    return { read: ([field]) => values[String(field)] ?? (field === '$is_bounce' ? null : cannot(`${field} of a session`)) }
  }
  return new Map([...bySession].map(([id, own]) => [id, row(id, own)]))
}
