import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { withinReserve } from '../../engine/storage/files/disk-reserve.ts'
import { parquetOfLines } from '../../engine/storage/instance.ts'
import { CopyRefusal } from './copies.ts'
import { fetchedLines } from './fetched-lines.ts'
import { isTableName } from './options.ts'
import { loadPackage } from './package.ts'

// Tables of a PostgreSQL as Parquet files, all of one moment: `postgres://user:password@host/database?schema=public&tables=plans,customers`.

type Pg = { readonly default: { readonly Client: typeof Client } }

const connectMs = 15_000
/** For one piece of rows, or the plan of a table. */
const silentMs = 5 * 60_000
const rowsPerPiece = 2_000
const mostTables = 100
const mostRows = 50_000_000

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

interface Column {
  readonly name: string
  readonly type: string
  readonly modifier: number
  readonly category: string
}

const types: Readonly<Record<string, string>> = {
  bool: 'BOOLEAN',
  int2: 'BIGINT',
  int4: 'BIGINT',
  int8: 'BIGINT',
  oid: 'BIGINT',
  float4: 'DOUBLE',
  float8: 'DOUBLE',
  uuid: 'UUID',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  json: 'JSON',
  jsonb: 'JSON',
}

/** The type in the copy, for the JSON form of a value. */
const typeOf = ({ type, modifier, category }: Column): string => {
  if (type === 'numeric') {
    const [digits, scale] = [((modifier - 4) >> 16) & 0xffff, (modifier - 4) & 0x7ff]
    return modifier >= 4 && digits <= 38 && scale <= digits ? `DECIMAL(${digits}, ${scale})` : 'DOUBLE'
  }
  return types[type] ?? (category === 'A' || category === 'C' ? 'JSON' : 'VARCHAR')
}

export async function copyPostgres(address: string, folder: string, signal: AbortSignal): Promise<void> {
  const url = new URL(address)
  const schema = url.searchParams.get('schema') ?? 'public'
  const wanted = url.searchParams.get('tables')?.split(',') ?? null
  url.searchParams.delete('schema')
  url.searchParams.delete('tables')
  const { default: pg } = await loadPackage<Pg>('pg')
  const client = new pg.Client({
    connectionString: url.href,
    application_name: 'waymark',
    connectionTimeoutMillis: connectMs,
    query_timeout: silentMs,
    keepAlive: true,
  })
  client.on('error', () => undefined) // the next statement rejects
  // Its end would wait for the statement that runs.
  const stop = () => void (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await client.connect()
    await client.query("SET timezone = 'UTC'")
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const names = await tablesOf(client, schema, wanted)
    await withinReserve(folder, signal, async (within) => {
      for (const name of names) await copyTable(client, schema, name, folder, within)
    })
  } catch (error) {
    throw withoutPassword(error, url)
  } finally {
    signal.removeEventListener('abort', stop)
    await client.end().catch(() => undefined)
  }
}

/** pg and PostgreSQL name the user, never the password; an address in a message would have both. */
function withoutPassword(error: unknown, { password }: URL): unknown {
  if (!(error instanceof Error) || password === '' || !error.message.includes(decodeURIComponent(password))) return error
  return new Error(error.message.replaceAll(decodeURIComponent(password), '…'))
}

async function tablesOf(client: Client, schema: string, wanted: readonly string[] | null): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition ORDER BY 1`,
    [schema],
  )
  const known = rows.map(({ name }) => name)
  const missing = wanted?.find((name) => !known.includes(name))
  if (missing !== undefined) throw new CopyRefusal(`The schema ${schema} has no table ${missing}.`)
  const names = wanted ?? known
  if (names.length > mostTables)
    throw new CopyRefusal(
      `The schema ${schema} has ${names.length} tables, and at most ${mostTables} are copied: name them with ?tables=a,b.`,
    )
  const strange = names.find((name) => !isTableName(name))
  if (strange !== undefined)
    throw new CopyRefusal(
      `The table ${strange} needs a name of letters, digits and underscores: copy a view of it, or name the others with ?tables=a,b.`,
    )
  return names
}

async function copyTable(client: Client, schema: string, name: string, folder: string, signal: AbortSignal): Promise<void> {
  const { rows: columns } = await client.query<Column>(
    `SELECT a.attname AS name, t.typname AS type, a.atttypmod AS modifier, t.typcategory AS category
     FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [`${quoted(schema)}.${quoted(name)}`],
  )
  if (columns.length === 0) return
  const work = join(folder, `.${name}`)
  await mkdir(work, { mode: 0o700 })
  const lines = join(work, 'rows.jsonl')
  let longest = 1
  const source = async function* () {
    await client.query(`DECLARE piece NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS line FROM ${quoted(schema)}.${quoted(name)} t`)
    for (let count = 0, before = -1; count > before; ) {
      signal.throwIfAborted()
      before = count
      yield* fetchedLines(client, `FETCH ${rowsPerPiece} FROM piece`, (bytes) => {
        count++
        longest = Math.max(longest, bytes)
      })
      if (count > mostRows) throw new CopyRefusal(`The table ${name} has more than ${mostRows} rows.`)
    }
    await client.query('CLOSE piece')
  }
  await pipeline(source, createWriteStream(lines, { mode: 0o600 }), { signal })
  const read = columns.map((column) => ({ name: column.name, type: typeOf(column) }))
  await parquetOfLines({ lines, columns: read, longest, file: join(folder, `${name}.parquet`), folder }, signal)
  await rm(work, { recursive: true })
}
