import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { WaymarkError } from '../../errors/errors.ts'
import type { Journal, Step, WrittenGroup } from './clickhouse/journal.ts'
import type { ProjectStore } from './clickhouse/project-store.ts'
import { insertedEvents } from './clickhouse/schema.ts'
import { literals } from './clickhouse/sql.ts'
import type { Block, Blocks, RepeatedBlock } from './postgres/blocks.ts'
import type { Lease } from './postgres/partitions.ts'

// How one of several servers writes into ClickHouse, which cannot keep a stopped process from going on. A group is a block in PostgreSQL before the first statement:
// its rows, with a token by which ClickHouse knows them again, and the epoch of the lease. Then it is executed, then the position moves, if the lease is still held.
// A successor executes the very same block first.

const packed = promisify(gzip)
const unpacked = promisify(gunzip)
const quickly = { level: 1 } as const

/** The lease belongs to another server by now, which first finishes the block that was begun. */
export class LeaseLost extends WaymarkError<'busy'> {
  constructor() {
    super('busy', { what: 'servers that apply this project' })
  }
}

interface Body {
  readonly query: string
  readonly rows: string
  readonly steps: readonly Step[]
  readonly outcomes: readonly (readonly [firstSeq: number, outcome: string])[]
}
const pack = async (body: Body): Promise<Buffer> => packed(JSON.stringify(body), quickly)
const unpack = async (bytes: Buffer): Promise<Body> => JSON.parse((await unpacked(bytes)).toString()) as Body

/** A block that was written, from its begin to the move of the position. */
export interface WrittenBlock {
  readonly events: number
  /** Of its rows, as they are sent. */
  readonly bytes: number
  readonly seconds: number
}

interface Parts {
  readonly store: ProjectStore
  readonly blocks: Blocks
  readonly lease: Lease
  /** Tokens of two clusters on one database differ. */
  readonly clusterId: string
  /** Takes the outcomes of the changes up to this record. */
  takeOutcomes(seq: number): readonly (readonly [firstSeq: number, outcome: string])[]
  /** Called when the lease turns out to be lost. */
  lost(): void
  noteBlock?(written: WrittenBlock): void
}

export function sharedJournal({ store, blocks, lease, clusterId, takeOutcomes, lost, noteBlock }: Parts): Journal {
  const { project } = lease
  let appliedSeq = 0
  /** Their rows are counted before each move of the position. */
  let doubtful: RepeatedBlock[] = []

  const mustHold = (isHeld: boolean): void => {
    if (isHeld) return
    lost()
    throw new LeaseLost()
  }
  const inRange = ({ fromSeq, toSeq }: Pick<Block, 'fromSeq' | 'toSeq'>) =>
    `FROM events WHERE project_id = ${project} AND log_seq BETWEEN ${fromSeq} AND ${toSeq}`
  /** How many rows of the range each part of the table has, and of how many events. Shards may have parts of the same name. */
  const partsOf = (range: Pick<Block, 'fromSeq' | 'toSeq'>) =>
    store.rows<[part: string, rows: number, events: number]>(
      `SELECT _part, count(), uniqExact(log_seq) ${inRange(range)} GROUP BY _part ORDER BY _part`,
    )
  /** A part that was changed or merged meanwhile has another name: what comes here late removes nothing. */
  const removeFrom = (range: Pick<Block, 'fromSeq' | 'toSeq'>, parts: readonly string[]) =>
    store.run(`DELETE ${inRange(range)} AND _part IN (${literals(parts)})`)
  const insert = ({ query, rows }: Pick<Body, 'query' | 'rows'>, token: string) => store.run(query, rows, undefined, onceOnly(token))

  /** The rows of a block that another process has begun, or this one before a failure: whatever is there of them, they are there once afterwards. */
  const insertedOnce = async (
    block: Pick<Block, 'fromSeq' | 'toSeq' | 'events'>,
    body: Pick<Body, 'query' | 'rows'>,
    token: string,
  ): Promise<void> => {
    if ((await partsOf(block)).length === 0) await insert(body, token)
    const parts = await partsOf(block)
    if (sumOf(parts) === block.events) return
    const [whole] = parts.find(([, rows, events]) => rows === block.events && events === rows) ?? []
    const others = parts.flatMap(([part]) => (part === whole ? [] : [part]))
    if (others.length > 0) await removeFrom(block, others)
    if (whole === undefined) await insert(body, `${token} ${randomUUID()}`) // the same token would be taken for what was removed
  }

  /** A holder that was stopped has sent rows again after ClickHouse had forgotten their token. */
  const withoutSecondCopies = async (): Promise<void> => {
    for (const block of doubtful) {
      const { fromSeq, events, repair } = block
      if (repair === null && sumOf(await partsOf(block)) <= events) continue
      const rows = repair ? (await unpack(repair)).rows : await once(block)
      const body = { query: insertedEvents, rows }
      if (!repair) mustHold(await blocks.setRepair(lease, fromSeq, await pack({ ...body, steps: [], outcomes: [] })))
      await insertedOnce(block, body, randomUUID())
      mustHold(await blocks.setRepair(lease, fromSeq, null))
      doubtful = await blocks.repeated(project)
    }
  }
  const once = async (range: RepeatedBlock): Promise<string> =>
    (await store.rows(`SELECT * ${inRange(range)} LIMIT 1 BY log_seq`)).map((row) => JSON.stringify(row)).join('\n')

  const finish = async (block: Block, body: Body): Promise<void> => {
    await withoutSecondCopies()
    mustHold(await blocks.finish(lease, block, new Map(body.outcomes)))
    appliedSeq = block.toSeq
  }
  const execute = (steps: readonly Step[]) =>
    store.alone(async () => {
      for (const { query, rows } of steps) await store.run(query, rows)
    })

  return {
    async commit({ change, seq, events, steps }: WrittenGroup) {
      const began = performance.now()
      const body: Body = { query: events?.query ?? '', rows: events?.rows ?? '', steps, outcomes: takeOutcomes(seq) }
      const range = { fromSeq: appliedSeq + 1, toSeq: seq }
      const token = `${clusterId} ${project} ${change} ${seq}`
      const block: Block = { ...range, change, events: events?.count ?? 0, token, body: await pack(body) }
      mustHold(await blocks.begin(lease, block))
      if (events) await insert(body, token)
      await execute(steps)
      await finish(block, body)
      noteBlock?.({ events: block.events, bytes: Buffer.byteLength(body.rows), seconds: (performance.now() - began) / 1000 })
    },
    async recover() {
      const found = await blocks.found(lease)
      mustHold(found !== null)
      const { block } = found!
      appliedSeq = found!.appliedSeq
      doubtful = await blocks.repeated(project)
      if (!block) {
        await withoutSecondCopies()
        return appliedSeq
      }
      await store.stopWrites()
      const body = await unpack(block.body)
      if (block.events > 0) await insertedOnce(block, body, block.token)
      await execute(body.steps)
      await finish(block, body)
      doubtful = await blocks.repeated(project)
      return appliedSeq
    },
  }
}

const sumOf = (parts: readonly (readonly [part: string, rows: number, ...unknown[]])[]): number =>
  parts.reduce((sum, [, rows]) => sum + rows, 0)

const onceOnly = (token: string) => ({ insert_deduplicate: 1, insert_deduplication_token: token })
