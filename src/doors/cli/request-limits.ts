import { defaultRateLimits, hostedQueriesPerHour, perHour, type RateLimits } from '../http/access/rate-limits.ts'
import { type ConcurrencyLimits, defaultConcurrency } from '../http/queries/concurrency.ts'
import { type Option, type Values, wrongUsage } from './command.ts'

// Rate limits of a server, from the options of its command.

export const limitOptions = {
  'queries-per-hour': {
    value: 'N',
    summary: 'queries per hour that the keys of one user may run on one project; 0: no limit; default: 120 with --hosted, else no limit',
  },
  'api-limit': {
    value: 'N',
    summary: 'requests per minute for one key, and ten times that per hour; 0: no limit',
    default: '480',
  },
  'concurrent-queries': {
    value: 'N',
    summary: 'queries of one project that API keys may have queued or running at a time; 0: no limit',
    default: String(defaultConcurrency.perProject),
  },
  'queries-per-user': {
    value: 'N',
    summary: 'queries of one user that may be queued or running at a time; 0: no limit',
    default: String(defaultConcurrency.perUser),
  },
} satisfies Readonly<Record<string, Option>>

export const countOf = (values: Values, name: string): number => {
  const text = values.required(name)
  if (!/^\d{1,9}$/.test(text)) throw wrongUsage(`--${name} must be a whole number, but got ${text}.`)
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
