import type { LocalWaymark } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import type { Contents, ModelRow } from './model.ts'

/** What the engine holds, in the order of arrival. */
export async function contentsOf({ accounts }: LocalWaymark, project: LocalProject): Promise<Contents> {
  const { events_months: months, event_names: names } = retentionSetting((await accounts.projects.byId(project.id))!)
  const { events } = await project.storedEvents.range({ after: 0, to: Number.MAX_SAFE_INTEGER, events: 1_000_000, characters: 1e9 })
  const { results } = await project.sql<[string, boolean, string, string[]]>`
    select toString(id), is_identified, toString(properties), arraySort(groupArray(pdi.distinct_id)) from persons group by id, is_identified, properties`
  return {
    exports: (await accounts.context.store.read.batch_exports.find({})).length,
    retention: { months: months ?? null, names: names ?? {} },
    events: events.map(
      ({ uuid, event, distinct_id, timestamp, properties, person_id }): ModelRow => ({
        uuid,
        event,
        distinct_id,
        timestamp: `${timestamp.slice(0, 23)}Z`,
        n: (JSON.parse(properties) as { n?: unknown }).n,
        person: person_id,
      }),
    ),
    persons: results
      .map(([person, isIdentified, text, ids]) => {
        const { $creator_event_uuid: _, ...properties } = JSON.parse(text) as Record<string, unknown>
        return { person, ids, isIdentified: Boolean(isIdentified), properties }
      })
      .sort((a, b) => (a.person < b.person ? -1 : 1)),
  }
}

interface RetentionSetting {
  readonly events_months?: number | null
  readonly event_names?: Readonly<Record<string, number>> | null
}
const retentionSetting = ({ settings }: { readonly settings: unknown }): RetentionSetting =>
  (settings as { readonly data_retention?: RetentionSetting | null }).data_retention ?? {}

const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, one]) => [key, sorted(one)]),
      )
    : value
const textOf = (value: unknown) => JSON.stringify(sorted(value))

/** The first difference, in words; null: there is none. */
export function differenceOf(found: Contents, expected: Contents): string | null {
  if (textOf(found.retention) !== textOf(expected.retention))
    return `other retention: expected ${textOf(expected.retention)}, but got ${textOf(found.retention)}`
  if (found.exports !== expected.exports) return `other exports: expected ${expected.exports}, but got ${found.exports}`
  const foundUuids = found.events.map(({ uuid }) => uuid)
  const expectedUuids = expected.events.map(({ uuid }) => uuid)
  const once = new Set(foundUuids)
  if (once.size < foundUuids.length) return `doubled: event ${foundUuids.find((uuid, i) => foundUuids.indexOf(uuid) !== i)}`
  const lost = expectedUuids.filter((uuid) => !once.has(uuid))
  if (lost.length > 0) return `lost: ${lost.length} of ${expectedUuids.length} events, first ${lost[0]}`
  const known = new Set(expectedUuids)
  const more = foundUuids.filter((uuid) => !known.has(uuid))
  if (more.length > 0) return `not acknowledged, or deleted: ${more.length} events, first ${more[0]}`
  for (const [i, event] of expected.events.entries()) {
    if (found.events[i]!.uuid !== event.uuid) return `reordered: event ${i} should be ${event.uuid}, but is ${found.events[i]!.uuid}`
    if (textOf(found.events[i]) !== textOf(event)) return `other event: expected ${textOf(event)}, but got ${textOf(found.events[i])}`
  }
  const persons = new Map(found.persons.map((person) => [person.person, person]))
  for (const person of expected.persons) {
    const one = persons.get(person.person)
    if (!one) return `lost: person ${textOf(person)}`
    if (textOf(one) !== textOf(person)) return `other person: expected ${textOf(person)}, but got ${textOf(one)}`
  }
  return found.persons.length > expected.persons.length ? `more persons: ${found.persons.length}, not ${expected.persons.length}` : null
}
