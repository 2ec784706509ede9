// Local time, from Node's time zone data. Instants and walls are microseconds; a wall is the instant at which a UTC clock would show
// the same local date and time, so its calendar fields are read with UTC arithmetic.

/** Microseconds since 1970-01-01T00:00:00Z. Exact as a number up to the year 2255. */
export type Micros = number

export const second = 1_000_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** From `at` on, the wall is `after` ahead of UTC; before it `before`. */
export interface OffsetChange {
  readonly at: Micros
  readonly before: Micros
  readonly after: Micros
}

export interface Zone {
  readonly name: string
  offsetAt(at: Micros): Micros
  toWall(at: Micros): Micros
  /** An ambiguous wall is its first instant; a skipped one is moved forward by the length of the gap. */
  toInstant(wall: Micros): Micros
  /** The offset changes in (from, to], in order. */
  changes(from: Micros, to: Micros): readonly OffsetChange[]
}

const zones = new Map<string, Zone>()

export function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  const zone = name === 'UTC' ? utc : readZone(name)
  zones.set(name, zone)
  return zone
}

const utc: Zone = { name: 'UTC', offsetAt: () => 0, toWall: (at) => at, toInstant: (wall) => wall, changes: () => [] }

// Two changes are never closer than the shortest Ramadan break of Morocco, about a month.
const step = 3 * day

function readZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'gregory',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const read = (at: Micros): Micros => {
    const ms = Math.floor(at / second) * 1000
    const part: Record<string, string> = {}
    for (const { type, value } of format.formatToParts(ms)) part[type] = value
    const year = part.era === 'BC' ? 1 - Number(part.year) : Number(part.year)
    const wall = Date.UTC(2000, Number(part.month) - 1, Number(part.day), Number(part.hour), Number(part.minute), Number(part.second))
    return (new Date(wall).setUTCFullYear(year, Number(part.month) - 1, Number(part.day)) - ms) * 1000
  }

  const years = new Map<number, { readonly first: Micros; readonly changes: readonly OffsetChange[] }>()
  const yearOf = (at: Micros) => new Date(at / 1000).getUTCFullYear()
  const inYear = (year: number) => {
    let known = years.get(year)
    if (known) return known
    const changes: OffsetChange[] = []
    const end = Date.UTC(year + 1, 0, 1) * 1000
    let low = Date.UTC(year, 0, 1) * 1000
    const first = read(low)
    let before = first
    while (low < end) {
      const high = Math.min(low + step, end)
      const after = read(high)
      if (after !== before) changes.push({ at: bisect(low, high, before), before, after })
      before = after
      low = high
    }
    known = { first, changes }
    years.set(year, known)
    return known
  }
  const bisect = (low: Micros, high: Micros, before: Micros): Micros => {
    let [a, b] = [low / second, high / second]
    while (b - a > 1) {
      const middle = Math.floor((a + b) / 2)
      if (read(middle * second) === before) a = middle
      else b = middle
    }
    return b * second
  }

  const offsetAt = (at: Micros): Micros => {
    const { first, changes } = inYear(yearOf(at))
    let offset = first
    for (const change of changes) if (at >= change.at) offset = change.after
    return offset
  }
  return {
    name,
    offsetAt,
    toWall: (at) => at + offsetAt(at),
    toInstant(wall) {
      // The offset before the change gives the first of two instants, and carries a skipped wall past the gap.
      const early = wall - offsetAt(wall - day)
      if (early + offsetAt(early) === wall) return early
      const late = wall - offsetAt(wall + day)
      return late + offsetAt(late) === wall ? late : early
    },
    changes(from, to) {
      const found: OffsetChange[] = []
      for (let year = yearOf(from); year <= yearOf(to); year++)
        for (const change of inYear(year).changes) if (change.at > from && change.at <= to) found.push(change)
      return found
    },
  }
}
