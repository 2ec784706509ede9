import { UnsupportedError } from '../../../errors/errors.ts'
import { own } from '../../../lib/own.ts'
import type { CurrencyRates } from '../../types/currency-rates.ts'
import { isNullable, isText, scalar } from '../../types/types.ts'
import { asFloat, asTextOrNull } from '../cells/duckdb-values.ts'
import { toDate, toDateOnClickhouse } from '../dates/conversion.ts'
import { clickHouseToday, today } from '../dates/makers.ts'
import { type Arg, type CellContext, type FunctionRow, functions, type SqlCell } from '../row.ts'
import { scalars } from '../scalars.ts'

// Amounts in another currency, by the rates that the operator gives. The statement has the rates that it needs as lists; a day is a position in them. Both engines multiply and divide the
// same floats in the same order, so their results are equal to the last bit.

/** The words of one engine. */
interface Words {
  float(arg: Arg): string
  /** The number of a day, since 1970. */
  dayNumber(date: string): string
  date(arg: Arg | undefined, context: CellContext): string
  /** A long list, as a text that the engine reads once: each item of a literal would be an expression of the statement. */
  list(items: readonly string[], type: 'float' | 'integer', context: CellContext): string
  item(list: string, position: string): string
  /** The position of a text in a list, from 1; 0: it is not in it. */
  positionIn(texts: readonly string[], text: string): string
  text(arg: Arg): string
  either(condition: string, value: string, other: string): string
}

const listText = (items: readonly string[], { literal }: CellContext): string => literal(`[${items.join(',')}]`)

const duckdb: Words = {
  float: asFloat,
  dayNumber: (date) => `(${date} - DATE '1970-01-01')`,
  date: (arg, context) => (arg ? toDate([arg], context) : today([], context)),
  list: (items, type, context) => `CAST(${listText(items, context)} AS ${type === 'float' ? 'DOUBLE' : 'INTEGER'}[])`,
  item: (list, position) => `list_extract(${list}, ${position})`,
  positionIn: (texts, text) => `coalesce(list_position([${texts.join(', ')}], upper(${text})), 0)`,
  text: (arg) => asTextOrNull(arg),
  either: (condition, value, other) => `CASE WHEN ${condition} THEN ${value} ELSE ${other} END`,
}
const clickhouse: Words = {
  float: ({ sql }) => `toFloat64(${sql})`,
  dayNumber: (date) => `toInt32(${date})`,
  date: (arg, context) => (arg ? toDateOnClickhouse([arg], context) : clickHouseToday([], context)),
  list: (items, type, context) => `CAST(${listText(items, context)} AS Array(${type === 'float' ? 'Float64' : 'Int32'}))`,
  item: (list, position) => `arrayElement(${list}, ${position})`,
  positionIn: (texts, text) => `toInt32(indexOf([${texts.join(', ')}], upper(ifNull(${text}, ''))))`,
  text: ({ sql }) => sql,
  either: (condition, value, other) => `if(${condition}, ${value}, ${other})`,
}

/** As a float on both engines: without an exponent DuckDB reads a decimal. */
const number = (value: number): string => value.toExponential()

/** A constant in upper case; null: it is no text; undefined: it is known only in each row. */
const codeOf = ({ constant }: Arg): string | null | undefined =>
  constant === undefined ? undefined : typeof constant === 'string' ? constant.toUpperCase() : null

/** The position of the period of a day, from 0; null: there is one period. */
const periodOf = ({ days }: CurrencyRates, words: Words, date: Arg | undefined, context: CellContext): string | null => {
  const [first, last] = [days[0]!, days.at(-1)!]
  if (first === last) return null
  const periods: string[] = []
  for (let day = first, period = 0; day <= last; day++) {
    while (days[period + 1] !== undefined && days[period + 1]! <= day) period++
    periods.push(String(period))
  }
  const day = words.dayNumber(words.date(date, context))
  return words.item(words.list(periods, 'integer', context), `greatest(1, least(${periods.length}, ${day} - ${first - 1}))`)
}

/** The rate of a currency in each row; 0: it is unknown. */
const rateOf = ({ days, rates }: CurrencyRates, words: Words, arg: Arg, period: string | null, context: CellContext): string => {
  const code = codeOf(arg)
  const at = (list: readonly number[], before: string | null) => {
    const position = [before, period === null ? '1' : `${period} + 1`].filter((one) => one !== null).join(' + ')
    return words.item(words.list(list.map(number), 'float', context), position)
  }
  if (code !== undefined) {
    const list = (code !== null && own(rates, code)) || [0]
    return new Set(list).size === 1 ? number(list[0]!) : at(list, null)
  }
  const codes = Object.keys(rates)
  const unknown = days.map(() => 0)
  const position = words.positionIn(
    codes.map((one) => context.literal(one)),
    words.text(arg),
  )
  return at([unknown, ...Object.values(rates)].flat(), `${position} * ${days.length}`)
}

const currencies = Intl.supportedValuesOf('currency')
const isKnown = (code: string | null, rates: CurrencyRates | undefined) =>
  code !== null && (rates ? own(rates.rates, code) !== undefined : currencies.includes(code))

const convert =
  (words: Words): SqlCell =>
  ([from, to, amount, date], context) => {
    const { currencyRates: rates } = context
    const [fromCode, toCode] = [codeOf(from!), codeOf(to!)]
    if ([fromCode, toCode].some((code) => code !== undefined && !isKnown(code, rates))) return '0'
    if (fromCode !== undefined && fromCode === toCode) return words.float(amount!)
    if (!rates)
      throw new UnsupportedError('unsupported-function', {
        name: 'convertCurrency',
        engine: 'this engine',
        reason: 'this server has no exchange rates: its operator gives them with --currency-rates',
      })
    const period = periodOf(rates, words, date, context)
    const [fromRate, toRate] = [from!, to!].map((arg) => rateOf(rates, words, arg, period, context)) as [string, string]
    // A rate of 0 is that of an unknown currency.
    const share = fromCode === undefined ? `coalesce(${toRate} / nullif(${fromRate}, 0), 0)` : `(${toRate} / ${fromRate})`
    const converted = `${words.float(amount!)} * ${share}`
    const isNoDate = date && isNullable(date.type) ? `${words.date(date, context)} IS NULL` : null
    return `(${isNoDate === null ? converted : words.either(isNoDate, 'NULL', converted)})`
  }

export const currencyFunctions: Readonly<Record<string, FunctionRow>> = functions(
  scalars({
    convertCurrency: {
      args: [3, 4],
      takes: ['text', 'text', 'number', 'time'],
      returns: ([, , amount, date]) => scalar('Float64', isNullable(amount!) || (date !== undefined && (isNullable(date) || isText(date)))),
      summary:
        'An amount in another currency, by the rate of a day (default: today), from the rates that the operator gives. An unknown currency gives 0; equal ones need no rates.',
      duckdb: convert(duckdb),
      clickhouse: convert(clickhouse),
      cases: [
        ["convertCurrency('USD', 'BOGUS', 100, toDate('2024-01-01'))", 0],
        ["convertCurrency('EUR', 'EUR', 12.5)", 12.5],
        ["convertCurrency('eur', 'EUR', 12.5)", 12.5],
      ],
    },
  }),
)
