import { z } from 'zod'

export const defaultPage = 100
/** Larger pages are cut to this size; `next` leads on. */
export const largestPage = 1000

const whole = (text: string | null): number | null => (text !== null && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : null)

export interface Page<T> {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly T[]
}

export const pageBounds = (query: URLSearchParams): { limit: number; offset: number } => ({
  limit: Math.min(whole(query.get('limit')) || defaultPage, largestPage),
  offset: whole(query.get('offset')) ?? 0,
})

const linkTo = (url: URL, limit: number, offset: number): string => {
  const link = new URL(url)
  link.searchParams.set('limit', String(limit))
  if (offset > 0) link.searchParams.set('offset', String(offset))
  else link.searchParams.delete('offset')
  link.searchParams.delete('personal_api_key') // a secret does not travel on in links
  return link.href
}

/** A page that was read as one, out of `count`. */
export const pageWith = <T>(results: readonly T[], count: number, url: URL): Page<T> => {
  const { limit, offset } = pageBounds(url.searchParams)
  return {
    count,
    next: offset + limit < count ? linkTo(url, limit, offset + limit) : null,
    previous: offset > 0 ? linkTo(url, limit, Math.max(0, offset - limit)) : null,
    results,
  }
}

/** One page of a whole list. */
export const pageOf = <T>(all: readonly T[], url: URL): Page<T> => {
  const { limit, offset } = pageBounds(url.searchParams)
  return pageWith(all.slice(offset, offset + limit), all.length, url)
}

/** The parameters of a page, in words. */
export const paging = { limit: 'How many results a page has; 100 when not given', offset: 'Where the page starts' }

export const pageSchema = (of: z.ZodType) =>
  z.object({ count: z.int(), next: z.string().nullable(), previous: z.string().nullable(), results: z.array(of) })
