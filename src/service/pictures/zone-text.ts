import { type Zone, zoneOf } from '../../lib/time/zone.ts'

const knownZone = (name: string): Zone => {
  try {
    return zoneOf(name)
  } catch {
    return zoneOf('UTC')
  }
}

/** `2026-01-05 11:00` in the zone, with seconds if there are any; in UTC if the zone is not known. */
export function zoneText(date: Date, timezone: string): string {
  const wall = new Date(knownZone(timezone).toWall(date.getTime() * 1000) / 1000)
  if (Number.isNaN(wall.getTime())) return date.toISOString()
  const text = wall.toISOString().replace('T', ' ')
  return text.endsWith(':00.000Z') ? text.slice(0, -8) : text.slice(0, -5)
}
