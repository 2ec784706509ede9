import { createHash } from 'node:crypto'
import type { Instance } from '../../engine/storage/instance.ts'
import type { Postgres, Statements } from '../../engine/storage/postgres/client.ts'
import { lockSchema } from '../../engine/storage/postgres/tables.ts'
import { accountShapes } from '../accounts/records.ts'

// The rows of account data as they are, table by table: ids, hashes, sealed secrets and times do not change.

/** Who does what at the moment, and answers whose rows are in files of the directory. */
const leftOut: ReadonlySet<string> = new Set(['leases', 'query_runs'])

export const movedAccountTables: readonly string[] = Object.keys(accountShapes).filter((table) => !leftOut.has(table))

/** Rows of one statement, and their characters. */
const pageRows = 200
const pageCharacters = 8 * 1024 ** 2

export type Value = string | number | boolean | null
type Shape = Readonly<Record<string, string>>

export const shapeOf = (table: string): Shape => (accountShapes as Readonly<Record<string, Shape>>)[table]!
export const isTime = (kind: string) => kind.startsWith('time')
/** PostgreSQL has no texts with the character of code 0. */
const storable = (value: unknown): Value =>
  typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : typeof value === 'bigint' ? Number(value) : (value as Value)

/** The rows of a table in their order, with times as text. */
async function* rowsOf(instance: Instance, table: string): AsyncGenerator<readonly Value[]> {
  const columns = Object.entries(shapeOf(table)).map(([name, kind]) => (isTime(kind) ? `${name}::VARCHAR AS ${name}` : name))
  const { connection, close } = await instance.beside()
  try {
    const result = await connection.stream(`SELECT ${columns.join(', ')} FROM control.main.${table} ORDER BY rowid`)
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
      for (const row of chunk.getRows()) yield row.map(storable)
  } finally {
    await close()
  }
}

async function insert(on: Statements, schema: string, table: string, rows: readonly (readonly Value[])[]): Promise<void> {
  if (rows.length === 0) return
  const columns = Object.entries(shapeOf(table))
  let next = 0
  const places = rows.map(() => `(${columns.map(([, kind]) => `$${++next}${isTime(kind) ? '::timestamp' : ''}`).join(', ')})`)
  const names = columns.map(([name]) => name).join(', ')
  await on.run(`INSERT INTO ${schema}.${table} (${names}) VALUES ${places.join(', ')}`, rows.flat())
}

/** Replaces all rows there, in one transaction. Returns how many there are. */
export const copyAccounts = (instance: Instance, postgres: Postgres): Promise<number> =>
  postgres.transaction(async (on) => {
    const { schema } = postgres
    await lockSchema(on, schema, 'accounts')
    let count = 0
    for (const table of movedAccountTables) {
      await on.run(`DELETE FROM ${schema}.${table}`)
      let page: (readonly Value[])[] = []
      let characters = 0
      for await (const row of rowsOf(instance, table)) {
        page.push(row)
        count++
        for (const value of row) characters += typeof value === 'string' ? value.length : 8
        if (page.length < pageRows && characters < pageCharacters) continue
        await insert(on, schema, table, page)
        page = []
        characters = 0
      }
      await insert(on, schema, table, page)
    }
    return count
  })

const sealedText = /\bv1\.([0-9a-f]{8})\.[A-Za-z0-9+/=]{16,}/g

export const keyIdOf = (key: string): string => createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 8)

/** The ids of the keys that sealed secrets in a row. */
export function* keysOfRow(row: readonly Value[]): Generator<string> {
  for (const value of row)
    if (typeof value === 'string' && value.includes('v1.')) for (const [, id] of value.matchAll(sealedText)) yield id!
}

/** The ids of the keys that sealed secrets of the directory. */
export async function keysOfSecrets(instance: Instance): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const table of movedAccountTables) for await (const row of rowsOf(instance, table)) for (const id of keysOfRow(row)) found.add(id)
  return found
}
