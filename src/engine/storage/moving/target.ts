import { randomUUID } from 'node:crypto'
import { WaymarkError } from '../../../errors/errors.ts'
import type { ClickHouseClient } from '../clickhouse/client.ts'
import { type ProjectStore, projectStore, removeRows } from '../clickhouse/project-store.ts'
import { noProject } from '../clickhouse-stores.ts'
import type { EngineChoice } from '../open-stores.ts'
import type { Postgres, Statements } from '../postgres/client.ts'
import { endMoving, forgetMovedProject, type Moving, writeMoving } from '../postgres/moving.ts'
import { openPartitions } from '../postgres/partitions.ts'
import { prepareTables } from '../postgres/tables.ts'
import { prepareDatabase } from '../shared-stores.ts'
import { addressOf, connect, connectTo, connectToExisting, movingIn, whileMoving } from './databases.ts'

/** The databases of a cluster that a directory is moved into. */
export interface MoveTarget {
  readonly postgres: Postgres
  readonly moving: Moving
  /** An earlier attempt has begun. */
  readonly isResumed: boolean
  store(project: number): ProjectStore
  /** Removes what an earlier attempt has copied of a project. */
  clear(project: number): Promise<void>
  /** Servers may start from now on. */
  release(): Promise<void>
}

export interface TargetFindings {
  /** Without passwords. */
  readonly address: string
  /** Why a directory cannot be moved there; null: it can. */
  readonly problem: string | null
  /** The move that has begun there. */
  readonly moving: Moving | null
}

/** Of both databases, as far as their tables exist. Null: they have nothing. */
async function contents(postgres: Postgres, client: ClickHouseClient | null): Promise<string | null> {
  const { schema } = postgres
  const counted = async (table: string) => {
    const [{ found } = { found: null }] = await postgres.rows<{ found: string | null }>('SELECT to_regclass($1) AS found', [
      `${schema}.${table}`,
    ])
    if (found === null) return 0
    const [{ n } = { n: '0' }] = await postgres.rows<{ n: string }>(`SELECT count(*) AS n FROM ${schema}.${table}`)
    return Number(n)
  }
  for (const table of ['projects', 'users', 'cluster_log_ends', 'cluster_partitions'])
    if ((await counted(table)) > 0) return `the schema ${schema} in PostgreSQL has rows in the table ${table}`
  if (client === null) return null
  const store = projectStore(client, noProject)
  const tables = await store.rows<[string]>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ('events', 'persons', 'meta')",
  )
  for (const [table] of tables) {
    const [[rows] = [0]] = await store.rows<[number]>(`SELECT count() FROM ${table} WHERE project_id <> ${noProject}`)
    if (rows > 0) return `the database in ClickHouse has rows in the table ${table}`
  }
  return null
}

const otherMove = ({ from, since }: Moving) => `the data directory ${from} is being moved there since ${since}`

/** Looks whether a directory can be moved there. Changes nothing. */
export async function inspectTarget(engine: EngineChoice, from: string): Promise<TargetFindings> {
  const address = addressOf(engine)
  const { postgres, client, close } = await connect(engine, connectToExisting)
  try {
    const moving = await movingIn(postgres)
    const problem = moving === null ? await contents(postgres, client) : moving.from === from ? null : otherMove(moving)
    return { address, problem, moving }
  } finally {
    await close()
  }
}

/** `prepare`: creates the tables of the accounts. One move at a time: the caller is alone while `work` runs. */
export async function withTarget<T>(
  engine: EngineChoice,
  from: string,
  prepare: (on: Statements, schema: string) => Promise<void>,
  work: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  const { postgres, client, close } = await connect(engine, connectTo)
  const refused = (problem: string) =>
    new WaymarkError('command-failed', { message: `${addressOf(engine)} cannot take the directory: ${problem}. Give it empty databases.` })
  try {
    return await whileMoving(postgres, async () => {
      const found = await movingIn(postgres)
      if (found !== null && found.from !== from) throw refused(otherMove(found))
      if (found === null) {
        const problem = await contents(postgres, client)
        if (problem !== null) throw refused(problem)
      }
      const moving = found ?? { id: randomUUID(), from, since: new Date().toISOString() }
      const clusterId = await prepareTables(
        postgres,
        async (on) => {
          await prepare(on, postgres.schema)
          await writeMoving(on, postgres.schema, moving)
        },
        { isMove: true },
      )
      await prepareDatabase(client, clusterId)
      const store = (project: number) => projectStore(client, project)
      return await work({
        postgres,
        moving,
        isResumed: found !== null,
        store,
        async clear(project) {
          await store(project).stopWrites()
          await openPartitions(postgres).remove(project)
          await removeRows(store(project))
          await forgetMovedProject(postgres, project)
        },
        release: async () => void (await endMoving(postgres)),
      })
    })
  } finally {
    await close()
  }
}
