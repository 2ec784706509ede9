import {
  BIGINT,
  type DuckDBAppender,
  type DuckDBConnection,
  type DuckDBType,
  INTEGER,
  TIMESTAMP,
  UTINYINT,
  UUID,
  VARCHAR,
} from '@duckdb/node-api'
import type { EventRow } from '../../../events/ingestion/ports.ts'
import { Arena, BigIntegers, chunkRows, Integers, RawChunk, type RawColumn, RawTexts, SmallIntegers, Uuids } from './raw-chunk.ts'
import { chunksOfFlush } from './stage.ts'

/** The columns that a group's events are staged in: those of `events` without the slots, which are computed from the properties. */
export const eventColumns: readonly (readonly [name: string, type: DuckDBType])[] = [
  ['uuid', UUID],
  ['event_id', INTEGER],
  ['timestamp', TIMESTAMP],
  ['person_no', INTEGER],
  ['distinct_id', VARCHAR],
  ['session_id', VARCHAR],
  ['window_id', VARCHAR],
  ['group_0', VARCHAR],
  ['group_1', VARCHAR],
  ['group_2', VARCHAR],
  ['group_3', VARCHAR],
  ['group_4', VARCHAR],
  ['created_at', TIMESTAMP],
  ['log_seq', BIGINT],
  ['person_mode', UTINYINT],
  ['elements_chain', VARCHAR],
  ['properties', VARCHAR],
]
const table = 'stage_events'
export const stagedEvents = `temp.main.${table}`

/** Stages the events of a group: a temporary table of one connection, filled in chunks. */
export class EventStage {
  private readonly connection: DuckDBConnection
  private readonly arena = new Arena()
  private readonly uuid = new Uuids()
  private readonly eventId = new Integers()
  private readonly time = new BigIntegers()
  private readonly personNo = new Integers()
  private readonly createdAt = new BigIntegers()
  private readonly seq = new BigIntegers()
  private readonly personMode = new SmallIntegers()
  private readonly distinctId = this.texts()
  private readonly sessionId = this.texts()
  private readonly windowId = this.texts()
  private readonly groups = Array.from({ length: 5 }, () => this.texts())
  private readonly elementsChain = this.texts()
  private readonly properties = this.texts()
  private readonly chunk: RawChunk
  private appender: DuckDBAppender | null = null
  private inChunk = 0
  private appended = 0
  private unflushed = 0

  constructor(connection: DuckDBConnection) {
    this.connection = connection
    const columns: readonly RawColumn[] = [
      this.uuid,
      this.eventId,
      this.time,
      this.personNo,
      this.distinctId,
      this.sessionId,
      this.windowId,
      ...this.groups,
      this.createdAt,
      this.seq,
      this.personMode,
      this.elementsChain,
      this.properties,
    ]
    this.chunk = new RawChunk(
      eventColumns.map(([, type]) => type),
      columns,
      this.arena,
    )
  }

  private texts(): RawTexts {
    return new RawTexts(this.arena)
  }

  get rows(): number {
    return this.appended + this.inChunk
  }

  /** Empties it for new rows. */
  async begin(): Promise<void> {
    this.appender?.closeSync()
    this.appender = null
    this.arena.clear()
    this.appended = this.inChunk = this.unflushed = 0
    const columns = eventColumns.map(([name, type]) => `${name} ${type}`).join(', ')
    await this.connection.run(`CREATE OR REPLACE TEMP TABLE ${table} (${columns})`) // deleted rows would stay
    this.appender = await this.connection.createAppender(table, 'main', 'temp')
  }

  push(event: EventRow): void {
    const row = this.inChunk
    this.uuid.put(row, event.uuid)
    this.eventId.values[row] = event.eventId
    this.time.put(row, event.time)
    this.personNo.values[row] = event.personNo
    this.distinctId.put(row, event.distinctId)
    this.sessionId.put(row, event.sessionId)
    this.windowId.put(row, event.windowId)
    for (let i = 0; i < this.groups.length; i++) this.groups[i]!.put(row, event.groups[i]!)
    this.createdAt.put(row, event.createdAt)
    this.seq.put(row, event.seq)
    this.personMode.values[row] = event.personMode
    this.elementsChain.put(row, event.elementsChain)
    this.properties.copy(row, event.bytes, event.from, event.to)
    this.inChunk++
    if (this.inChunk === chunkRows || this.arena.isFull) this.flush()
  }

  private flush(): void {
    if (this.inChunk === 0) return
    this.chunk.append(this.appender!, this.inChunk)
    this.appended += this.inChunk
    this.inChunk = 0
    this.unflushed++
    if (this.unflushed < chunksOfFlush) return
    this.appender!.flushSync()
    this.unflushed = 0
  }

  /** Makes the rows visible to statements. */
  finish(): void {
    this.flush()
    this.appender!.closeSync()
    this.appender = null
  }

  close(): void {
    this.appender?.closeSync()
    this.appender = null
  }
}
