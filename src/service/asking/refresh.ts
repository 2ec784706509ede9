import { WaymarkError } from '../../errors/errors.ts'
import { noneOf } from '../../errors/validation.ts'

// Cache and wait modes of a request, by its `refresh`.

export const refreshModes = [
  'blocking',
  'force_blocking',
  'async',
  'force_async',
  'lazy_async',
  'async_except_on_cache_miss',
  'force_cache',
] as const
export type RefreshMode = (typeof refreshModes)[number]

/** The mode of a request, however it is given. Every request gets an answer: `force_cache` also computes a new one if nothing is cached. */
export const refreshMode = (refresh: unknown, isAsync = false): RefreshMode => {
  if (refresh === true) return isAsync ? 'force_async' : 'force_blocking'
  if (refresh === undefined || refresh === null || refresh === false) return isAsync ? 'async' : 'blocking'
  if (refresh === 'force_cache') return 'blocking'
  if ((refreshModes as readonly unknown[]).includes(refresh)) return refresh as RefreshMode
  throw new WaymarkError('validation-failed', { ...noneOf('refresh', refresh, ['true', 'false', ...refreshModes]), attr: 'refresh' })
}
