import { nearestSpellings } from './spelling.ts'

const plain = (text: string) => text.replace(/_/g, '').toLowerCase()

/** The nearest name by spelling, or one with the same beginning or end: `op` gives `operator`. */
export function likelyName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name)
  return (
    known.find((one) => plain(one) === wanted) ??
    nearestSpellings(name, known)[0] ??
    (wanted.length > 1
      ? known.find((one) => plain(one).startsWith(wanted) || plain(one).endsWith(wanted) || wanted.startsWith(plain(one)))
      : undefined)
  )
}
