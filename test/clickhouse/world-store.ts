import type { DuckDBConnection } from '@duckdb/node-api'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import { openEventWriter } from '../../src/engine/storage/clickhouse/event-writer.ts'
import { type ProjectStore, projectStore } from '../../src/engine/storage/clickhouse/project-store.ts'
import { createTables } from '../../src/engine/storage/clickhouse/tables.ts'
import { storeTables } from '../../src/engine/storage/duckdb/schema.ts'
import { type Deferred, deferred } from '../../src/lib/flow/deferred.ts'
import type { WorldStore } from '../events/ingestion/harness.ts'
import { within } from './chdb.ts'

export interface ClickHouseWorldStore extends WorldStore {
  /** From the so-manieth change on the process that has the store open now can reach it no more. The change is done all the same in half of the cases. */
  killAt(change: number): void
  /** Resolves when that process is dead. */
  died(): Promise<void>
}

let projects = 0

/** A project of its own on ClickHouse, for a world of the ingestion tests. */
export async function clickHouseWorldStore(client: ClickHouseClient): Promise<ClickHouseWorldStore> {
  await createTables(client)
  let store: ProjectStore
  let project = ++projects
  let life = mortal(client)
  return {
    async fresh() {
      project = ++projects
    },
    async openWriter() {
      const living = within(client, (plain) => {
        life = mortal(plain)
        return life.client
      })
      store = projectStore(living, project)
      return openEventWriter(store)
    },
    killAt: (change) => life.killAt(change),
    died: () => life.died.promise,
    async copyInto(connection, database) {
      for (const [table, columns] of Object.entries(storeTables))
        await copyTable(projectStore(client, project), table, columns, connection, database)
    },
  }
}

/** Slots, and bytes of texts, are DuckDB's own. */
const isOfDuckDB = /^(?:[snb]\d+|size)$/

async function copyTable(store: ProjectStore, table: string, columns: readonly string[], connection: DuckDBConnection, database: string) {
  const types = columns
    .map((column) => column.split(' ') as [name: string, type: string])
    .filter(([name]) => !isOfDuckDB.test(name) && !(table === 'meta' && name === 'format'))
  const selected = types.map(([name]) =>
    name === 'event_id' && table === 'events'
      ? `(SELECT groupArray((name, event_id)) FROM event_names WHERE project_id = ${store.project}) AS ids, arrayFirst(n -> n.1 = event, ids).2`
      : name,
  )
  const rows = await store.rows<unknown[]>(`SELECT ${selected.join(', ')} FROM ${table} WHERE project_id = ${store.project}`)
  if (rows.length === 0) return
  const objects = rows.map((row) => {
    const values = table === 'events' ? row.filter((value) => !Array.isArray(value)) : row
    return Object.fromEntries(types.map(([name], i) => [name, values[i]]))
  })
  const shape = JSON.stringify([Object.fromEntries(types)])
  const names = types.map(([name]) => name).join(', ')
  if (table === 'meta') await connection.run(`DELETE FROM ${database}.main.meta`)
  await connection.run(
    `INSERT INTO ${database}.main.${table} (${names}) SELECT ${names} FROM (SELECT unnest(from_json($1, $2), recursive := true))`,
    [JSON.stringify(objects), shape],
  )
}

/** The client of a process that may die. What it asks for then fails, for ever. */
function mortal(client: ClickHouseClient): {
  readonly client: ClickHouseClient
  readonly died: Deferred<void>
  killAt(change: number): void
} {
  let left = Number.POSITIVE_INFINITY
  let isDone = false
  const died = deferred<void>()
  const dead = () => {
    died.resolve()
    return new Error('the process is dead')
  }
  const changes = async <T>(query: string, work: () => Promise<T>): Promise<T> => {
    if (left < 0) throw dead()
    if (/^\s*SELECT/.test(query) || left-- > 0) return work()
    if (isDone) await work()
    throw dead()
  }
  return {
    client: {
      exec: (request) => changes(request.query, () => client.exec(request)),
      command: (request) => changes(request.query, () => client.command(request)),
      close: async () => undefined,
    },
    died,
    killAt(change) {
      left = change >> 1
      isDone = change % 2 === 1
    },
  }
}
