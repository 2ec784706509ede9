import { UnsupportedError } from '../../../errors/errors.ts'
import { childrenOf } from '../../resolver/shape.ts'
import { type ColumnNode, type JoinedSource, outputColumns, type TypedExpr, type TypedSource } from '../../resolver/typed.ts'
import { isNullable, type SqlType, typeName, withoutNames } from '../../types/types.ts'
import type { Dialect } from '../dialect.ts'
import { refusedCorrelation } from './correlation.ts'
import { madeOf, readJson } from './json.ts'
import { scanQuery } from './tables.ts'

const escaped = (text: string, quote: string) =>
  `${quote}${text.replaceAll('\0', '').replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`)}${quote}`
const identifier = (name: string) => escaped(name, '`')
const literal = (text: string) => escaped(text, "'")

function timeLiteral(micros: bigint): string {
  const ms = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  const rest = micros - ms * 1000n
  return `toDateTime64('${new Date(Number(ms)).toISOString().slice(0, 23).replace('T', ' ')}${rest.toString().padStart(3, '0')}', 6, 'UTC')`
}

/** It uses hash joins, which need an equality key if a side may stay unmatched. */
function refusedJoin({ type, strictness, on, left, right }: JoinedSource): string | null {
  if (type === 'positional') return 'POSITIONAL JOIN'
  if (type === 'cross' || (type === 'inner' && !strictness)) return null
  const sides = [aliasesOf(left), aliasesOf(right)] as const
  const sideOf = (expr: TypedExpr): 0 | 1 | null => {
    const sources = columnsOf(expr).map((column) => column.source)
    if (sources.length === 0) return null
    const side = sides[0].has(sources[0]!) ? 0 : 1
    return sources.every((source) => sides[side].has(source)) ? side : null
  }
  const isKey = (expr: TypedExpr): boolean => {
    if (expr.kind !== 'call') return false
    if (expr.name === 'and') return expr.args.some(isKey)
    if (expr.name !== 'equals') return false
    const [a, b] = expr.args.map(sideOf)
    return a !== null && b !== null && a !== b
  }
  const name = strictness ? `${strictness.toUpperCase()} JOIN` : `${type.toUpperCase()} JOIN`
  return on && isKey(on) ? null : `${name} without a pair of equal columns`
}

const aliasesOf = (source: TypedSource): ReadonlySet<string> =>
  source.kind === 'join'
    ? new Set([...aliasesOf(source.left), ...aliasesOf(source.right)])
    : new Set([source.alias, ...(source.kind === 'unnest' && source.input ? aliasesOf(source.input) : [])])
const columnsOf = (expr: TypedExpr): ColumnNode[] => (expr.kind === 'column' ? [expr] : childrenOf(expr).flatMap(columnsOf))

/** `Bool` is a byte here. */
const serverType = (type: SqlType): string =>
  typeName(withoutNames(type))
    .replaceAll('JSON', 'String')
    .replace(/DateTime64\((\d)\)/g, "DateTime64($1, 'UTC')")

export const clickhouse: Dialect = {
  capabilities: {
    engine: 'ClickHouse',
    hasEventDictionary: false,
    hasSlots: true,
    materializesCtes: false,
    hasArrayJoinCall: true,
    foldsInEngine: true,
  },
  distinctSet: ' DISTINCT',
  hasSetTail: false,
  hasLimitBy: true,
  hasTies: true,
  hasEmptyTotals: false,
  hasQueriesInLambdas: true,
  hasIntervalFrames: false,
  hasRecursiveDistinct: false,
  emptyGroup: "''",
  refused: refusedCorrelation,
  cell: (row) => row.sql.clickhouse,
  identifier,
  literal,
  parameter: (index, value) => `{p${index}:${parameterType(value)}}`,
  // Items of ARRAY JOIN have no table qualifier.
  column: (source, name, isItem) => (isItem ? identifier(`${source}.${name}`) : `${identifier(source)}.${identifier(name)}`),

  constant({ value, type }, printing) {
    if (value === null) return 'NULL'
    if (typeof value === 'boolean') return String(value)
    if (typeof value === 'string')
      return type.kind === 'scalar' && type.name === 'Date' ? `toDate(${literal(value)})` : printing.bind(value)
    if (type.kind === 'scalar' && type.name.startsWith('DateTime')) return timeLiteral(BigInt(value))
    if (typeof value === 'bigint') return value < 0n ? `(${value})` : String(value)
    if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '(-inf)'
    const isFloat = type.kind === 'scalar' && type.name === 'Float64'
    const text = isFloat && Number.isInteger(value) && !/e/.test(String(value)) ? `${value}.0` : String(value)
    return value < 0 ? `(${text})` : text
  },

  json: (document, path, as, printing) => readJson(document, path, as, (text) => printing.bind(text)),
  cast: (value, { isTry, type }) =>
    isTry
      ? `accurateCastOrNull(${value}, ${literal(serverType(type).replace(/^Nullable\((.*)\)$/, '$1'))})`
      : `CAST(${value} AS ${serverType(type)})`,
  array: (items) => `[${items.join(', ')}]`,
  tuple: (items) => `tuple(${items.join(', ')})`,
  in: (value, items, { not }) => (items.length ? `(${value} ${not ? 'NOT ' : ''}IN (${items.map((i) => i.sql).join(', ')}))` : String(not)),
  inQuery(value, query, { not, expr, set }) {
    const [column] = 'query' in set ? outputColumns(set.query) : []
    // A value that is not nullable is not found among nullable ones, and makes the set fail.
    const sought =
      column && isNullable(column.type) && expr.type.kind === 'scalar' && !isNullable(expr.type) ? `toNullable(${value})` : value
    return `(${sought} ${not ? 'NOT ' : ''}IN (${query}))`
  },
  inArray: (value, array, { not }) => `${not ? 'NOT ' : ''}has(${array}, ${value})`,
  arrayJoin: (array) => `arrayJoin(${array})`,

  scan: (scan, printing) =>
    scanQuery(scan, (read, sql) => {
      const { json, slot } = read
      const own = slot && `t.${slot.column}`
      const value = slot
        ? // Of few different values it is of another type.
          madeOf(slot.holds === 'text' ? `CAST(${own} AS Nullable(String))` : own!, slot.holds, json!.as)
        : json
          ? readJson(sql, json.path, json.as, (text) => printing.bind(text))
          : sql
      return `${value} AS ${identifier(read.name)}`
    }),
  attached({ span }) {
    throw new UnsupportedError('unsupported-syntax', { what: 'tables beside the events', engine: 'ClickHouse' }, span)
  },
  tableFunction: ({ name }, args) =>
    name === 'numbers'
      ? `(SELECT number FROM numbers(${args.join(', ')}))`
      : `(SELECT generate_series AS number FROM generateSeries(${args.join(', ')}))`,
  unnest: ({ alias, left }, input, items) =>
    `${input ?? 'system.one'} ${left ? 'LEFT ' : ''}ARRAY JOIN ${items.map(({ plainName, sql }) => `${sql} AS ${identifier(`${alias}.${plainName}`)}`).join(', ')}`,
  join(source) {
    const { type, strictness, span } = source
    const refused = refusedJoin(source)
    if (refused) throw new UnsupportedError('unsupported-syntax', { what: refused, engine: 'ClickHouse' }, span)
    const side = strictness && strictness !== 'any' && type === 'inner' ? (strictness === 'asof' ? '' : 'LEFT') : type.toUpperCase()
    return `${side}${strictness ? ` ${strictness.toUpperCase()}` : ''} JOIN`.trim()
  },
  values: (rows, alias, names) =>
    `(${rows.map((row) => `SELECT ${row.map((item, i) => `${item} AS ${names[i]}`).join(', ')}`).join(' UNION ALL ')}) AS ${alias}`,
  limit({ limit, offset, percent, withTies, span }) {
    if (percent) throw new UnsupportedError('unsupported-syntax', { what: 'LIMIT PERCENT', engine: 'ClickHouse' }, span)
    return `${limit === null ? '' : ` LIMIT ${limit}`}${offset ? ` OFFSET ${offset}` : ''}${withTies ? ' WITH TIES' : ''}`
  },
  // CTEs are visible in all subqueries here, including those that read tables of the store.
  cteName: (name) => `with ${name}`,
  cte: (name, _hint, query) => `${name} AS (${query})`,
}

function parameterType(value: string | number | boolean | bigint | null): string {
  if (value === null) return 'Nullable(Nothing)'
  if (typeof value === 'string') return 'String'
  if (typeof value === 'boolean') return 'Bool'
  return Number.isInteger(Number(value)) ? 'Int64' : 'Float64'
}
