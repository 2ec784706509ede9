import type { CursorPage } from '../../answers/pages.ts'
import type { Visit } from '../resource.ts'

// Pages of lists that grow at their beginning: a cursor names an item, so that a page stays the same when newer items appear.

interface Item {
  readonly id: string
}
interface Cursor {
  readonly id: string
  readonly isBackwards: boolean
}

export const cursorParameters = { cursor: 'Position of the page, from `next` or `previous`' }

const write = ({ id, isBackwards }: Cursor): string => Buffer.from(`${isBackwards ? 'b' : 'f'}${id}`).toString('base64url')
const read = (text: string): Cursor => {
  const plain = Buffer.from(text, 'base64url').toString('latin1')
  return { id: plain.slice(1), isBackwards: plain.startsWith('b') }
}

const linkTo = ({ url, site }: Pick<Visit, 'url' | 'site'>, cursor: Cursor): string => {
  const parameters = new URLSearchParams(url.searchParams)
  parameters.set('cursor', write(cursor))
  parameters.delete('personal_api_key') // a secret does not travel on in links
  return `${site.base}${url.pathname}?${parameters}`
}

/** One page of a complete list. An unknown cursor is the beginning. */
export function cursorPage<T extends Item>(all: readonly T[], size: number, visit: Pick<Visit, 'url' | 'site'>): CursorPage<T> {
  const given = visit.url.searchParams.get('cursor')
  const cursor = given === null ? null : read(given)
  const index = cursor ? all.findIndex(({ id }) => id === cursor.id) : -1
  const from = index < 0 ? 0 : cursor!.isBackwards ? Math.max(0, index - size) : index + 1
  const results = all.slice(from, index >= 0 && cursor!.isBackwards ? index : from + size)
  const [first, last] = [results[0], results.at(-1)]
  return {
    next: last && from + results.length < all.length ? linkTo(visit, { id: last.id, isBackwards: false }) : null,
    previous: first && from > 0 ? linkTo(visit, { id: first.id, isBackwards: true }) : null,
    results,
  }
}
