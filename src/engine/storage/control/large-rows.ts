import type { Sql } from '../sql.ts'

// Rows of account data by their size. The texts themselves stay in the file until one row is read.

export interface LargeRow {
  readonly table: string
  /** The column that identifies it, and its value. */
  readonly key: readonly [column: string, value: string]
  readonly characters: number
}

type Shape = Readonly<Record<string, string>>
const keysOfTables = ['id', 'hash', 'key', 'name']
const isTextual = (kind: string) => /^(text|json)/.test(kind)

const textsOf = (shape: Shape) => Object.keys(shape).filter((name) => isTextual(shape[name]!))

async function columnsOf(sql: Sql, table: string): Promise<ReadonlySet<string>> {
  const text = "SELECT column_name FROM information_schema.columns WHERE 'control' IN (table_catalog, table_schema) AND table_name = $1"
  return new Set((await sql.rows(text, [table])).map((row) => String(row.column_name)))
}

/** The largest rows of more than `above(table)` characters, the largest first. */
export async function largestRows(
  sql: Sql,
  shapes: Readonly<Record<string, Shape>>,
  count: number,
  above: (table: string) => number = () => 0,
): Promise<readonly LargeRow[]> {
  const found: LargeRow[] = []
  for (const [table, shape] of Object.entries(shapes)) {
    const there = await columnsOf(sql, table)
    const key = keysOfTables.find((name) => there.has(name)) ?? Object.keys(shape)[0]!
    const texts = textsOf(shape).filter((name) => there.has(name))
    if (texts.length === 0 || !there.has(key)) continue
    const size = texts.map((name) => `coalesce(length(${name}), 0)`).join(' + ')
    const rows = await sql.rows(
      `SELECT CAST(${key} AS VARCHAR) AS key, CAST(${size} AS DOUBLE) AS characters FROM control.${table} WHERE ${size} > ${Math.trunc(above(table))} ORDER BY 2 DESC LIMIT ${Math.trunc(count)}`,
    )
    for (const row of rows) found.push({ table, key: [key, String(row.key)], characters: Number(row.characters) })
  }
  return found.sort((a, b) => b.characters - a.characters).slice(0, count)
}

/** A JSON value without its largest parts, of at most so many characters. */
function smallerJson(value: unknown, most: number): unknown {
  const length = (one: unknown) => JSON.stringify(one)?.length ?? 0
  if (length(value) <= most) return value
  if (Array.isArray(value)) {
    const kept: unknown[] = []
    let left = most - 2
    for (const one of value) {
      left -= length(one) + 1
      if (left < 0) break
      kept.push(one)
    }
    return kept
  }
  if (value === null || typeof value !== 'object') return null
  const parts = Object.entries(value).sort(([, a], [, b]) => length(a) - length(b))
  const kept: [string, unknown][] = []
  let left = most - 2
  for (const [name, part] of parts) {
    left -= length(name) + length(part) + 2
    if (left >= 0) kept.push([name, part])
  }
  return Object.fromEntries(kept)
}

/** Cuts the texts of a row, the longest first, until it has at most so many characters. Returns what it has then. */
export async function shortenRow(sql: Sql, shape: Shape, { table, key: [column, value] }: LargeRow, most: number): Promise<number> {
  const there = await columnsOf(sql, table)
  const names = textsOf(shape).filter((name) => there.has(name))
  const where = `CAST(${column} AS VARCHAR) = $1`
  const [row] = await sql.rows(`SELECT ${names.join(', ')} FROM control.${table} WHERE ${where}`, [value])
  if (!row) return 0
  const texts = new Map(names.map((name) => [name, row[name] === null ? null : String(row[name])]))
  const total = () => [...texts.values()].reduce((sum, text) => sum + (text?.length ?? 0), 0)
  const isCut = new Set<string>()
  for (const name of [...names].sort((a, b) => (texts.get(b)?.length ?? 0) - (texts.get(a)?.length ?? 0))) {
    const [text, excess] = [texts.get(name), total() - most]
    if (excess <= 0 || !text) break
    const left = Math.max(0, text.length - excess)
    texts.set(name, shape[name]!.startsWith('json') ? JSON.stringify(smallerJson(JSON.parse(text), left)) : text.slice(0, left))
    isCut.add(name)
  }
  for (const name of isCut) await sql.run(`UPDATE control.${table} SET ${name} = $2 WHERE ${where}`, [value, texts.get(name)!])
  return total()
}

export const removeRow = (sql: Sql, { table, key: [column, value] }: Omit<LargeRow, 'characters'>): Promise<number> =>
  sql.run(`DELETE FROM control.${table} WHERE CAST(${column} AS VARCHAR) = $1`, [value])
