// Numbers of the hours of the last days. Pure: times are UTC milliseconds, hours are counted since 1970.

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
/** Eight days: the same hour of the week before is among them. */
export const mostHours = 8 * 24

export interface Hours {
  /** The hour of the last number. */
  readonly latest: number
  /** The oldest hour first, without gaps. */
  readonly counts: readonly number[]
}

export const hourOf = (time: number): number => Math.floor(time / hourMs)

/** The number of an hour; 0 where nothing was counted. */
export const countAt = ({ latest, counts }: Hours, hour: number): number => counts[counts.length - 1 - (latest - hour)] ?? 0

/** How many whole hours were counted before this one. */
export const knownBefore = ({ latest, counts }: Hours, hour: number): number => Math.max(0, hour - (latest - counts.length + 1))

/** With so many more in an hour, which is not before the last one. */
export function countedIn({ latest, counts }: Hours, hour: number, more: number): Hours {
  if (counts.length === 0) return { latest: hour, counts: [more] }
  // A clock that was set back counts in the last hour.
  const missing = Math.max(0, hour - latest)
  const filled = missing >= mostHours ? new Array<number>(mostHours).fill(0) : [...counts, ...new Array<number>(missing).fill(0)]
  filled[filled.length - 1]! += more
  return { latest: Math.max(latest, hour), counts: filled.slice(-mostHours) }
}

/** The sixty minutes before a time, as if the events of the hour before had come evenly. */
export function countOfHourBefore(hours: Hours, time: number): number {
  const hour = hourOf(time)
  const share = time / hourMs - hour
  return countAt(hours, hour) + (1 - share) * countAt(hours, hour - 1)
}

/** The same of hours that are over: the part of the last one, too, as if its events had come evenly. */
export function countOfPastHour(hours: Hours, time: number): number {
  const hour = hourOf(time)
  const share = time / hourMs - hour
  return share * countAt(hours, hour) + (1 - share) * countAt(hours, hour - 1)
}

/** The mean of the week before an hour, of the hours that were counted; null: of none. */
export function meanBefore(hours: Hours, hour: number): number | null {
  const known = Math.min(knownBefore(hours, hour), 7 * 24)
  if (known === 0) return null
  let sum = 0
  for (let i = 1; i <= known; i++) sum += countAt(hours, hour - i)
  return sum / known
}
