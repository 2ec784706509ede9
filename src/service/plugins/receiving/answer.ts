import { nameUuid } from '../../../lib/ids/name-uuid.ts'
import { isObject } from '../../../lib/is-object.ts'
import { excerpt } from '../../../lib/text/excerpt.ts'
import type { JsonObject } from '../ports.ts'

// What `onRequest` returned: events to store, and the answer to the sender.

export interface ReceivedAnswer {
  readonly events: readonly JsonObject[]
  /** Length of the text that has them. */
  readonly bytes: number
  readonly status: number
  readonly body: { readonly text: string; readonly isJson: boolean } | null
}

/** Why what a plugin returned cannot be used, in words for its author. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

const longestBody = 65_536
const fields = ['events', 'status', 'body']
const expected = 'return nothing, a list of events, or { events, status, body }'
/** Of the ids that plugins give their events. */
const deliveries = '0f6f3b6e-7d0c-4a55-8d0f-0c5d6a1b9e27'

const shown = (value: unknown) => excerpt(JSON.stringify(value), 40)

const statusOf = (value: unknown): number => {
  if (value === undefined || value === null) return 200
  const isAllowed =
    Number.isInteger(value) && ((Number(value) >= 200 && Number(value) < 300) || (Number(value) >= 400 && Number(value) < 600))
  if (!isAllowed) throw new AnswerError(`the status must be from 200 to 299 or from 400 to 599, not ${shown(value)}`)
  return Number(value)
}

/** A text, or anything else as JSON: never a page, because it is served from the address of the web interface. */
const bodyOf = (value: unknown): ReceivedAnswer['body'] => {
  if (value === undefined || value === null) return null
  const body = typeof value === 'string' ? { text: value, isJson: false } : { text: JSON.stringify(value), isJson: true }
  if (body.text.length > longestBody) throw new AnswerError(`the body has more than ${longestBody} characters`)
  return body
}

/** `id` becomes a uuid, the same each time: an event that is delivered again is a duplicate. */
const eventOf = (configId: number, value: unknown, index: number): JsonObject => {
  if (!isObject(value)) throw new AnswerError(`each event must be an object, but event ${index} is ${shown(value)}`)
  const { id, ...event } = value
  if (id === undefined || id === null) return event
  if ((typeof id !== 'string' || id === '') && typeof id !== 'number')
    throw new AnswerError(`the id of an event must be a text or a number, but that of event ${index} is ${shown(id)}`)
  if (event.uuid !== undefined) throw new AnswerError(`an event has an id or a uuid, but event ${index} has both`)
  return { ...event, uuid: nameUuid(deliveries, `${configId} ${id}`) }
}

const eventsOf = (configId: number, value: unknown): readonly JsonObject[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new AnswerError(`events must be a list, not ${shown(value)}`)
  return value.map((event, index) => eventOf(configId, event, index))
}

/** `json`: what the plugin returned; null for nothing. */
export function readAnswer(configId: number, json: string | null): ReceivedAnswer {
  let value: unknown
  try {
    value = json === null ? [] : JSON.parse(json)
  } catch {
    throw new AnswerError(expected)
  }
  const bytes = json?.length ?? 0
  if (Array.isArray(value)) return { events: eventsOf(configId, value), bytes, status: 200, body: null }
  if (!isObject(value)) throw new AnswerError(`${expected}, not ${shown(value)}`)
  const strange = Object.keys(value).find((name) => !fields.includes(name))
  if (strange !== undefined) throw new AnswerError(`${expected}: there is no field ${shown(strange)}`)
  return { events: eventsOf(configId, value.events), bytes, status: statusOf(value.status), body: bodyOf(value.body) }
}
