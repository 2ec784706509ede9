import { isObject } from '../../../lib/is-object.ts'
import type { JsonObject } from '../ports.ts'
import type { DeliveredEvent } from '../runtime.ts'
import { elementsOf } from './elements.ts'
import type { StoredEvent } from './ports.ts'

const objectIn = (json: string): JsonObject => {
  const value: unknown = JSON.parse(json || '{}')
  return isObject(value) ? value : {}
}
const part = (properties: JsonObject, name: string): JsonObject => {
  const value = properties[name]
  return isObject(value) ? value : {}
}

/** A stored event as plugins receive it. */
export function deliveredEvent(projectId: number, siteUrl: string, stored: StoredEvent): DeliveredEvent {
  const { uuid, event, distinct_id, elements_chain } = stored
  const timestamp = new Date(stored.timestamp).toISOString()
  const properties = objectIn(stored.properties)
  const shared = { uuid, event, distinct_id, team_id: projectId, timestamp }
  return {
    event: {
      ...shared,
      ip: null,
      properties,
      $set: part(properties, '$set'),
      $set_once: part(properties, '$set_once'),
      elements: elementsOf(elements_chain),
    },
    webhookEvent: {
      ...shared,
      properties: elements_chain === '' ? properties : { ...properties, $elements_chain: elements_chain },
      person: {
        uuid: stored.person_id,
        properties: objectIn(stored.person_properties),
        url: `${siteUrl}/person/${encodeURIComponent(distinct_id)}`,
      },
    },
  }
}
