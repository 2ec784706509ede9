const isoForm = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i

/** ISO 8601; without an offset it is UTC. Null for any other text. */
export function readTime(given: string): Date | null {
  const written = given.trim()
  if (!isoForm.test(written)) return null
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(written.slice(10))
  const whole = written.length === 10 ? `${written}T00:00:00` : written.replace(/^(.{10})[ t]/, '$1T').replace(' ', '')
  const read = new Date(hasZone ? whole.toUpperCase() : `${whole}Z`)
  return Number.isNaN(read.getTime()) ? null : read
}
