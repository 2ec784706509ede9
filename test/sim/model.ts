import { personUuid } from '../../src/events/ingestion/decoding/uuid.ts'
import { IdentityModel, type ModelChange } from '../reference/identity-model.ts'

// What a project must hold after what was acknowledged, with arrays and the naive model of identities.

export interface SentEvent {
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** What is acknowledged as a whole. */
export type Deed =
  | { readonly deed: 'batch'; readonly events: readonly SentEvent[] }
  | { readonly deed: 'change'; readonly change: ModelChange }
  /** Of all persons. */
  | { readonly deed: 'removal'; readonly name: string }
  /** How many months events are kept; null: for ever. `names`: those of these names, instead. */
  | { readonly deed: 'retention'; readonly retention: Retention }
  /** A batch export was made. */
  | { readonly deed: 'export' }
  /** Midnight has come, or the setting has changed: events are kept from other times on. */
  | { readonly deed: 'kept'; readonly from: KeptFrom }

interface Retention {
  readonly months: number | null
  readonly names: Readonly<Record<string, number>>
}

/** Milliseconds since 1970; null: since ever. */
interface KeptFrom {
  readonly all: number | null
  readonly names: Readonly<Record<string, number>>
}

/** An event as it is compared: in the order of arrival. */
export interface ModelRow {
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly n: unknown
  readonly person: string
}

export interface ModelPerson {
  readonly person: string
  readonly ids: readonly string[]
  readonly isIdentified: boolean
  readonly properties: Readonly<Record<string, unknown>>
}

export interface Contents {
  readonly events: readonly ModelRow[]
  readonly persons: readonly ModelPerson[]
  readonly retention: Retention
  /** Batch exports. */
  readonly exports: number
}

const projectId = 1

/** The midnight that began the day so many months ago, or the last one of a shorter month. */
function monthsBefore(months: number, now: number): number {
  const day = new Date(now)
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth() - months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(day.getUTCDate(), lastDay))
}

/** Everything acknowledged, in order. */
export class Model {
  readonly deeds: readonly Deed[]
  private identities = new IdentityModel()
  private readonly stored = new Map<string, SentEvent>()
  private readonly forgotten = new Set<string>()
  private known: Contents | null = null
  private retention: Retention = { months: null, names: {} }
  private keptFrom: KeptFrom = { all: null, names: {} }
  private exports = 0

  constructor(deeds: readonly Deed[] = []) {
    this.deeds = deeds
    for (const deed of deeds) this.apply(deed)
  }

  with(...deeds: readonly Deed[]): Model {
    return new Model([...this.deeds, ...deeds])
  }

  /** The same, once somebody has asked at a time. */
  at(now: number): Model {
    const { months, names } = this.retention
    const all = months === null ? null : monthsBefore(months, now)
    const from = { all, names: Object.fromEntries(Object.entries(names).map(([name, count]) => [name, monthsBefore(count, now)])) }
    return JSON.stringify(from) === JSON.stringify(this.keptFrom) ? this : this.with({ deed: 'kept', from })
  }

  get contents(): Contents {
    if (this.known) return this.known
    const owners = this.identities.ownersOfEvents()
    const events = [...this.stored.values()].flatMap(({ uuid, event, distinct_id, timestamp, properties }) => {
      const owner = owners[uuid]
      return owner === undefined ? [] : [{ uuid, event, distinct_id, timestamp, n: properties.n, person: personUuid(projectId, owner) }]
    })
    const persons = this.identities
      .persons()
      .map(({ name, ids, isIdentified, properties: { $creator_event_uuid: _, ...properties } }) => ({
        person: personUuid(projectId, name),
        ids,
        isIdentified,
        properties,
      }))
      .sort((a, b) => (a.person < b.person ? -1 : 1))
    this.known = { events, persons, retention: this.retention, exports: this.exports }
    return this.known
  }

  /** The uuid of an id's person; null: it has none. */
  personOf(id: string): string | null {
    const name = this.identities.nameOf(id)
    return name === null ? null : personUuid(projectId, name)
  }

  /** Events that were sent before. Those that are not kept any more count as duplicates for the process that has stored them, and not for the next one. */
  get sent(): readonly SentEvent[] {
    return this.deeds.flatMap((deed) => (deed.deed === 'batch' ? deed.events.filter(({ uuid }) => !this.forgotten.has(uuid)) : []))
  }

  /** The uuids of all events that were sent. */
  get everSent(): readonly string[] {
    return this.deeds.flatMap((deed) => (deed.deed === 'batch' ? deed.events.map(({ uuid }) => uuid) : []))
  }

  private apply(deed: Deed): void {
    if (deed.deed === 'removal') return void this.identities.removeProperty(deed.name)
    if (deed.deed === 'change') return void this.identities.change(deed.change, 0)
    if (deed.deed === 'export') {
      this.exports++
      return
    }
    if (deed.deed === 'retention') {
      this.retention = deed.retention
      return
    }
    if (deed.deed === 'kept') {
      this.keptFrom = deed.from
      this.identities.noteRemoval()
      this.forget([...this.stored.values()].filter((event) => !this.isKept(event)))
      return
    }
    for (const event of deed.events) {
      const { uuid, distinct_id, timestamp, properties } = event
      const isStored = this.identities.apply({
        event: event.event,
        uuid,
        distinct_id,
        time: Date.parse(timestamp) * 1000,
        ...(properties.$process_person_profile === false && { isPersonless: true }),
        ...('$set' in properties && { set: properties.$set as Record<string, unknown> }),
        ...('$set_once' in properties && { setOnce: properties.$set_once as Record<string, unknown> }),
        ...('$unset' in properties && { unset: properties.$unset as string[] }),
        ...('$anon_distinct_id' in properties && { other: properties.$anon_distinct_id as string }),
        ...('alias' in properties && { other: properties.alias as string }),
      })
      if (!isStored) continue
      if (this.isKept(event)) this.stored.set(uuid, event)
      else this.forget([event]) // what it says of persons holds
    }
  }

  private isKept({ event, timestamp }: SentEvent): boolean {
    const { all, names } = this.keptFrom
    const from = names[event] ?? all
    return from === null || Date.parse(timestamp) >= from
  }

  private forget(events: readonly SentEvent[]): void {
    for (const { uuid } of events) {
      this.stored.delete(uuid)
      this.forgotten.add(uuid)
    }
    this.identities.forget(events.map(({ uuid }) => uuid))
  }
}
