import { UnsupportedError } from '../../../errors/errors.ts'
import { saidMark } from '../../../errors/refusal-mark.ts'
import type { Span } from '../../../errors/span.ts'
import { duckdbType } from '../../functions/cells/duckdb-types.ts'
import { defaultOf } from '../../functions/cells/duckdb-values.ts'
import { duckdbFlag, duckdbMarked, duckdbNumber, duckdbNumberText } from '../../functions/values/property-values.ts'
import { type JsonRead, outputColumns } from '../../resolver/typed.ts'
import { isFloat, isNullable, type SqlType, unknownType } from '../../types/types.ts'
import type { Dialect, Printing } from '../dialect.ts'
import { attachedRows } from './attached.ts'
import { unlessUnequal, withEqualLengths } from './equal-lengths.ts'
import { guards } from './guards.ts'
import { planningLoad } from './planning-load.ts'
import { scanQuery } from './tables.ts'

const identifier = (name: string) => (/["\0]/.test(name) ? `"${name.replaceAll('\0', '').replaceAll('"', '""')}"` : `"${name}"`)
const literal = (text: string) => `'${text.replaceAll('\0', '').replaceAll("'", "''")}'`

/** A JSON pointer: it accepts any key, while DuckDB's paths treat `*` as a wildcard and reject the empty key. Indexes start at zero. */
const pointer = (path: readonly (string | number)[]) =>
  path.map((step) => `/${typeof step === 'number' ? step - 1 : step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

function json(document: string, path: readonly (string | number)[], as: JsonRead, printing: Printing): string {
  const at = printing.bind(pointer(path))
  const text = `json_extract_string(${document}, ${at})`
  if (as === 'value') return duckdbMarked(text, `json_type(${document}, ${at}) = 'VARCHAR'`)
  return madeOf(text, 'text', as)
}

/** Converts a property from its stored form to the requested one. Other pairs do not occur. */
function madeOf(value: string, holds: JsonRead, wanted: JsonRead): string {
  if (holds === wanted) return value
  if (wanted === 'number') return duckdbNumber(value)
  if (wanted === 'boolean') return duckdbFlag(value)
  return holds === 'number' ? duckdbNumberText(value) : `CASE ${value} WHEN true THEN 'true' WHEN false THEN 'false' END`
}

function timeLiteral(micros: bigint): string {
  const ms = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n)
  const rest = micros - ms * 1000n
  const iso = new Date(Number(ms)).toISOString()
  return `TIMESTAMP '${iso.slice(0, 23).replace('T', ' ')}${rest.toString().padStart(3, '0')}'`
}

/** The engine would read a longer integer as a DOUBLE. */
function wholeLiteral(value: bigint, span: Span): string {
  if (BigInt.asIntN(128, value) !== value)
    throw new UnsupportedError(
      'unsupported-syntax',
      {
        what: `the whole number ${value}, which has more than 127 bits. Write it as a float (${Number(value)}) or as text`,
        engine: 'DuckDB',
      },
      span,
    )
  return String(value)
}

export const duckdb: Dialect = {
  capabilities: {
    engine: 'DuckDB',
    hasEventDictionary: true,
    hasSlots: true,
    materializesCtes: true,
    hasArrayJoinCall: false,
    foldsInEngine: false,
  },
  guards,
  distinctSet: '',
  hasSetTail: true,
  hasLimitBy: false,
  hasTies: false,
  hasEmptyTotals: true,
  hasQueriesInLambdas: false,
  hasIntervalFrames: true,
  hasRecursiveDistinct: true,
  emptyGroup: '()',
  cell: (row) => row.sql.duckdb,
  identifier,
  literal,
  // An untyped text makes some DuckDB functions fail (array_slice), and selects the wrong overload of others.
  parameter: (index, value) => (typeof value === 'string' ? `CAST($${index} AS VARCHAR)` : `$${index}`),

  constant({ value, type, span }, printing) {
    if (value === null) return 'NULL'
    if (typeof value === 'boolean') return String(value)
    if (typeof value === 'string') return type.kind === 'scalar' && type.name === 'Date' ? `DATE ${literal(value)}` : printing.bind(value)
    if (type.kind === 'scalar' && type.name.startsWith('DateTime')) return timeLiteral(BigInt(value))
    if (typeof value === 'bigint' || Number.isInteger(value)) {
      const text = isFloat(type) ? `${value}::DOUBLE` : wholeLiteral(BigInt(value), span)
      return Number(value) < 0 ? `(${text})` : text
    }
    if (!Number.isFinite(value)) return `'${Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'}'::DOUBLE`
    const text = String(value)
    return value < 0 ? `(${text.includes('e') ? text : `${text}e0`})` : text.includes('e') ? text : `${text}e0`
  },

  json,
  cast: (value, { isTry, type }) => `${isTry ? 'TRY_CAST' : 'CAST'}(${value} AS ${duckdbType(type)})`,
  array: (items, type) => (items.length || type.kind !== 'array' ? `[${items.join(', ')}]` : `CAST([] AS ${duckdbType(type)})`),
  tuple: (items) => `row(${items.join(', ')})`,

  // Null matches null: a comparison is never unknown here.
  in(value, items, { not, expr, mayBeNull: isCondition }) {
    const mayBeNull = isNullable(expr.type)
    if (items.some((item) => item.mayBeNull && !item.isNull)) {
      const found = items.map((item) => `${value} IS NOT DISTINCT FROM ${item.sql}`).join(' OR ')
      return `${not ? '(NOT ' : ''}(${found})${not ? ')' : ''}`
    }
    const plain = items.filter((item) => !item.isNull).map((item) => item.sql)
    const hasNull = plain.length < items.length
    if (plain.length === 0) return hasNull ? `(${value} IS ${not ? 'NOT ' : ''}NULL)` : String(not)
    const found = plain.length === 1 ? `${value} = ${plain[0]}` : `${value} IN (${plain.join(', ')})`
    if ((!mayBeNull || isCondition) && !hasNull) return `(${not ? 'NOT ' : ''}${not ? `(${found})` : found})`
    const whole = hasNull ? `coalesce(${found}, ${value} IS NULL)` : `coalesce(${found}, false)`
    return not ? `(NOT ${whole})` : whole
  },
  inQuery(value, query, { not, expr, set, mayBeNull }, width) {
    const [column] = 'query' in set ? outputColumns(set.query) : []
    // Lists compare null with null as equal, but single values do not; and a row on the left would be split.
    const asList = width > 1 || (isNullable(expr.type) && column !== undefined && isNullable(column.type))
    const names = Array.from({ length: width }, (_, i) => `c${i}`).join(', ')
    const found = asList
      ? `[${value}] IN (SELECT [${width > 1 ? `row(${names})` : names}] FROM (${query}) AS q(${names}))`
      : `${value} IN (${query})`
    return mayBeNull ? found : `${not ? 'NOT ' : ''}coalesce(${found}, false)`
  },
  inArray: (value, array, { not, mayBeNull }) =>
    mayBeNull ? `list_contains(${array}, ${value})` : `${not ? 'NOT ' : ''}coalesce(list_contains(${array}, ${value}), false)`,
  arrayJoin: (array) => `unnest(${array})`,

  scan: (scan, printing) =>
    scanQuery(scan, (read, sql) => {
      const value = read.slot
        ? madeOf(`t.${read.slot.column}`, read.slot.holds, read.json!.as)
        : read.json
          ? json(sql, read.json.path, read.json.as, printing)
          : sql
      return `${value} AS ${identifier(read.name)}`
    }),
  tableFunction({ name }, args) {
    const [a, b, c] = args.map((arg) => `CAST(${arg} AS BIGINT)`)
    if (name === 'numbers') {
      const [start, count] = b === undefined ? ['0', a] : [a, b]
      return `(SELECT range AS "number" FROM range(${start}, ${start} + ${count}))`
    }
    return `(SELECT generate_series AS "number" FROM generate_series(${a}, ${b}, ${c ?? 1}))`
  },
  attached: attachedRows,
  unnest(source, input, items) {
    const arrays = items.map(({ sql, type }, i) => {
      const item: SqlType = type.kind === 'array' ? type.item : unknownType
      // The engine would pad shorter ones with nulls.
      const even = i === 0 ? sql : unlessUnequal([items[0]!.sql, sql], sql, 'ARRAY JOIN', source.span)
      return source.left ? `CASE WHEN len(${sql}) > 0 THEN ${even} ELSE [${defaultOf(item)}] END` : even
    })
    const columns = arrays.map((_, i) => identifier(`@array_${i}`))
    const made = arrays.map((array, i) => `${array} AS ${columns[i]}`).join(', ')
    const rowsOf = (of: string) =>
      `(SELECT ${items.map(({ name }, i) => `unnest(${of}.${columns[i]}) AS ${name}`).join(', ')}) AS ${identifier(source.alias)}`
    const lists = identifier(`@arrays_of_${source.alias}`)
    // The engine multiplies rows efficiently by a plain column. For any other expression it joins the rows with themselves, on all columns that the
    // array is made from.
    if (!input) return `(SELECT ${made}) AS ${lists} CROSS JOIN LATERAL ${rowsOf(lists)}`
    if (source.input && 'alias' in source.input && source.input.kind !== 'unnest') {
      const rows = identifier(source.input.alias)
      return `(SELECT *, ${made} FROM ${input}) AS ${rows} CROSS JOIN LATERAL ${rowsOf(rows)}`
    }
    return `${input} CROSS JOIN LATERAL (SELECT ${made}) AS ${lists} CROSS JOIN LATERAL ${rowsOf(lists)}`
  },
  join({ type, strictness }) {
    if (strictness === 'semi' || strictness === 'anti') return `${strictness.toUpperCase()} JOIN`
    if (strictness === 'asof') return `ASOF ${type === 'left' ? 'LEFT ' : ''}JOIN`
    return type === 'inner' ? 'JOIN' : `${type.toUpperCase()} JOIN`
  },
  turnsJoin: ({ type, strictness }) => type === 'right' && (strictness === 'semi' || strictness === 'anti' || strictness === 'any'),
  anyJoin({ right, span }, left, printedRight, on) {
    if (!('alias' in right)) throw new UnsupportedError('unsupported-syntax', { what: 'ANY JOIN of joined tables', engine: 'DuckDB' }, span)
    return `${left} LEFT JOIN LATERAL (SELECT * FROM ${printedRight} WHERE ${on} LIMIT 1) AS ${identifier(right.alias)} ON true`
  },
  values: (rows, alias, names) => `(VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}) AS ${alias}(${names.join(', ')})`,
  limit({ limit, offset, percent }) {
    return `${limit === null ? '' : ` LIMIT ${limit}${percent ? '%' : ''}`}${offset ? ` OFFSET ${offset}` : ''}`
  },
  // Tables of the store are qualified with their database.
  cteName: (name) => name,
  cte: (name, hint, query) => `${name} AS ${hint}(${query})`,
  column: (source, name) => `${identifier(source)}.${identifier(name)}`,
  planningLoad,
  refuse: (message, { name, span }) => `error(${literal(saidMark(name, span))} || ${message})`,
  withEqualLengths,
}
