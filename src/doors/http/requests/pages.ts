import type { Page } from '../../answers/pages.ts'
import type { Visit } from '../resource.ts'
import { pageLink } from '../site.ts'

export const defaultPage = 100
/** Larger pages are cut to this size; `next` links to the next page. */
const largestPage = 1000

const whole = (text: string | null): number | null => (text !== null && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : null)

type Asked = Pick<Visit, 'url' | 'site'>

export const pageBounds = (query: URLSearchParams): { limit: number; offset: number } => ({
  limit: Math.min(whole(query.get('limit')) || defaultPage, largestPage),
  offset: whole(query.get('offset')) ?? 0,
})

const linkTo = (asked: Asked, limit: number, offset: number): string => pageLink(asked, { limit, offset: offset > 0 ? offset : null })

/** A page that was read from storage as a page, out of `count`. */
export const pageWith = <T>(results: readonly T[], count: number, asked: Asked): Page<T> => {
  const { limit, offset } = pageBounds(asked.url.searchParams)
  return {
    count,
    next: offset + limit < count ? linkTo(asked, limit, offset + limit) : null,
    previous: offset > 0 ? linkTo(asked, limit, Math.max(0, offset - limit)) : null,
    results,
  }
}

/** One page of a complete list. */
export const pageOf = <T>(all: readonly T[], asked: Asked): Page<T> => {
  const { limit, offset } = pageBounds(asked.url.searchParams)
  return pageWith(all.slice(offset, offset + limit), all.length, asked)
}

/** The parameters of a page, as documentation. */
export const paging = { limit: 'Results per page (default 100)', offset: 'Index of the first result' }
