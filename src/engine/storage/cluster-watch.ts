import { setTimeout as pause } from 'node:timers/promises'
import { WaymarkError } from '../../errors/errors.ts'
import { Histogram, type HistogramCounts } from '../../lib/numbers/histogram.ts'
import type { ClickHouseClient } from './clickhouse/client.ts'
import { type ReplicaFacts, readReplicaFacts, readTableFacts, rowsWithin, type TableFacts } from './clickhouse/server-facts.ts'
import type { Aside } from './files/attempts-file.ts'
import { allSetAside } from './postgres/attempts.ts'
import type { Postgres } from './postgres/client.ts'
import { type LogFacts, readLogFacts } from './postgres/server-facts.ts'
import type { WrittenBlock } from './shared-journal.ts'

// What a server says of the engines that it shares with others: whether they answer, what waits in the log, and what it writes. Nothing here waits for long, and what
// cannot be read is left out.

export interface Reach {
  readonly part: 'postgres' | 'clickhouse'
  readonly isReachable: boolean
  /** How long the last look took. */
  readonly seconds: number
  /** Why it cannot be reached. Anyone may read it. */
  readonly reason: string | null
}

export interface ClusterReach {
  /** PostgreSQL, with the accounts and the log. */
  readonly accounts: Reach
  /** ClickHouse, with the events. */
  readonly store: Reach
}

export interface ClusterFigures extends ClusterReach {
  /** As leases name this server. */
  readonly holder: string
  /** Null: it could not be read. */
  readonly log: LogFacts | null
  readonly blocks: { readonly seconds: HistogramCounts; readonly events: HistogramCounts; readonly bytes: HistogramCounts }
  readonly tables: readonly TableFacts[]
  readonly replicas: readonly ReplicaFacts[]
}

/** An engine that does not answer for so long cannot be reached. */
const lookMs = 3_000
/** What was found is true for so long: anybody may ask for it. */
const keptMs = 1_000
/** System tables of ClickHouse are read this often at most. */
const tablesMs = 30_000
const readMs = 2_000

const secondsBounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const eventsBounds = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
const bytesBounds = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

const reasonOf = (error: unknown): string => (error instanceof WaymarkError ? error.code : 'it does not answer')

/** Calls that come while one is made, or soon after, get its answer. */
function shared<T>(make: () => Promise<T>, ms: number): () => Promise<T> {
  let made: { readonly at: number; readonly answer: Promise<T> } | null = null
  return () => {
    const now = performance.now()
    if (made && now - made.at < ms) return made.answer
    made = { at: now, answer: make() }
    return made.answer
  }
}

/** `null` if it fails or takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | null> {
  const over = new AbortController()
  const end = pause(ms, null, { ref: false, signal: over.signal }).catch(() => null)
  try {
    return await Promise.race([work.catch(() => null), end])
  } finally {
    over.abort()
  }
}

async function reached(part: Reach['part'], ask: () => Promise<unknown>): Promise<Reach> {
  const began = performance.now()
  let reason: string | null = null
  const answered = await within(
    ask().then(
      () => true,
      (error: unknown) => {
        reason = reasonOf(error)
        return false
      },
    ),
    lookMs,
  )
  const seconds = (performance.now() - began) / 1000
  return { part, isReachable: answered === true, seconds, reason: answered === true ? null : (reason ?? 'it does not answer') }
}

interface Parts {
  readonly postgres: Postgres
  readonly client: ClickHouseClient
  readonly holder: string
}

export class ClusterWatch {
  private readonly parts: Parts
  private readonly blocks = {
    seconds: new Histogram(secondsBounds),
    events: new Histogram(eventsBounds),
    bytes: new Histogram(bytesBounds),
  }
  private tables: readonly TableFacts[] = []
  private replicas: readonly ReplicaFacts[] = []
  private readonly lookAtTables: () => Promise<void>
  /** Records that are set aside, as far as PostgreSQL answers. */
  readonly aside: () => Promise<readonly Aside[]>
  /** Whether both engines answer. */
  readonly reach: () => Promise<ClusterReach>

  constructor(parts: Parts) {
    this.parts = parts
    const { postgres, client } = parts
    this.reach = shared(async () => {
      const [accounts, store] = await Promise.all([
        reached('postgres', () => postgres.rows('SELECT 1')),
        reached('clickhouse', () => rowsWithin(client, 'SELECT 1', lookMs)),
      ])
      return { accounts, store }
    }, keptMs)
    this.aside = shared(async () => (await within(allSetAside(postgres), readMs)) ?? [], keptMs)
    this.lookAtTables = shared(async () => {
      this.tables = await readTableFacts(client, readMs).catch(() => [])
      this.replicas = await readReplicaFacts(client, readMs).catch(() => [])
    }, tablesMs)
  }

  noteBlock({ events, bytes, seconds }: WrittenBlock): void {
    this.blocks.seconds.add(seconds)
    if (events === 0) return
    this.blocks.events.add(events)
    this.blocks.bytes.add(bytes)
  }

  async figures(): Promise<ClusterFigures> {
    const { postgres, holder } = this.parts
    const reach = await this.reach()
    const [log] = await Promise.all([
      reach.accounts.isReachable ? within(readLogFacts(postgres), readMs) : null,
      reach.store.isReachable ? within(this.lookAtTables(), readMs) : null,
    ])
    return { ...reach, holder, log, blocks: this.blocks, tables: this.tables, replicas: this.replicas }
  }
}
