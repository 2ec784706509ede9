import { createHash } from 'node:crypto'
import { type DuckDBConnection, DuckDBInstance, DuckDBListValue, DuckDBStructValue, type DuckDBValue } from '@duckdb/node-api'
import type { Groups, ResultColumn } from '../session/answers.ts'
import type { Asker } from '../session/questions.ts'
import { serverVersion } from '../session/settings.ts'
import type { Token } from '../statements/lexer.ts'
import { SqlError } from '../statements/sql-error.ts'
import { isScalar, pgTypes, type Scalar, type TypeName } from '../types/pg-types.ts'
import type { Value } from '../types/values.ts'
import {
  type CatalogFacts,
  catalogColumns,
  catalogRows,
  createTable,
  informationColumns,
  informationRows,
  insertions,
  tableOids,
} from './catalog-tables.ts'
import { macroStatements } from './macros.ts'
import { spelled } from './spelling.ts'

// Answers statements about the catalog with an engine in memory that has nothing but the names of one project: it opens no file and loads nothing.

/** Catalogs that are kept, and how long a statement may take. */
const mostCatalogs = 8
const statementMs = 10_000
const memory = '96MB'

const settingsOfCatalog: readonly (readonly [string, string])[] = [
  ['server_version', serverVersion],
  ['server_version_num', '150008'],
  ['max_index_keys', '32'],
  ['standard_conforming_strings', 'on'],
  ['client_encoding', 'UTF8'],
  ['server_encoding', 'UTF8'],
  ['search_path', '"$user", public'],
  ['max_connections', '200'],
  ['default_transaction_isolation', 'read committed'],
  ['transaction_isolation', 'read committed'],
  ['default_transaction_read_only', 'on'],
  ['integer_datetimes', 'on'],
  ['max_identifier_length', '63'],
  ['ssl', 'on'],
  ['wal_level', 'replica'],
]

async function makeCatalog(facts: CatalogFacts): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memory,
    threads: '1',
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  })
  const connection = await instance.connect()
  try {
    const run = (sql: string) => connection.run(sql)
    await run('CREATE SCHEMA pgc; CREATE SCHEMA isc')
    for (const [name, spec] of Object.entries(catalogColumns)) await run(createTable('pgc', name, spec))
    for (const [name, spec] of Object.entries(informationColumns)) await run(createTable('isc', name, spec))
    await run('CREATE TABLE pgc.wm_titles (oid UINTEGER, title VARCHAR)')
    for (const { oid, array, title } of Object.values(pgTypes))
      await run(`INSERT INTO pgc.wm_titles VALUES (${oid}, '${title}'), (${array}, '${title}[]')`)
    const rows = {
      ...catalogRows(facts),
      pg_settings: settingsOfCatalog.map(([name, setting]) => ({
        name,
        setting,
        context: 'user',
        vartype: 'string',
        source: 'default',
        boot_val: setting,
        reset_val: setting,
      })),
    }
    for (const [name, all] of Object.entries(rows)) for (const sql of insertions('pgc', name, catalogColumns[name]!, all)) await run(sql)
    for (const [name, all] of Object.entries(informationRows(facts)))
      for (const sql of insertions('isc', name, informationColumns[name]!, all)) await run(sql)
    for (const sql of macroStatements()) await run(sql)
    for (const [name, value] of [
      ['current_database', facts.database],
      ['current_user', facts.user],
    ] as const)
      await run(`CREATE MACRO pgc.wm_${name}() AS '${value.replaceAll("'", "''")}'`)
    await run("SET GLOBAL default_null_order = 'postgres'; SET GLOBAL integer_division = true")
    await run('SET lock_configuration = true')
    return instance
  } finally {
    connection.closeSync()
  }
}

const typeNames: Readonly<Record<string, TypeName>> = {
  BOOLEAN: 'bool',
  TINYINT: 'int2',
  SMALLINT: 'int2',
  INTEGER: 'int4',
  UINTEGER: 'oid',
  BIGINT: 'int8',
  UBIGINT: 'numeric',
  HUGEINT: 'numeric',
  FLOAT: 'float4',
  DOUBLE: 'float8',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
}

function typeOf(name: string): TypeName {
  if (name.endsWith('[]')) {
    const item = typeOf(name.slice(0, -2))
    return isScalar(item) ? `${item as Scalar}[]` : 'text'
  }
  return typeNames[name] ?? (name.startsWith('DECIMAL') ? 'numeric' : 'text')
}

function plainValue(value: DuckDBValue): Value {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string')
    return value
  if (value instanceof DuckDBListValue) return value.items.map(plainValue)
  if (value instanceof DuckDBStructValue)
    return `(${Object.values(value.entries)
      .map((one) => String(one ?? ''))
      .join(',')})`
  return String(value)
}

const cancelled = () => new SqlError('57014', 'canceling statement due to user request')

const refusals: readonly (readonly [RegExp, string])[] = [
  [/^Parser Error/i, '42601'],
  [/^Catalog Error: Table/i, '42P01'],
  [/^Catalog Error.*(?:Function|Macro)/i, '42883'],
  [/^Catalog Error.*Type/i, '42704'],
  [/^Binder Error: (?:Referenced column|Table)/i, '42703'],
  [/^Permission Error|^Invalid Input Error.*disabled|access/i, '42501'],
  [/^Out of Memory/i, '53200'],
  [/INTERRUPT/i, '57014'],
]

/** Its first line, without names of the engine. */
function refusalOf(error: unknown): SqlError {
  if (error instanceof SqlError) return error
  const [line = ''] = String((error as Error).message).split('\n')
  const state = refusals.find(([pattern]) => pattern.test(line))?.[1] ?? '42000'
  return new SqlError(
    state,
    line
      .replace(/^[A-Za-z ]+ Error: /, '')
      .replaceAll(/\b(?:pgc\.)?wm_/g, '')
      .replaceAll('pgc.', 'pg_catalog.')
      .replaceAll('isc.', 'information_schema.')
      .slice(0, 500),
  )
}

interface CatalogQuestion {
  readonly values: readonly (string | null)[] | null
  readonly types: readonly TypeName[]
  readonly signal: AbortSignal
}

export class CatalogEngines {
  private readonly kept = new Map<string, Promise<DuckDBInstance>>()
  private readonly names = new WeakMap<object, string>()

  private async instance(facts: CatalogFacts, project: number): Promise<DuckDBInstance> {
    const { tables, database, user } = facts
    const known =
      this.names.get(tables) ??
      createHash('sha256')
        .update(JSON.stringify([...tables.values()]))
        .digest('base64')
    this.names.set(tables, known)
    const name = JSON.stringify([project, database, user, known])
    const found = this.kept.get(name) ?? makeCatalog(facts)
    this.kept.delete(name)
    this.kept.set(name, found)
    found.catch(() => this.kept.delete(name))
    for (const [oldest, instance] of this.kept) {
      if (this.kept.size <= mostCatalogs) break
      this.kept.delete(oldest)
      void instance.then((one) => one.closeSync())
    }
    return found
  }

  /** The columns of an answer; its rows are read as they are taken, unless the values of parameters are not known yet. */
  async ask(
    asker: Asker,
    tokens: readonly Token[],
    { values, types, signal }: CatalogQuestion,
  ): Promise<{ columns: readonly ResultColumn[]; groups: Groups }> {
    const tables = await asker.tables()
    const facts = { database: asker.project.name, user: asker.user, tables }
    const isNumber = (param: number) => /^(?:int|oid|float|numeric)/.test(types[param] ?? '')
    const sql = spelled(tokens, { oids: tableOids(tables), values, isNumber })
    const connection = await (await this.instance(facts, asker.project.id)).connect()
    let isAway = false
    const close = () => {
      if (!isAway) connection.closeSync()
      isAway = true
    }
    const stop = () => isAway || connection.interrupt()
    const late = setTimeout(stop, statementMs)
    signal.addEventListener('abort', stop)
    const end = () => {
      clearTimeout(late)
      signal.removeEventListener('abort', stop)
      close()
    }
    try {
      if (values === null) {
        const columns = await columnsOf(connection, sql)
        end()
        return { columns, groups: (async function* () {})() }
      }
      const result = await connection.stream(sql)
      const columns = result.columnNames().map((name, i) => ({ name: shownName(name), type: typeOf(String(result.columnType(i))) }))
      return { columns, groups: rowsOf(result, end, signal) }
    } catch (error) {
      end()
      throw signal.aborted ? cancelled() : refusalOf(error)
    }
  }

  close(): void {
    for (const instance of this.kept.values()) void instance.then((one) => one.closeSync())
    this.kept.clear()
  }
}

/** A column without a name of its own is named as PostgreSQL names it. */
const shownName = (name: string): string => {
  const called = /^"?(?:pgc"?\."?)?(?:wm_)?([a-z_][a-z0-9_]*)"?\s*\(/i.exec(name)
  if (called && !['cast', 'case'].includes(called[1]!)) return called[1]!
  if (/^'[\s\S]*'$/.test(name) || /^-?\d+$/.test(name)) return '?column?'
  return /^(?:CASE|CAST)\b/i.test(name) ? name.slice(0, 4).toLowerCase() : name
}

async function columnsOf(connection: DuckDBConnection, sql: string): Promise<ResultColumn[]> {
  const prepared = await connection.prepare(sql)
  return Array.from({ length: prepared.columnCount }, (_, i) => ({
    name: shownName(prepared.columnName(i)),
    type: typeOf(String(prepared.columnType(i))),
  }))
}

async function* rowsOf(result: Awaited<ReturnType<DuckDBConnection['stream']>>, end: () => void, signal: AbortSignal): Groups {
  try {
    for (;;) {
      const chunk = await result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) return
      const rows = chunk.getRows()
      yield { count: rows.length, value: (row, column) => plainValue(rows[row]![column]!) }
    }
  } catch (error) {
    throw signal.aborted ? cancelled() : refusalOf(error)
  } finally {
    end()
  }
}
