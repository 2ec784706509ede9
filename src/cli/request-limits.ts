import { type ConcurrencyLimits, defaultConcurrency } from '../http/queries/concurrency.ts'
import { defaultRateLimits, hostedQueriesPerHour, perHour, type RateLimits } from '../http/rate-limits.ts'
import { type Option, type Values, wrongUsage } from './command.ts'

// How much a server answers whom, from the options of its command.

export const limitOptions = {
  'queries-per-hour': {
    value: 'N',
    summary: 'queries that the keys of one user may ask one project in an hour; 0 for no limit; 120 with --hosted, else none',
  },
  'api-limit': {
    value: 'N',
    summary: 'requests that one key may make in a minute, ten times that in an hour; 0 for no limit',
    default: '480',
  },
  'concurrent-queries': {
    value: 'N',
    summary: 'queries of one project that keys may have waiting or running at once; 0 for no limit',
    default: String(defaultConcurrency.perProject),
  },
  'queries-per-user': {
    value: 'N',
    summary: 'queries of one user that may wait or run at once; 0 for no limit',
    default: String(defaultConcurrency.perUser),
  },
} satisfies Readonly<Record<string, Option>>

export const countOf = (values: Values, name: string): number => {
  const text = values.required(name)
  if (!/^\d{1,9}$/.test(text)) throw wrongUsage(`--${name} is a whole number, not ${text}.`)
  return Number(text)
}

const orNone = (count: number) => (count === 0 ? Number.POSITIVE_INFINITY : count)

export const requestLimits = (values: Values): { readonly limits: RateLimits; readonly concurrency: ConcurrencyLimits } => {
  const api = countOf(values, 'api-limit')
  const isGiven = values.text('queries-per-hour') !== undefined
  const queries = isGiven ? countOf(values, 'queries-per-hour') : values.isOn('hosted') ? hostedQueriesPerHour : 0
  return {
    limits: {
      ...defaultRateLimits,
      api: api === 0 ? [] : [{ count: api, seconds: 60 }, ...perHour(api * 10)],
      query: perHour(queries),
    },
    concurrency: {
      ...defaultConcurrency,
      perProject: orNone(countOf(values, 'concurrent-queries')),
      perUser: orNone(countOf(values, 'queries-per-user')),
    },
  }
}
