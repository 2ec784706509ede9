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
}

const projectId = 1

/** Everything acknowledged, in order. */
export class Model {
  readonly deeds: readonly Deed[]
  private identities = new IdentityModel()
  private readonly stored = new Map<string, SentEvent>()
  private known: Contents | null = null

  constructor(deeds: readonly Deed[] = []) {
    this.deeds = deeds
    for (const deed of deeds) this.apply(deed)
  }

  with(...deeds: readonly Deed[]): Model {
    return new Model([...this.deeds, ...deeds])
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
    this.known = { events, persons }
    return this.known
  }

  /** The uuid of an id's person; null: it has none. */
  personOf(id: string): string | null {
    const name = this.identities.nameOf(id)
    return name === null ? null : personUuid(projectId, name)
  }

  /** Of an event that was sent before. */
  get sent(): readonly SentEvent[] {
    return this.deeds.flatMap((deed) => (deed.deed === 'batch' ? deed.events : []))
  }

  private apply(deed: Deed): void {
    if (deed.deed === 'removal') return void this.identities.removeProperty(deed.name)
    if (deed.deed === 'change') return void this.identities.change(deed.change, 0)
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
      if (isStored) this.stored.set(uuid, event)
    }
  }
}
