/** A text as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
export const quotedName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
export const literals = (texts: readonly string[]): string => texts.map(literal).join(', ')
export const numbers = (values: readonly number[]): string => values.map(Number).join(', ')

/** The first and the last time of a DateTime64 with microseconds. */
const earliest = Date.UTC(1900, 0, 1) * 1000
const latest = Date.UTC(2299, 11, 31, 23, 59, 59) * 1000

/** Microseconds as text; times outside the range become the first or the last one. */
export function timeText(micros: number): string {
  const within = Math.trunc(Math.min(latest, Math.max(earliest, micros)))
  const seconds = Math.floor(within / 1_000_000)
  const fraction = String(within - seconds * 1_000_000).padStart(6, '0')
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}.${fraction}`
}
