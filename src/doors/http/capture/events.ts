import { isIP } from 'node:net'
import { isNoEvent, type StrangeField, strangeInBatch } from '../../../events/ingestion/decoding/event-fields.ts'
import type { EventSource } from '../../../events/ingestion/decoding/event-source.ts'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { isObject } from '../../../lib/is-object.ts'
import { type CaptureRequest, decodeBody } from './body.ts'
import { scanJson } from './json-items.ts'
import { CaptureRefusal } from './refusal.ts'

// The events in a body: the project's token, the distinct id, the name of each event.

export interface CapturedEvent {
  readonly event: string
  readonly distinct_id: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export interface Capture {
  readonly token: string
  /** Parsed one by one; an invalid event throws when it is reached. */
  readonly events: EventSource<CapturedEvent>
  readonly sentAt: string | null
  readonly isHistorical: boolean
  readonly ip: string | null
  /** Fields of the batch that are ignored. */
  readonly strangeFields: readonly StrangeField[]
}

type Json = Readonly<Record<string, unknown>>

const longestToken = 64
const maxLevels = 200

const sliceMs = 8

/** `isEngage`: an event without a name is an `$identify`. `address`: of the connection, if no proxy names the client's. */
export async function readCapture(
  request: CaptureRequest,
  now: Date,
  options: { isEngage: boolean; address: string | null },
): Promise<Capture> {
  const { json, form } = await decodeBody(request)
  const { items, value } = await runInSlices(scanJson(json), sliceMs)
  const batch = items && isObject(value) ? value : null
  const list = items ?? oneItem(value, json.length)
  if (list.count === 0) throw new CaptureRefusal('no-data', 'The request contains no events.')
  const token = checkedToken(await runInSlices(tokenOf(list, batch, form, request.query), sliceMs))
  const [first] = !batch && list.count === 1 ? list : []
  const sentAt = sentAtOf(request.query, batch ?? (isObject(first) ? first : null), form, now)
  return {
    token,
    events: eventsOf(list, { isEngage: options.isEngage, isSent: sentAt !== null, isTokenShared: batch === null || !hasToken(batch) }),
    sentAt,
    isHistorical: batch?.historical_migration === true || batch?.historicalMigration === true,
    ip: forwardedFor(request.headers) ?? options.address,
    strangeFields: strangeInBatch(batch ?? {}),
  }
}

/** A body that is one event. */
function oneItem(value: unknown, bytes: number): EventSource {
  if (!isObject(value)) throw invalid(`All events must be dictionaries not '${kindOf(value)}'!`)
  if ('batch' in value) throw invalid(`All events must be dictionaries not '${kindOf(value.batch)}'!`)
  if (Object.keys(value).length === 0) throw new CaptureRefusal('no-data', 'The request contains no events.')
  return { count: 1, bytes, [Symbol.iterator]: () => [value][Symbol.iterator]() }
}

function mustBeObject(item: unknown): Json {
  if (!isObject(item)) throw invalid(`All events must be dictionaries not '${kindOf(item)}'!`)
  return item
}

interface Reading {
  readonly isEngage: boolean
  /** The time of sending is in the request, and applies to all its events. */
  readonly isSent: boolean
  /** The batch has no token, so the tokens of its events must agree. */
  readonly isTokenShared: boolean
}

const eventsOf = (items: EventSource, reading: Reading): EventSource<CapturedEvent> => ({
  count: items.count,
  bytes: items.bytes,
  *[Symbol.iterator]() {
    let token: unknown
    let index = 0
    for (const raw of items) {
      const item = mustBeObject(raw)
      const own = reading.isTokenShared ? ownToken(item) : undefined
      token ??= own
      if (own !== undefined && own !== token) throw new CaptureRefusal('two-tokens', 'The events of one request carry different API keys.')
      const event = eventOf(item, index++, reading)
      if (!isNoEvent(event.event)) yield event
    }
  },
})

const ownToken = (item: Json): unknown =>
  firstSet(item.token, item.$token, item.api_key, isObject(item.properties) ? item.properties.token : undefined)
const tokenOfBatch = (batch: Json): unknown => firstSet(batch.api_key, batch.token, batch.$token)
const hasToken = (batch: Json): boolean => tokenOfBatch(batch) !== undefined

/** The value of the batch, else of the first event that has one, else of the form or the URL. */
function* tokenOf(items: EventSource, batch: Json | null, form: URLSearchParams, query: URLSearchParams): Generator<void, unknown> {
  const ofBatch = batch === null ? undefined : tokenOfBatch(batch)
  if (ofBatch !== undefined) return ofBatch
  for (const item of items) {
    const own = ownToken(mustBeObject(item))
    if (own !== undefined) return own
    yield
  }
  const beside = firstSet(form.get('api_key'), form.get('token'), query.get('api_key'), query.get('token'))
  if (beside !== undefined) return beside
  throw new CaptureRefusal('missing-token', missingToken)
}

const missingToken = 'API key not provided. You can find your project API key in your project settings.'

/** Characters that events may repeat of what a request says once for many of them: a small body cannot become a large one. */
const mostRepeated = 8 * 1024 * 1024

/** Each part with the number of events that repeat it. */
export function mustNotRepeat(parts: readonly (readonly [said: unknown, events: number])[]): void {
  const repeated = parts.reduce((sum, [said, events]) => sum + JSON.stringify(said).length * events, 0)
  if (repeated <= mostRepeated) return
  const detail = `What the request says once for many events would take ${repeated} characters with each of them, and at most ${mostRepeated} are taken. Send smaller batches.`
  throw new CaptureRefusal('too-large', detail)
}

/** The user of Basic authentication. */
export function basicUser(headers: Headers): string | undefined {
  const [scheme = '', value = ''] = (headers.get('authorization') ?? '').trim().split(' ', 2)
  if (scheme.toLowerCase() !== 'basic') return undefined
  const [user = ''] = Buffer.from(value, 'base64').toString('utf8').split(':', 1)
  return user === '' ? undefined : user
}

export function bearer(headers: Headers): string | undefined {
  const [scheme = '', value = ''] = (headers.get('authorization') ?? '').trim().split(' ', 2)
  return scheme.toLowerCase() === 'bearer' && value !== '' ? value : undefined
}

export function checkedToken(token: unknown): string {
  if (token === undefined) throw new CaptureRefusal('missing-token', missingToken)
  const refuse = (reason: 'token-not-string' | 'token-empty' | 'token-too-long' | 'token-not-ascii' | 'token-personal', name: string) =>
    new CaptureRefusal(reason, `API key is not valid: ${name}`)
  if (typeof token !== 'string') throw refuse('token-not-string', 'not_string')
  if (token === '') throw refuse('token-empty', 'empty')
  if (token.length > longestToken) throw refuse('token-too-long', 'too_long')
  if (!/^[\x00-\x7f]*$/.test(token)) throw refuse('token-not-ascii', 'not_ascii')
  if (token.startsWith('phx_')) throw refuse('token-personal', 'personal_api_key')
  return token
}

/** Fields that clients add to events but that are not part of them. */
const ofRequest: ReadonlySet<string> = new Set(['token', '$token', 'api_key', '$distinct_id'])

function eventOf(item: Json, index: number, { isEngage, isSent }: Reading): CapturedEvent {
  const properties = item.properties ?? {}
  if (!isObject(properties)) throw invalid(`Event field "properties" should be a dictionary! (event ${index})`)
  const name = item.event ?? (isEngage ? '$identify' : undefined)
  if (name === undefined || name === null) throw invalid('All events must have the event name field "event"!')
  if (name === '') throw invalid('Event field "event" should not be blank!')
  const event: Record<string, unknown> = {}
  for (const field in item) if (!ofRequest.has(field) && !(isSent && field === 'sent_at')) event[field] = item[field]
  return Object.assign(event, { event: asText(name), distinct_id: distinctIdOf(item, properties), properties })
}

function distinctIdOf(item: Json, properties: Json): string {
  const given = firstSet(item.distinct_id, item.$distinct_id, properties.distinct_id)
  if (given === undefined) {
    const isNamed = 'distinct_id' in item || '$distinct_id' in item || 'distinct_id' in properties
    throw invalid(isNamed ? 'Event field "distinct_id" should not be blank!' : 'All events must have the event field "distinct_id"!')
  }
  const text = asText(given)
  if (text === '') throw invalid('Event field "distinct_id" should not be blank!')
  return text
}

const earliestMillis = 1e11 // before 1973: seconds, not milliseconds

function sentAtOf(query: URLSearchParams, body: Json | null, form: URLSearchParams, now: Date): string | null {
  const millis = Number(query.get('_') ?? Number.NaN)
  if (Number.isFinite(millis) && millis >= earliestMillis && millis < now.getTime() + 1e12) return new Date(millis).toISOString()
  for (const given of [body?.sent_at, body?.sentAt, form.get('sent_at')]) if (typeof given === 'string' && given !== '') return given
  return null
}

const longestAddress = 64

/** The first address of X-Forwarded-For, without its port; null if it is invalid. */
export function forwardedFor(headers: Headers): string | null {
  const [first = ''] = (headers.get('x-forwarded-for') ?? '').split(',', 1).map((part) => part.trim())
  if (first.length > longestAddress) return null
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(first)
  const address = bracketed ? bracketed[1]! : /^[\d.]+:\d+$/.test(first) ? first.slice(0, first.indexOf(':')) : first
  return isIP(address) === 0 ? null : address
}

/** Numbers and containers become text; object keys are sorted, so that equal ids have equal texts. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(inOrder(value)))
function inOrder(value: unknown, level = 0): unknown {
  if (level > maxLevels) throw invalid(`an event name or distinct id is nested more than ${maxLevels} levels deep`)
  if (Array.isArray(value)) return value.map((one) => inOrder(one, level + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key], level + 1)]),
  )
}

const firstSet = (...values: readonly unknown[]): unknown => values.find((value) => value !== undefined && value !== null)
const kindOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
export const invalid = (why: string): CaptureRefusal => new CaptureRefusal('invalid-payload', `Invalid payload: ${why}`)
