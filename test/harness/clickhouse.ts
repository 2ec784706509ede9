import { type Compiled, compile } from '../../src/engine/execution/compile.ts'
import { clickHouseSettings, clickHouseTables, columnName, createClickHouseTables } from '../../src/engine/storage/clickhouse/schema.ts'
import { projectDatabase } from '../../src/engine/storage/duckdb/instance.ts'
import type { Query } from '../../src/language/ast/nodes.ts'
import { clickhouse } from '../../src/language/dialects/clickhouse/dialect.ts'
import type { PrintedQuery } from '../../src/language/dialects/dialect.ts'
import { parseType } from '../../src/language/types/parse.ts'
import type { SqlType } from '../../src/language/types/types.ts'
import { type JsonValue, timeWriter } from '../../src/queries/answers/rows.ts'
import { hasClickHouse, howToInstallClickHouse, openChdb } from '../clickhouse/chdb.ts'
import { asQuery, asStatement, type TestProject } from './duckdb.ts'

// A real ClickHouse inside the test process. One per process: a test file that needs it opens it once. Where it is not installed, statements are still
// compiled and printed for it.

export { hasClickHouse }

/** What statements read. */
const loaded = ['events', 'persons', 'distinct_ids', 'person_merges', 'groups', 'cohort_members'] as const
/** Columns that a store in a file does not have, and an index. */
const own = new Set(['project_id', 'row_version', 'row_deleted', 'INDEX'])

export interface ClickHouse {
  /** Copies what the project's store holds now. */
  load(project: TestProject): Promise<void>
  compile(statement: string | Query, project: TestProject): Promise<Compiled>
  print(statement: string | Query, project: TestProject): Promise<PrintedQuery>
  rows(statement: string | Query, project: TestProject): Promise<JsonValue[][]>
  /** The same rows, and the types that ClickHouse itself names. */
  answer(statement: string | Query, project: TestProject): Promise<{ rows: JsonValue[][]; types: string[] }>
  value(expression: string, project: TestProject): Promise<JsonValue>
  close(): Promise<void>
}

export async function openClickHouse(): Promise<ClickHouse> {
  const client = hasClickHouse ? await openChdb() : null
  for (const statement of createClickHouseTables()) await client?.command({ query: statement })

  const ours: ClickHouse = {
    async load(project) {
      if (!client) return
      await project.facts() // waits for what was ingested
      const { id } = project.settings
      const database = `"${projectDatabase(id)}".main`
      for (const table of loaded) {
        const names = clickHouseTables[table]!.columns.map(columnName).filter((name) => !own.has(name))
        const source =
          table === 'events'
            ? `(SELECT e.*, n.name AS event FROM ${database}.events e JOIN ${database}.event_names n USING (event_id))`
            : `${database}.${table}`
        const selected = names.map((name) =>
          /(_at|timestamp)$/.test(name) ? `strftime(${name}, '%Y-%m-%d %H:%M:%S.%f') AS ${name}` : name,
        )
        const rows = await project.instance.rows<{ rows: string | null }>(
          `SELECT to_json(list(r)) AS rows FROM (SELECT ${id} AS project_id, ${selected.join(', ')} FROM ${source}) r`,
        )
        await client.command({ query: `ALTER TABLE ${table} DELETE WHERE project_id = ${id} SETTINGS mutations_sync = 1` })
        const values = JSON.parse(rows[0]?.rows ?? 'null') as unknown[] | null
        if (values?.length) await client.insert({ table, values, format: 'JSONEachRow' })
      }
    },
    print: async (statement, project) => (await ours.compile(statement, project)).printed,
    compile: async (statement, project) => compile(asQuery(statement), { context: await project.context(), dialect: clickhouse }),
    rows: async (statement, project) => (await ours.answer(statement, project)).rows,
    async answer(statement, project) {
      const { sql, params } = await ours.print(statement, project)
      if (!client) throw new Error(`This needs ClickHouse. ${howToInstallClickHouse}`)
      const answer = await client.query({
        query: sql,
        format: 'JSONCompact',
        query_params: Object.fromEntries(params.map((value, i) => [`p${i + 1}`, value])),
        clickhouse_settings: {
          ...clickHouseSettings,
          output_format_json_quote_64bit_integers: 1,
          output_format_json_named_tuples_as_objects: 0,
          date_time_output_format: 'iso',
        },
      })
      const { data, meta } = (await answer.json()) as { data: unknown[][]; meta: { type: string }[] }
      const write = timeWriter(project.settings.timezone)
      return {
        rows: data.map((row) => row.map((value, i) => shaped(value, readType(meta[i]!.type), write))),
        types: meta.map(({ type }) => type),
      }
    },
    async value(expression, project) {
      const [row] = await ours.rows(asStatement(expression), project)
      return row?.[0] ?? null
    },
    close: async () => client?.close(),
  }
  return ours
}

const readType = (text: string): SqlType | null => parseType(text.replace(/(DateTime\w*|Decimal\w*)\(([^()']*)(, )?'[^']*'\)/g, '$1($2)'))

const mapValues = (row: object, map: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, map(value)]))

/** ClickHouse's JSON in the form of our answers. */
function shaped(value: unknown, type: SqlType | null, write: (micros: number) => string): JsonValue {
  if (value === null || value === undefined) return null
  if (type?.kind === 'array') return (value as unknown[]).map((item) => shaped(item, type.item, write))
  if (type?.kind === 'tuple') return (value as unknown[]).map((item, i) => shaped(item, type.items[i]!, write))
  if (type?.kind === 'map') return mapValues(value as object, (item) => shaped(item, type.value, write)) as JsonValue
  if (typeof value === 'boolean') return value ? 1 : 0
  if (type?.kind === 'scalar') {
    if (type.name.startsWith('DateTime')) return write(microsOf(String(value)))
    if (/Int\d+$/.test(type.name) && typeof value === 'string') return Number.isSafeInteger(Number(value)) ? Number(value) : value
    if (type.name === 'Decimal') return Number(value)
  }
  return value as JsonValue
}

function microsOf(iso: string): number {
  const [, whole, fraction = ''] = /^([^.Z]*)(?:\.(\d+))?Z?$/.exec(iso)!
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}
