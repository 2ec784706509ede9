import { isObject } from '../../lib/is-object.ts'
import { type CaptureRequest, decodeBody } from './body.ts'
import { CaptureRefusal } from './refusal.ts'

// From the JSON value to the events in it: whose they are (token), who did them (distinct id), what they are called.

export interface CapturedEvent {
  readonly event: string
  readonly distinct_id: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export interface Capture {
  readonly token: string
  readonly events: readonly CapturedEvent[]
  readonly sentAt: string | null
  readonly isHistorical: boolean
  readonly ip: string | null
}

type Json = Readonly<Record<string, unknown>>

const longestId = 200
const longestToken = 64
const mostLevels = 200

/** `isEngage`: an event without a name is an `$identify`. `address`: of the connection, when no proxy names the client's. */
export async function readCapture(
  request: CaptureRequest,
  now: Date,
  options: { isEngage: boolean; address: string | null },
): Promise<Capture> {
  const { value, form } = await decodeBody(request)
  const { items, batch } = itemsOf(value)
  const token = tokenOf(items, batch, form, request.query)
  const sentAt = sentAtOf(request.query, batch ?? (items.length === 1 ? items[0]! : null), form, now)
  const events = items
    .map((item, index) => eventOf(item, index, options.isEngage, sentAt !== null))
    .filter((event) => event.event !== '$performance_event')
  return {
    token,
    events,
    sentAt,
    isHistorical: batch?.historical_migration === true || batch?.historicalMigration === true,
    ip: forwardedFor(request.headers) ?? options.address,
  }
}

function itemsOf(value: unknown): { items: readonly Json[]; batch: Json | null } {
  if (Array.isArray(value)) return { items: objects(value), batch: null }
  if (!isObject(value)) throw invalid(`All events must be dictionaries not '${kindOf(value)}'!`)
  if (!('batch' in value)) {
    if (Object.keys(value).length === 0) throw new CaptureRefusal('no-data', 'The request holds no event.')
    return { items: [value], batch: null }
  }
  if (!Array.isArray(value.batch)) throw invalid(`All events must be dictionaries not '${kindOf(value.batch)}'!`)
  return { items: objects(value.batch), batch: value }
}

function objects(list: readonly unknown[]): readonly Json[] {
  if (list.length === 0) throw new CaptureRefusal('no-data', 'The request holds no event.')
  for (const item of list) if (!isObject(item)) throw invalid(`All events must be dictionaries not '${kindOf(item)}'!`)
  return list as readonly Json[]
}

function tokenOf(items: readonly Json[], batch: Json | null, form: URLSearchParams, query: URLSearchParams): string {
  const whole = firstSet(batch?.api_key, batch?.token, batch?.$token)
  if (whole !== undefined) return checkedToken(whole)
  const beside = firstSet(form.get('api_key'), form.get('token'), query.get('api_key'), query.get('token'))
  const own = items.map((item) =>
    firstSet(item.token, item.$token, item.api_key, isObject(item.properties) ? item.properties.token : undefined),
  )
  const found = [...new Set(own.filter((token) => token !== undefined))]
  if (found.length > 1) throw new CaptureRefusal('two-tokens', 'The events of one request carry different API keys.')
  const token = found[0] ?? beside
  if (token === undefined)
    throw new CaptureRefusal('missing-token', 'API key not provided. You can find your project API key in your project settings.')
  return checkedToken(token)
}

function checkedToken(token: unknown): string {
  const refuse = (reason: 'token-not-string' | 'token-empty' | 'token-too-long' | 'token-not-ascii' | 'token-personal', name: string) =>
    new CaptureRefusal(reason, `API key is not valid: ${name}`)
  if (typeof token !== 'string') throw refuse('token-not-string', 'not_string')
  if (token === '') throw refuse('token-empty', 'empty')
  if (token.length > longestToken) throw refuse('token-too-long', 'too_long')
  if (!/^[\x00-\x7f]*$/.test(token)) throw refuse('token-not-ascii', 'not_ascii')
  if (token.startsWith('phx_')) throw refuse('token-personal', 'personal_api_key')
  return token
}

/** Fields that clients put into events and that are not of the event. */
const ofRequest: ReadonlySet<string> = new Set(['token', '$token', 'api_key', '$distinct_id'])

/** `isSent`: the request says when it was sent, which then holds for each of its events. */
function eventOf(item: Json, index: number, isEngage: boolean, isSent: boolean): CapturedEvent {
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
  return text.length > longestId ? [...text].slice(0, longestId).join('') : text
}

const earliestMillis = 1e11 // before 1973: seconds, not milliseconds

function sentAtOf(query: URLSearchParams, body: Json | null, form: URLSearchParams, now: Date): string | null {
  const millis = Number(query.get('_') ?? Number.NaN)
  if (Number.isFinite(millis) && millis >= earliestMillis && millis < now.getTime() + 1e12) return new Date(millis).toISOString()
  for (const given of [body?.sent_at, body?.sentAt, form.get('sent_at')]) if (typeof given === 'string' && given !== '') return given
  return null
}

/** The first address of X-Forwarded-For, without its port. */
function forwardedFor(headers: Headers): string | null {
  const first = headers.get('x-forwarded-for')?.split(',')[0]?.trim()
  if (!first) return null
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(first)
  if (bracketed) return bracketed[1]!
  return /^[\d.]+:\d+$/.test(first) ? first.slice(0, first.indexOf(':')) : first
}

/** Numbers and containers become text; the keys of an object in order, so that the same id is the same text. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(inOrder(value)))
function inOrder(value: unknown, level = 0): unknown {
  if (level > mostLevels) throw invalid(`a name or an id is nested more than ${mostLevels} levels deep`)
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
const invalid = (why: string) => new CaptureRefusal('invalid-payload', `Invalid payload: ${why}`)
