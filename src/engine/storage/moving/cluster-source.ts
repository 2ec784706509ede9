import { WaymarkError } from '../../../errors/errors.ts'
import { type ProjectStore, projectStore } from '../clickhouse/project-store.ts'
import type { EngineChoice } from '../open-stores.ts'
import type { Postgres, Statements } from '../postgres/client.ts'
import { closeLog, type MovedTo, readMovedTo, writeMovedTo } from '../postgres/moving.ts'
import { prepareTables } from '../postgres/tables.ts'
import { addressOf, connect, connectToExisting, movingIn, whileMoving } from './databases.ts'

// The databases of a cluster that is moved into a directory. Nothing is changed there but the mark at the end.

export interface ClusterSource {
  readonly postgres: Postgres
  /** The directory that has the data now, of an earlier attempt that did not end. */
  readonly movedTo: MovedTo | null
  store(project: number): ProjectStore
  /** How many servers are connected. */
  servers(): Promise<number>
  positionOf(project: number): Promise<LogPosition>
  /** No server opens the databases from now on, nor adds records. Throws if their logs do not end at these positions. */
  mark(to: string, positions: ReadonlyMap<number, number>): Promise<void>
}

/** The last record of a project, and the last one that ClickHouse has. */
export interface LogPosition {
  readonly lastSeq: number
  readonly appliedSeq: number
}

const failed = (message: string) => new WaymarkError('command-failed', { message })

/** `prepare`: brings the tables of the accounts up to date; null: nothing is changed. One move at a time, and no server starts meanwhile. */
export async function withClusterSource<T>(
  engine: EngineChoice,
  prepare: ((on: Statements, schema: string) => Promise<void>) | null,
  work: (source: ClusterSource) => Promise<T>,
): Promise<T> {
  const { postgres, client, close } = await connect(engine, connectToExisting)
  const address = addressOf(engine)
  try {
    const { schema } = postgres
    const [tables] = await postgres.rows<{ found: string | null }>('SELECT to_regclass($1) AS found', [`${schema}.cluster_facts`])
    if (client === null || !tables?.found) throw failed(`There is no data of Waymark in ${address}.`)
    const alone: typeof whileMoving = prepare ? whileMoving : (_, look) => look()
    return await alone(postgres, async () => {
      const unfinished = await movingIn(postgres)
      if (unfinished)
        throw failed(`The data directory ${unfinished.from} is being moved to ${address} since ${unfinished.since}: end that first.`)
      if (prepare) await prepareTables(postgres, (on) => prepare(on, schema), { isMove: true })
      return work({
        postgres,
        movedTo: await readMovedTo(postgres, schema),
        store: (project) => projectStore(client, project),
        servers: () => countServers(postgres),
        async positionOf(project) {
          const [row] = await postgres.rows<{ last: string | null; applied: string | null }>(
            `SELECT (SELECT last_seq FROM ${schema}.cluster_log_ends WHERE project = $1) AS last,
               (SELECT applied_seq FROM ${schema}.cluster_partitions WHERE project = $1) AS applied`,
            [project],
          )
          return { lastSeq: Number(row?.last ?? 0), appliedSeq: Number(row?.applied ?? 0) }
        },
        mark: (to, positions) => markMoved(postgres, to, positions),
      })
    })
  } finally {
    await close()
  }
}

/** A server that was paused, and not connected when we looked, may wake at any time. */
const markMoved = (postgres: Postgres, to: string, positions: ReadonlyMap<number, number>): Promise<void> =>
  postgres.transaction(async (on) => {
    const { schema } = postgres
    await on.run(`LOCK TABLE ${schema}.cluster_log_ends IN EXCLUSIVE MODE`)
    const ends = await on.rows<{ project: number; last: string }>(`SELECT project, last_seq AS last FROM ${schema}.cluster_log_ends`)
    const grown = ends.find(({ project, last }) => Number(last) !== (positions.get(project) ?? 0))
    if (grown)
      throw failed(
        `Project ${grown.project} got records while it was being copied: a server still runs. Stop it, and run the command again.`,
      )
    await closeLog(on, schema)
    await writeMovedTo(on, schema, { to, at: new Date().toISOString() })
  })

/** Each listens on a connection of its own. Those that cannot be seen hold leases. */
async function countServers(postgres: Postgres): Promise<number> {
  const { schema } = postgres
  const [row] = await postgres.rows<{ listening: number; holding: number }>(
    `SELECT (SELECT count(*) FROM pg_stat_activity WHERE query = $1 AND datname = current_database())::integer AS listening,
       (SELECT count(DISTINCT holder) FROM ${schema}.cluster_partitions WHERE until > clock_timestamp())::integer AS holding`,
    [`LISTEN waymark_${schema}`],
  )
  return Math.max(row!.listening, row!.holding)
}
