import { current, go, linkTo, type Place } from './router.ts'

/** Choices of a page that its address holds: what is empty is left out. */
export function useAddress(place: Place) {
  const of = (name: string): string => place.search.get(name) ?? ''
  const number = (name: string): number => Math.max(0, Math.trunc(Number(of(name))) || 0)
  const set = (changes: Readonly<Record<string, string | number>>): void => {
    const { parts, search } = current() // what else was changed since this was drawn stays
    const all = { ...Object.fromEntries(search), ...changes }
    const kept = Object.entries(all).flatMap(([name, value]) => (value === '' || value === 0 ? [] : [[name, String(value)]]))
    go(linkTo(encodedPath(parts), Object.fromEntries(kept) as Record<string, string>), true)
  }
  return { of, number, set }
}

/** Keys of groups may contain slashes. */
export const encodedPath = (parts: readonly string[]): string => parts.map(encodeURIComponent).join('/')

export const parameters = (of: Readonly<Record<string, string | number | null | undefined>>): string =>
  new URLSearchParams(
    Object.entries(of).flatMap(([name, value]) => (value == null || value === '' ? [] : [[name, String(value)]])),
  ).toString()

/** A JSON list in the address, which somebody may have edited. */
export function listOf(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text || '[]')
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
/** Those that have a key: filters, as a query has them. */
export const filtersOf = <F extends { readonly key: string }>(text: string): readonly F[] =>
  listOf(text).filter((one) => typeof (one as { key?: unknown } | null)?.key === 'string') as readonly F[]
