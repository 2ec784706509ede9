import type { EventSource } from '../../../events/ingestion/decoding/event-source.ts'
import { nameUuid } from '../../../lib/ids/name-uuid.ts'
import { isObject } from '../../../lib/is-object.ts'
import { type CaptureRequest, decodeBody, parseJson } from './body.ts'
import { bearer, type Capture, type CapturedEvent, checkedToken, forwardedFor, invalid, mustNotRepeat } from './events.ts'
import { CaptureRefusal } from './refusal.ts'

// Logs and events of OpenTelemetry, over HTTP as JSON. The key of the project is the bearer token. docs/clients.md says what becomes of each field.

export const otlpPath = '/v1/logs'

type Fields = Readonly<Record<string, unknown>>

/** Of the ids of records, which have none: a record that is sent again has the same id. */
const records = '2f0c7c0a-8a0e-5d6c-9a54-7b4e9f6c2d33'
/** Attributes that name a person, the first one that is there. */
const personal = ['user.id', 'enduser.id', 'distinct_id', 'posthogDistinctId']
/** Without a person: what sent it. */
const senders = ['session.id', 'device.id', 'service.instance.id', 'service.name']
const levels = 20

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** A value of the protocol as plain JSON. */
function plain(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > levels) return null
  if ('stringValue' in value) return value.stringValue
  if ('boolValue' in value) return value.boolValue
  // Integers are texts, so that they keep their 64 bits.
  if ('intValue' in value) return Number.isSafeInteger(Number(value.intValue)) ? Number(value.intValue) : String(value.intValue)
  if ('doubleValue' in value) return value.doubleValue
  if ('bytesValue' in value) return value.bytesValue
  if (isObject(value.arrayValue)) return listOf(value.arrayValue.values).map((one) => plain(one, depth + 1))
  if (isObject(value.kvlistValue)) return attributesOf(value.kvlistValue.values, depth + 1)
  return null
}

const attributesOf = (list: unknown, depth = 0): Record<string, unknown> =>
  Object.fromEntries(listOf(list).flatMap(({ key, value }) => (typeof key === 'string' && key !== '' ? [[key, plain(value, depth)]] : [])))

/** Microseconds, as far as times go here. */
function timeOf(nanos: unknown): string | undefined {
  if (!/^\d{1,19}$/.test(String(nanos ?? ''))) return undefined
  const micros = BigInt(String(nanos)) / 1000n
  if (micros === 0n) return undefined
  const seconds = new Date(Number(micros / 1000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`
}

const firstText = (names: readonly string[], fields: Fields): string | undefined => {
  const name = names.find((one) => (typeof fields[one] === 'string' && fields[one] !== '') || typeof fields[one] === 'number')
  return name === undefined ? undefined : String(fields[name])
}

interface Logged {
  readonly resource: Fields
  readonly scope: Fields
  readonly log: Fields
  readonly index: number
}

function eventOf({ resource, scope, log, index }: Logged): CapturedEvent {
  const own = attributesOf(log.attributes)
  const all = { ...resource, ...own }
  const person = firstText(personal, all)
  const name = typeof log.eventName === 'string' && log.eventName !== '' ? log.eventName : firstText(['event.name'], own)
  const given = {
    body: 'body' in log ? plain(log.body) : undefined,
    $severity: log.severityText || log.severityNumber || undefined,
    $trace_id: log.traceId || undefined,
    $span_id: log.spanId || undefined,
    $scope: scope.name || undefined,
    $lib: 'otlp',
  }
  const about = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    event: name ?? '$log',
    distinct_id: person ?? firstText(senders, all) ?? 'unknown',
    properties: { ...all, ...about, ...(person === undefined && { $process_person_profile: false }) },
    ...((timeOf(log.timeUnixNano) ?? timeOf(log.observedTimeUnixNano)) !== undefined && {
      timestamp: timeOf(log.timeUnixNano) ?? timeOf(log.observedTimeUnixNano),
    }),
    uuid: nameUuid(records, JSON.stringify([index, resource, scope.name, log])),
  }
}

export async function readOtlp(request: CaptureRequest, address: string | null): Promise<Capture> {
  const type = request.headers.get('content-type') ?? ''
  if (type.includes('protobuf')) throw invalid('Send logs as JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json.')
  const { json } = await decodeBody(request)
  const body = parseJson(json)
  if (!isObject(body) || !Array.isArray(body.resourceLogs)) throw invalid('Logs need a list resourceLogs.')
  let index = 0
  const repeated: [Fields, number][] = []
  const found = listOf(body.resourceLogs).flatMap(({ resource, scopeLogs }) => {
    const about = attributesOf(isObject(resource) ? resource.attributes : [])
    repeated.push([about, listOf(scopeLogs).reduce((sum, { logRecords }) => sum + listOf(logRecords).length, 0)])
    return listOf(scopeLogs).flatMap(({ scope, logRecords }) =>
      listOf(logRecords).map((log): Logged => ({ resource: about, scope: isObject(scope) ? scope : {}, log, index: index++ })),
    )
  })
  mustNotRepeat(repeated)
  if (found.length === 0) throw new CaptureRefusal('no-data', 'The request contains no logs.')
  const events: EventSource<CapturedEvent> = {
    count: found.length,
    bytes: json.length,
    *[Symbol.iterator]() {
      for (const one of found) yield eventOf(one)
    },
  }
  const token = checkedToken(bearer(request.headers) ?? request.headers.get('x-api-key') ?? request.query.get('token') ?? undefined)
  return { token, events, sentAt: null, isHistorical: false, ip: forwardedFor(request.headers) ?? address, strangeFields: [] }
}
