import { zoneOf as readZone } from '../../../lib/time/zone.ts'

/** A period with a constant offset. */
export interface ZonePiece {
  /** Microseconds since 1970, UTC. */
  readonly from: number
  /** Local time minus UTC, in microseconds. */
  readonly offset: number
}

export const isUtc = (zone: string): boolean => /^(?:Etc\/)?(?:UTC|GMT|UCT|Universal|Zulu)$/i.test(zone)

export function isZone(zone: string): boolean {
  try {
    readZone(zone)
    return true
  } catch {
    return false
  }
}

/** Microseconds since 1970 of the first day of a year. */
export const newYear = (year: number): number => Date.UTC(year, 0, 1) * 1000

/** The periods of constant offset between the starts of two years, in order; at least one. */
export function zonePieces(zone: string, fromYear: number, toYear: number): readonly ZonePiece[] {
  if (isUtc(zone)) return [{ from: newYear(fromYear), offset: 0 }]
  const read = readZone(zone)
  const first = { from: newYear(fromYear), offset: read.offsetAt(newYear(fromYear)) }
  return [first, ...read.changes(newYear(fromYear), newYear(toYear)).map(({ at, after }) => ({ from: at, offset: after }))]
}
