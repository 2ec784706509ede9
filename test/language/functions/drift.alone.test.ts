import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, test } from 'vitest'
import { expansions } from '../../../src/language/catalog/expansions.ts'
import { registry } from '../../../src/language/functions/registry.ts'
import { type Arg, type CellContext, type FunctionRow, isUnsupported } from '../../../src/language/functions/row.ts'
import { arrayOf, mapOf, type SqlType, scalar, tupleOf } from '../../../src/language/types/types.ts'
import { hasClickHouse, openChdb } from '../../clickhouse/chdb.ts'

// Every engine function that a cell names is one the engine has: a renamed one is noticed here, also in cells without cases.

const words = new Set(
  'and as between by case cast desc distinct else end enum exists filter from group having if in interval is lambda like not on or order over partition range rows select struct then try try_cast values when where within row map array tuple limit exclude coalesce decimal nullable'.split(
    ' ',
  ),
)
const isWord = (name: string) => words.has(name.toLowerCase())

let n = 0
const context = (type: SqlType, quote: (text: string) => string): CellContext => ({
  type,
  timezone: 'America/New_York',
  weekStartDay: 1,
  params: [
    { sql: '0.5', type: scalar('Float64'), constant: 0.5 },
    { sql: '0.5', type: scalar('Float64'), constant: 0.5 },
  ],
  literal: quote,
  bind: () => "'bound'",
  fresh: () => `v${++n}`,
  refuse: (message) => `error(${message})`,
  within: (_, made) => made,
  aggregate: {
    distinct: false,
    orderBy: '',
    order: [{ arg: { sql: 'x', type: scalar('UInt64') }, descending: true }],
    filter: '',
    ignoreNulls: false,
    over: ' OVER ()',
  },
})

/** Arguments of several kinds: cells choose what to print by type. */
const kinds: readonly ((i: number) => Arg)[] = [
  () => ({ sql: 'x', type: scalar('UInt64', true) }),
  () => ({ sql: 'x', type: scalar('Float64') }),
  () => ({ sql: 'x', type: scalar('String') }),
  () => ({ sql: 'x', type: scalar('DateTime') }),
  () => ({ sql: 'x', type: scalar('Date') }),
  (i) => (i === 0 ? { sql: "'hour'", type: scalar('String'), constant: 'hour' } : { sql: 'x', type: scalar('DateTime', true) }),
  (i) => (i === 0 ? { sql: 'x', type: scalar('DateTime') } : { sql: "'%Y %z'", type: scalar('String'), constant: '%Y %z' }),
  (i) => (i === 0 ? { sql: 'x', type: scalar('DateTime') } : { sql: 'i', type: { ...scalar('Interval'), unit: 'Day' } }),
  () => ({ sql: 'x', type: arrayOf(scalar('UInt64')) }),
  () => ({ sql: 'x', type: mapOf(scalar('String'), scalar('UInt64')) }),
  () => ({ sql: 'x', type: tupleOf([scalar('UInt64'), scalar('UInt64')]) }),
  (i) =>
    i === 0
      ? { sql: '', type: { kind: 'lambda', result: scalar('Bool') }, lambda: { params: ['a', 'b'], body: 'a', type: scalar('Bool') } }
      : { sql: 'x', type: arrayOf(scalar('UInt64', true)) },
  (i) =>
    i === 0
      ? { sql: '', type: { kind: 'lambda', result: scalar('Bool') }, lambda: { params: ['a', 'b'], body: 'a', type: scalar('Bool') } }
      : { sql: 'x', type: mapOf(scalar('String'), scalar('UInt64')) },
]

function printed(row: FunctionRow, engine: 'duckdb' | 'clickhouse', quote: (text: string) => string): string[] {
  const cell = row.sql[engine]
  if (isUnsupported(cell)) return []
  const texts: string[] = []
  for (const kind of kinds)
    for (let count = row.args[0]; count <= Math.min(row.args[1] ?? row.args[0] + 1, row.args[0] + 2); count++) {
      const args = Array.from({ length: count }, (_, i) => kind(i))
      // A cell may well refuse arguments that the resolver would never give it.
      try {
        const type = row.returns(
          args.map((a) => a.type),
          { args, params: [] },
        )
        texts.push(cell(args, context(type, quote)))
      } catch {}
    }
  return texts
}

const called = (text: string): string[] => {
  const plain = text.replace(/'(?:[^'\\]|\\.|'')*'/g, "''")
  return [...plain.matchAll(/(?<![\w".`])([A-Za-z_]\w*)\s*\(/g)].map((match) => match[1]!).filter((name) => !isWord(name))
}

/** ClickHouse makes aggregates with suffixes by rule too. */
const suffix = /(If|Array|Map|State|Merge|ForEach|OrDefault|OrNull|ArgMin|ArgMax|Distinct)$/

describe.each(hasClickHouse ? (['duckdb', 'clickhouse'] as const) : (['duckdb'] as const))('%s', (engine) => {
  let known: ReadonlySet<string>
  const quote = (text: string) => (engine === 'duckdb' ? `'${text.replaceAll("'", "''")}'` : `'${text.replaceAll("'", "\\'")}'`)
  beforeAll(async () => {
    const sql =
      engine === 'duckdb'
        ? 'SELECT DISTINCT lower(function_name) FROM duckdb_functions()'
        : 'SELECT name FROM system.functions UNION ALL SELECT name FROM system.table_functions UNION ALL SELECT alias_to FROM system.functions'
    if (engine === 'duckdb') {
      const connection = await (await DuckDBInstance.create(':memory:')).connect()
      known = new Set((await connection.runAndReadAll(sql)).getRows().map(([name]) => String(name)))
      connection.closeSync()
    } else {
      const client = await openChdb()
      const answer = await client.query({ query: sql, format: 'JSONCompact' })
      known = new Set(((await answer.json()) as { data: string[][] }).data.flat())
      await client.close()
    }
  })

  const isKnown = (name: string): boolean => {
    if (engine === 'duckdb') return known.has(name.toLowerCase())
    return known.has(name) || (suffix.test(name) && isKnown(name.replace(suffix, ''))) || known.has(name.toLowerCase())
  }

  test('has every function that cells name', () => {
    const missing = new Map<string, string>()
    for (const [name, row] of registry)
      for (const text of printed(row, engine, quote)) for (const used of called(text)) if (!isKnown(used)) missing.set(used, name)
    expect([...missing]).toEqual([])
  })
  // The resolver replaces these: other rows print them.
  const expanded = new Set(Object.keys(expansions).map((name) => registry.get(name)!))

  test('most rows were printed', () => {
    const rows = [...registry.values()].filter((row) => !expanded.has(row) && !isUnsupported(row.sql[engine]))
    const silent = rows.filter((row) => printed(row, engine, quote).length === 0)
    expect(silent.length).toBeLessThan(rows.length / 50)
  })
})
