import { excerpt } from '../../../lib/text/excerpt.ts'
import { likelyName } from '../../../lib/text/likely-name.ts'
import type { Warning } from '../warnings.ts'

// The fields of an event and of a batch. Any other field is most likely misspelled, and its value would be lost silently.

/** The known fields of an event. */
const ofEvent = [
  'event',
  'distinct_id',
  'timestamp',
  'properties',
  'uuid',
  'offset',
  'sent_at',
  'ip',
  '$set',
  '$set_once',
  '$unset',
  'elements',
  'elements_chain',
] as const
/** The known fields of a batch. */
const ofBatch = ['batch', 'sent_at', 'historical_migration'] as const

/** Fields that client libraries send and that are read in another module (the token), or ignored on purpose (the library). */
const leftOut = [
  '$distinct_id',
  '$lib',
  '$lib_version',
  '$token',
  '_',
  'anonymous_id',
  'api_key',
  'capture_internal',
  'compression',
  'context',
  'created_at',
  'disable_geoip',
  'historicalMigration',
  'import_id',
  'integrations',
  'key',
  'lib',
  'library',
  'library_consumer',
  'library_version',
  'messageId',
  'message_id',
  'now',
  'options',
  'originalTimestamp',
  'original_timestamp',
  'personal_api_key',
  'receivedAt',
  'sendFeatureFlags',
  'send_feature_flags',
  'sentAt',
  'session_id',
  'site_url',
  'team_id',
  'token',
  'type',
  'ver',
  'version',
  'window_id',
] as const
/** Fields of an event in the log. */
const ofLog = ['$noted', '$dropped', '$cookieless'] as const

const inEvent: ReadonlySet<string> = new Set([...ofEvent, ...ofBatch, ...leftOut, ...ofLog])
const inBatch: ReadonlySet<string> = new Set([...ofBatch, ...leftOut])

/** Maximum number of unknown fields that are reported per event or batch. */
const maxTold = 3

export interface StrangeField {
  readonly field: string
  readonly suggestion?: string
}

/** Senders repeat a misspelled field in every event, so likely names are cached. */
const told = new Map<string, StrangeField>()
const maxKept = 1_000

function strangeField(name: string, known: readonly string[]): StrangeField {
  const field = excerpt(name)
  const key = `${known.length} ${field}`
  const before = told.get(key)
  if (before) return before
  const suggestion = likelyName(name, known)
  const made = suggestion === undefined ? { field } : { field, suggestion }
  if (told.size >= maxKept) told.clear()
  told.set(key, made)
  return made
}

const none: readonly StrangeField[] = []

function strangeIn(given: object, known: ReadonlySet<string>, names: readonly string[]): readonly StrangeField[] {
  let found: StrangeField[] | null = null
  for (const name in given) {
    if (known.has(name)) continue
    found ??= []
    if (found.length < maxTold) found.push(strangeField(name, names))
  }
  return found ?? none
}

export const strangeInEvent = (event: object): readonly StrangeField[] => strangeIn(event, inEvent, ofEvent)
export const strangeInBatch = (batch: object): readonly StrangeField[] => strangeIn(batch, inBatch, ofBatch)

export const strangeFieldWarning = ({ field, suggestion }: StrangeField, eventUuid: string): Warning => ({
  type: 'unknown_event_field',
  details: { eventUuid, field, ...(suggestion === undefined ? {} : { suggestion }) },
})

/** Clients send them as events, but nobody did anything: measurements of a page load, and places where the mouse was. Not stored. */
const noEvents: ReadonlySet<string> = new Set(['$performance_event', '$$heatmap'])
export const isNoEvent = (name: unknown): boolean => typeof name === 'string' && noEvents.has(name)
