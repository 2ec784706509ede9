import type { Table } from 'apache-arrow'
import * as z from 'zod'
import { alias, call, field, limit, order, select, table } from '../../language/ast/build.ts'
import { elementsOf } from '../answers/elements.ts'
import { columnValues, type JsonValue } from '../answers/rows.ts'
import { fields } from '../fields.ts'
import { personCondition, timeBounds } from '../filters/listed-events.ts'
import type { QueryContext, QueryKind, QueryRun } from '../kind.ts'
import { everyQuery } from '../schemas.ts'
import { allOf } from '../series/series-condition.ts'

// The latest events, of everybody or of one person, grouped by session. Events that name no session belong together while less than half an hour is between them.

const timelineSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('SessionsTimelineQuery'),
    personId: z.string().nullish(),
    /** Default: a day ago. */
    after: z.string().nullish(),
    /** Default: now. */
    before: z.string().nullish(),
  },
  'query',
)
type TimelineQuery = z.output<typeof timelineSchema>

interface TimelineEvent {
  readonly id: JsonValue
  readonly distinct_id: JsonValue
  readonly event: JsonValue
  readonly timestamp: JsonValue
  readonly properties: JsonValue
  readonly elements_chain: null
  readonly elements: readonly JsonValue[]
}
export interface TimelineEntry {
  /** Absent: its events name no session. */
  readonly sessionId?: string
  /** The latest first. */
  readonly events: readonly TimelineEvent[]
}
export interface TimelineAnswer {
  /** Those with the latest event first. */
  readonly results: readonly TimelineEntry[]
  readonly hasMore: boolean
}

const mostEvents = 1000
const gapMicros = 30 * 60 * 1_000_000

function* run(query: TimelineQuery, env: QueryContext): QueryRun<TimelineAnswer> {
  const ofPerson = query.personId == null ? [] : [yield* personCondition(query.personId)]
  const statement = select({
    columns: [
      alias(call('toString', field('uuid')), 'id'),
      alias(field('distinct_id'), 'distinct_id'),
      alias(field('event'), 'event'),
      alias(field('timestamp'), 'timestamp'),
      alias(call('toString', field('properties')), 'properties'),
      alias(field('elements_chain'), 'elements_chain'),
      alias(field('$session_id'), 'session'),
      alias(field('@person_no'), 'person'),
      alias(field('@micros'), 'micros'),
    ],
    from: table('events'),
    where: allOf(...timeBounds(query, env), ...ofPerson),
    orderBy: [order(field('timestamp'), 'desc'), order(field('@log_seq'), 'desc')],
    limit: limit(mostEvents + 1),
  })
  const answer = (yield { kind: 'statement', query: statement, label: 'events of the timeline' }) as Table
  return { results: entriesOf(answer.slice(0, mostEvents), env), hasMore: answer.numRows > mostEvents }
}

interface OpenEntry {
  readonly sessionId?: string
  readonly events: TimelineEvent[]
}

/** The rows are in order, the latest first. */
function entriesOf(rows: Table, env: QueryContext): readonly TimelineEntry[] {
  const values = (name: string) => columnValues(rows.getChild(name)!, env.project.timezone)
  const [id, distinctId, event, timestamp, properties, chain, session, person, micros] = [
    'id',
    'distinct_id',
    'event',
    'timestamp',
    'properties',
    'elements_chain',
    'session',
    'person',
    'micros',
  ].map(values)
  const bySession = new Map<string, OpenEntry>()
  /** By person, the entry of the last event without a session, and its time. */
  const withoutSession = new Map<JsonValue, { readonly entry: OpenEntry; readonly micros: number }>()
  const entries: OpenEntry[] = []
  const opened = (sessionId?: string): OpenEntry => {
    const entry = { ...(sessionId !== undefined && { sessionId }), events: [] }
    entries.push(entry)
    return entry
  }
  const entryOf = (row: number): OpenEntry => {
    const named = session![row]
    if (typeof named === 'string' && named !== '') {
      const entry = bySession.get(named) ?? opened(named)
      bySession.set(named, entry)
      return entry
    }
    const [who, at] = [person![row]!, Number(micros![row])]
    const later = withoutSession.get(who)
    const entry = later && later.micros - at < gapMicros ? later.entry : opened()
    withoutSession.set(who, { entry, micros: at })
    return entry
  }
  for (let row = 0; row < rows.numRows; row++) {
    const text = properties![row]
    entryOf(row).events.push({
      id: id![row]!,
      distinct_id: distinctId![row]!,
      event: event![row]!,
      timestamp: timestamp![row]!,
      properties: typeof text === 'string' && text !== '' ? (JSON.parse(text) as JsonValue) : {},
      elements_chain: null,
      elements: elementsOf(String(chain![row] ?? '')),
    })
  }
  return entries
}

export const timelineKind: QueryKind<'SessionsTimelineQuery', typeof timelineSchema, TimelineAnswer> = {
  kind: 'SessionsTimelineQuery',
  schema: timelineSchema,
  run,
}
