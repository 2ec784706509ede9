import { readFile } from 'node:fs/promises'
import { WaymarkError } from '../../errors/errors.ts'
import type { CurrencyRates } from '../../language/types/currency-rates.ts'
import { isObject } from '../../lib/is-object.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { sampleRates } from './sample-rates.ts'

// The operator's file of exchange rates, checked when the server starts.

/** The content of the file: fixed rates, or rates by the day from which they count. */
export interface CurrencyRatesFile {
  /** The currency that all rates are based on: a rate is how much of another currency one unit of it is. */
  readonly base: string
  readonly rates: Readonly<Record<string, number>> | Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** Rates of all currencies on all days: statements have them as text. */
const mostRates = 10_000
/** From the first day to the last one: statements have a list of them. */
const mostDays = 12_000
const dayMs = 86_400_000
const attr = 'currencyRates'

const invalid = (message: string, cause?: unknown) => new WaymarkError('validation-failed', { message, attr }, { cause })
const shown = (value: unknown) => excerpt(JSON.stringify(value) ?? String(value), 40)

const isCode = (code: string) => /^[A-Z]{3,8}$/.test(code)
const dayOf = (text: string): number | null => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
  return isReal && ms >= 0 ? ms / dayMs : null
}

const ratesOfDay = (given: unknown, place: string, base: string): ReadonlyMap<string, number> => {
  if (!isObject(given)) throw invalid(`${place} must be an object of rates by currency, such as { "EUR": 0.86 }, but is ${shown(given)}.`)
  const entries = Object.entries(given).map(([code, rate]): [string, number] => {
    if (!isCode(code)) throw invalid(`${place} has the currency ${shown(code)}: write a code of 3 to 8 capital letters, such as EUR.`)
    if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0)
      throw invalid(`${place}.${code} must be a number above 0, but is ${shown(rate)}.`)
    if (code === base && rate !== 1) throw invalid(`${place}.${code} must be 1, because ${code} is the base, but is ${rate}.`)
    return [code, rate]
  })
  return new Map(entries)
}

/** Each currency keeps its last rate; days before its first one have that. */
const filled = (code: string, byDay: readonly ReadonlyMap<string, number>[]): readonly number[] => {
  let last = byDay.find((rates) => rates.has(code))!.get(code)!
  return byDay.map((rates) => {
    last = rates.get(code) ?? last
    return last
  })
}

export function checkedRates(given: unknown): CurrencyRates {
  if (!isObject(given)) throw invalid(`The exchange rates must be an object { "base", "rates" }, but are ${shown(given)}.`)
  const { base, rates, ...others } = given
  const [strange] = Object.keys(others)
  if (strange !== undefined) throw invalid(`The exchange rates have the field ${shown(strange)}: there are "base" and "rates" only.`)
  if (typeof base !== 'string' || !isCode(base)) throw invalid(`base must be the code of a currency, such as "USD", but is ${shown(base)}.`)
  if (!isObject(rates) || Object.keys(rates).length === 0)
    throw invalid(`rates must be an object of rates by currency, or of such objects by day, but is ${shown(rates)}.`)
  const isByDay = Object.values(rates).some(isObject)
  const days = isByDay
    ? Object.entries(rates).map(([text, ofDay]) => {
        const day = dayOf(text)
        if (day === null) throw invalid(`rates has the day ${shown(text)}: write days from 1970 on, such as "2026-01-31".`)
        return { day, rates: ratesOfDay(ofDay, `rates.${text}`, base) }
      })
    : [{ day: 0, rates: ratesOfDay(rates, 'rates', base) }]
  days.sort((a, b) => a.day - b.day)
  const byDay = days.map((one) => one.rates)
  const codes = [...new Set([base, ...byDay.flatMap((one) => [...one.keys()])])].sort()
  if (codes.length * days.length > mostRates)
    throw invalid(
      `The exchange rates are ${codes.length} currencies on ${days.length} days, which is more than ${mostRates} rates: leave out currencies or days. A rate counts until the next one.`,
    )
  const span = days.at(-1)!.day - days[0]!.day + 1
  if (span > mostDays)
    throw invalid(`The exchange rates are of ${span} days, from the first to the last one, and the limit is ${mostDays}.`)
  return {
    days: days.map(({ day }) => day),
    rates: Object.fromEntries(codes.map((code) => [code, code === base ? days.map(() => 1) : filled(code, byDay)])),
  }
}

/** `given`: a path, `sample`, or the content itself. */
export async function readCurrencyRates(given: string | CurrencyRatesFile): Promise<CurrencyRates> {
  if (given === 'sample') return checkedRates(sampleRates)
  if (typeof given !== 'string') return checkedRates(given)
  const text = await readFile(given, 'utf8').catch((error: Error) => {
    throw invalid(`The file of exchange rates cannot be read: ${error.message}`, error)
  })
  let content: unknown
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw invalid(`The file of exchange rates, ${given}, is not valid JSON: ${(error as Error).message}`, error)
  }
  return checkedRates(content)
}
