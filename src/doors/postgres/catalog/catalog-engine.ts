import { createHash } from 'node:crypto'
import { type LockedDatabase, openLockedDatabase } from '../../../engine/storage/files/locked-database.ts'
import type { Token } from '../statements/lexer.ts'
import { SqlError } from '../statements/sql-error.ts'
import type { ProjectTables } from '../translation/tables.ts'
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

// Answers statements about the catalog with an engine in memory that has nothing but the names of one project.

/** Catalogs that are kept, the memory of each, and how long a statement may take. */
const mostCatalogs = 8
const memory = '96MB'
const statementMs = 10_000

export interface CatalogAsker {
  readonly project: { readonly id: number; readonly name: string }
  readonly user: string
  readonly settings: readonly (readonly [string, string])[]
  tables(): Promise<ProjectTables>
}

export interface CatalogAnswer {
  readonly columns: readonly { readonly name: string; readonly type: TypeName }[]
  readonly rows: AsyncGenerator<readonly (readonly Value[])[], void, undefined>
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Settings as they are when a session begins. */
const settingRows = (settings: CatalogAsker['settings']) =>
  [...settings, ['max_connections', '200'] as const].map(([name, setting]) => ({
    name,
    setting,
    context: 'user',
    vartype: 'string',
    source: 'default',
    boot_val: setting,
    reset_val: setting,
  }))

function* statementsOf(facts: CatalogFacts, settings: CatalogAsker['settings']): Generator<string> {
  yield 'CREATE SCHEMA pgc; CREATE SCHEMA isc'
  for (const [name, spec] of Object.entries(catalogColumns)) yield createTable('pgc', name, spec)
  for (const [name, spec] of Object.entries(informationColumns)) yield createTable('isc', name, spec)
  yield 'CREATE TABLE pgc.wm_titles (oid UINTEGER, title VARCHAR)'
  for (const { oid, array, title } of Object.values(pgTypes))
    yield `INSERT INTO pgc.wm_titles VALUES (${oid}, ${quoted(title)}), (${array}, ${quoted(`${title}[]`)})`
  for (const [name, all] of Object.entries({ ...catalogRows(facts), pg_settings: settingRows(settings) }))
    yield* insertions('pgc', name, catalogColumns[name]!, all)
  for (const [name, all] of Object.entries(informationRows(facts))) yield* insertions('isc', name, informationColumns[name]!, all)
  yield* macroStatements()
  yield `CREATE MACRO pgc.wm_current_database() AS ${quoted(facts.database)}`
  yield `CREATE MACRO pgc.wm_current_user() AS ${quoted(facts.user)}`
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
}

function typeOf(name: string): TypeName {
  if (name.endsWith('[]')) {
    const item = typeOf(name.slice(0, -2))
    return isScalar(item) ? `${item as Scalar}[]` : 'text'
  }
  return typeNames[name] ?? (name.startsWith('DECIMAL') ? 'numeric' : 'text')
}

const refusals: readonly (readonly [RegExp, string])[] = [
  [/^Parser Error/i, '42601'],
  [/^Catalog Error: Table/i, '42P01'],
  [/^Catalog Error.*(?:Function|Macro)/i, '42883'],
  [/^Catalog Error.*Type/i, '42704'],
  [/^Binder Error: (?:Referenced column|Table)/i, '42703'],
  [/^Permission Error|disabled|access/i, '42501'],
  [/^Out of Memory/i, '53200'],
]

/** Its first line, without names of the engine. */
function refusalOf(error: unknown): SqlError {
  if (error instanceof SqlError) return error
  const [line = ''] = String((error as Error).message).split('\n')
  if (/INTERRUPT/i.test(line)) return new SqlError('57014', 'canceling statement: it took longer than a statement on the catalog may')
  const state = refusals.find(([pattern]) => pattern.test(line))?.[1] ?? '42000'
  const message = line.replace(/^[A-Za-z ]+ Error: /, '').replaceAll(/\b(?:pgc\.)?wm_/g, '')
  return new SqlError(state, message.replaceAll('pgc.', 'pg_catalog.').replaceAll('isc.', 'information_schema.').slice(0, 500))
}

interface CatalogQuestion {
  readonly values: readonly (string | null)[] | null
  readonly types: readonly TypeName[]
  readonly signal: AbortSignal
}

/** A column without a name of its own is named as PostgreSQL names it. */
const shownName = (name: string): string => {
  const called = /^"?(?:pgc"?\."?)?(?:wm_)?([a-z_][a-z0-9_]*)"?\s*\(/i.exec(name)
  if (called && !['cast', 'case'].includes(called[1]!.toLowerCase())) return called[1]!
  if (/^'[\s\S]*'$/.test(name) || /^-?\d+$/.test(name)) return '?column?'
  return /^(?:CASE|CAST)\b/i.test(name) ? name.slice(0, 4).toLowerCase() : name
}

const shown = (columns: readonly { readonly name: string; readonly type: string }[]) =>
  columns.map(({ name, type }) => ({ name: shownName(name), type: typeOf(type) }))

export class CatalogEngines {
  private readonly kept = new Map<string, Promise<LockedDatabase>>()
  private readonly digests = new WeakMap<object, string>()

  private database({ project, user, settings }: CatalogAsker, tables: ProjectTables): Promise<LockedDatabase> {
    const digest =
      this.digests.get(tables) ??
      createHash('sha256')
        .update(JSON.stringify([...tables.values()]))
        .digest('base64')
    this.digests.set(tables, digest)
    const name = JSON.stringify([project.id, project.name, user, digest])
    const found =
      this.kept.get(name) ?? openLockedDatabase({ memory, statements: statementsOf({ database: project.name, user, tables }, settings) })
    this.kept.delete(name)
    this.kept.set(name, found)
    found.catch(() => this.kept.delete(name))
    for (const [oldest, database] of this.kept) {
      if (this.kept.size <= mostCatalogs) break
      this.kept.delete(oldest)
      void database.then((one) => one.close())
    }
    return found
  }

  /** The columns of an answer, and its rows, which are read as they are taken. Without values nothing is run. */
  async ask(asker: CatalogAsker, tokens: readonly Token[], { values, types, signal }: CatalogQuestion): Promise<CatalogAnswer> {
    const tables = await asker.tables()
    const isNumber = (param: number) => /^(?:int|oid|float|numeric)/.test(types[param] ?? '')
    const sql = spelled(tokens, { oids: tableOids(tables), values, isNumber })
    const database = await this.database(asker, tables)
    try {
      if (values === null) return { columns: shown(await database.columns(sql)), rows: (async function* () {})() }
      const { columns, rows } = await database.ask(sql, AbortSignal.any([signal, AbortSignal.timeout(statementMs)]))
      return { columns: shown(columns), rows: explained(rows, signal) }
    } catch (error) {
      throw signal.aborted ? cancelled() : refusalOf(error)
    }
  }

  close(): void {
    for (const database of this.kept.values()) void database.then((one) => one.close())
    this.kept.clear()
  }
}

const cancelled = () => new SqlError('57014', 'canceling statement due to user request')

async function* explained(rows: CatalogAnswer['rows'], signal: AbortSignal): CatalogAnswer['rows'] {
  try {
    yield* rows
  } catch (error) {
    throw signal.aborted ? cancelled() : refusalOf(error)
  }
}
