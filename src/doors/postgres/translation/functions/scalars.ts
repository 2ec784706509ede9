import { isNumber, isWhole } from '../../types/pg-types.ts'
import { alike, allAlike, decided } from '../coerce.ts'
import { anyNullable } from '../operators.ts'
import type { Typed } from '../typed.ts'
import { type Called, type FunctionRow, type FunctionRows, needs, plain } from './row.ts'

// Functions of texts and numbers, by their names in PostgreSQL.

const text = (sql: (args: readonly string[]) => string, count: number, most = count) => plain(sql, ['text'], 'text', [count, most])
const float = (name: string, count = 1) => plain((args) => `${name}(${args.join(', ')})`, ['float8'], 'float8', [count, count])

/** A function that keeps the type of its number. */
const sameNumber =
  (sql: (x: Typed) => string): FunctionRow =>
  (called) => {
    needs(called, 1)
    const x = decided(called.args[0]!, 'float8', called.context)
    return { sql: sql(x), type: x.type, nullable: x.nullable, at: called.call.at }
  }
const wholeStays = (name: string) => sameNumber((x) => (isWhole(x.type) ? x.sql : `${name}(${x.sql})`))

const rounded: FunctionRow = (called) => {
  needs(called, 1, 2)
  const [given, digits] = called.args
  const x = decided(given!, 'float8', called.context)
  const about = {
    type: x.type === 'float8' || x.type === 'float4' ? ('float8' as const) : ('numeric' as const),
    nullable: x.nullable,
    at: called.call.at,
  }
  if (digits) return { ...about, sql: `round(${x.sql}, ${decided(digits, 'int4', called.context).sql})` }
  if (isWhole(x.type)) return { ...about, type: 'float8', sql: x.sql }
  return { ...about, sql: x.type === 'numeric' ? `(sign(${x.sql}) * floor(abs(${x.sql}) + 0.5))` : `round(${x.sql})` }
}

/** Of several values, those that are NULL left out. */
const chosen =
  (name: 'greatest' | 'least' | 'coalesce'): FunctionRow =>
  (called) => {
    needs(called, 1, 100)
    const { type, values } = allAlike(called.args, called.context)
    const sql =
      name === 'coalesce'
        ? `coalesce(${values.map((one) => one.sql).join(', ')})`
        : values.map((one) => one.sql).reduce((a, b) => `${name}(${a}, ${b})`)
    return {
      sql,
      type,
      nullable: values.every(({ nullable }) => nullable),
      at: called.call.at,
      ...(values.every(({ isDay }) => isDay) && { isDay: true }),
    }
  }

const nullIf: FunctionRow = (called) => {
  needs(called, 2)
  const [a, b] = alike(called.args[0]!, called.args[1]!, called.context)
  return { sql: `nullIf(${a.sql}, ${b.sql})`, type: a.type, nullable: true, at: called.call.at }
}

const concat: FunctionRow = (called) => {
  const joined = text(
    (args) => (args.length === 0 ? "''" : `concat(${args.map((arg) => `ifNull(${arg}, '')`).join(', ')})`),
    0,
    200,
  )(called)
  return { ...joined, nullable: false }
}

const replaced: FunctionRow = (called) => {
  const flags = called.args[3]?.constant ?? ''
  const isAll = flags.includes('g')
  const isInsensitive = flags.includes('i')
  const sql = ([x, pattern, by]: readonly string[]) =>
    `${isAll ? 'replaceRegexpAll' : 'replaceRegexpOne'}(${x}, ${isInsensitive ? `concat('(?i)', ${pattern})` : pattern}, ${by})`
  return text(sql, 3, 4)(called)
}

const hashed = (name: string): FunctionRow => text(([x]) => `lower(hex(${name}(${x})))`, 1)

const modulo: FunctionRow = (called: Called) => {
  needs(called, 2)
  const [a, b] = alike(called.args[0]!, called.args[1]!, called.context)
  return { sql: `(${a.sql} % ${b.sql})`, type: isNumber(a.type) ? a.type : 'numeric', nullable: anyNullable([a, b]), at: called.call.at }
}

export const scalarFunctions: FunctionRows = {
  lower: text(([x]) => `lower(${x})`, 1),
  upper: text(([x]) => `upper(${x})`, 1),
  initcap: text(([x]) => `initcap(${x})`, 1),
  reverse: text(([x]) => `reverse(${x})`, 1),
  length: plain(([x]) => `lengthUTF8(${x})`, ['text'], 'int4'),
  char_length: plain(([x]) => `lengthUTF8(${x})`, ['text'], 'int4'),
  character_length: plain(([x]) => `lengthUTF8(${x})`, ['text'], 'int4'),
  octet_length: plain(([x]) => `length(${x})`, ['text'], 'int4'),
  ascii: plain(([x]) => `ascii(${x})`, ['text'], 'int4'),
  strpos: plain(([x, y]) => `position(${x}, ${y})`, ['text', 'text'], 'int4'),
  replace: text(([x, from, to]) => `replaceAll(${x}, ${from}, ${to})`, 3),
  translate: text(([x, from, to]) => `translate(${x}, ${from}, ${to})`, 3),
  regexp_replace: replaced,
  left: plain(([x, n]) => `left(${x}, ${n})`, ['text', 'int4'], 'text'),
  right: plain(([x, n]) => `right(${x}, ${n})`, ['text', 'int4'], 'text'),
  substring: plain(([x, from, count]) => `substring(${x}, ${from}, ${count ?? `lengthUTF8(${x})`})`, ['text', 'int4'], 'text', [2, 3]),
  substr: plain(([x, from, count]) => `substring(${x}, ${from}, ${count ?? `lengthUTF8(${x})`})`, ['text', 'int4'], 'text', [2, 3]),
  split_part: plain(([x, by, n]) => `split_part(${x}, ${by}, ${n})`, ['text', 'text', 'int4'], 'text'),
  lpad: plain(([x, n, fill]) => `leftPad(${x}, ${n}, ${fill ?? "' '"})`, ['text', 'int4', 'text'], 'text', [2, 3]),
  rpad: plain(([x, n, fill]) => `rightPad(${x}, ${n}, ${fill ?? "' '"})`, ['text', 'int4', 'text'], 'text', [2, 3]),
  repeat: plain(([x, n]) => `repeat(${x}, ${n})`, ['text', 'int4'], 'text'),
  btrim: text(([x, chars]) => (chars ? `trim(both ${chars} from ${x})` : `trim(${x})`), 1, 2),
  trim: text(([x, chars]) => (chars ? `trim(both ${chars} from ${x})` : `trim(${x})`), 1, 2),
  ltrim: text(([x, chars]) => (chars ? `trim(leading ${chars} from ${x})` : `trimLeft(${x})`), 1, 2),
  rtrim: text(([x, chars]) => (chars ? `trim(trailing ${chars} from ${x})` : `trimRight(${x})`), 1, 2),
  starts_with: plain(([x, y]) => `startsWith(${x}, ${y})`, ['text', 'text'], 'bool'),
  md5: hashed('MD5'),
  concat,
  abs: sameNumber((x) => `abs(${x.sql})`),
  ceil: wholeStays('ceil'),
  ceiling: wholeStays('ceil'),
  floor: wholeStays('floor'),
  trunc: plain(([x, n]) => (n ? `trunc(${x}, ${n})` : `trunc(${x})`), ['float8', 'int4'], 'numeric', [1, 2]),
  round: rounded,
  mod: modulo,
  sign: float('sign'),
  sqrt: float('sqrt'),
  cbrt: float('cbrt'),
  exp: float('exp'),
  ln: float('ln'),
  log: plain(([x, y]) => (y ? `(ln(${y}) / ln(${x}))` : `log10(${x})`), ['float8'], 'float8', [1, 2]),
  log10: float('log10'),
  power: float('pow', 2),
  pow: float('pow', 2),
  pi: plain(() => 'pi()', ['float8'], 'float8', [0, 0]),
  random: plain(() => '(rand() / 4294967296)', ['float8'], 'float8', [0, 0]),
  greatest: chosen('greatest'),
  least: chosen('least'),
  coalesce: chosen('coalesce'),
  ifnull: chosen('coalesce'),
  nullif: nullIf,
}
