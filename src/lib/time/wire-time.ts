/** ISO 8601 in UTC; fractions only when there are some, then as microseconds. */
export const time = (at: Date): string => {
  const text = at.toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : `${text.slice(0, -1)}000Z`
}
export const maybeTime = (at: Date | null): string | null => (at === null ? null : time(at))
