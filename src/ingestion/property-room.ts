/** Characters of the properties of one person or group, as JSON. */
export const propertiesLimit = 512_000
/** Properties that seem to be too long are measured again once so much was written since. */
const measuredAfter = 32_000

export interface Measured {
  readonly properties: Readonly<Record<string, unknown>>
  /** At most so many characters; not known before somebody asks. */
  length?: number
  /** How many there were when they were last counted. */
  counted?: number
}

const measure = (holder: Measured): number => {
  holder.length = holder.counted = JSON.stringify(holder.properties).length
  return holder.length
}

/** Whether so many characters more would not be too many. */
export function hasRoom(holder: Measured, more: number): boolean {
  const length = holder.length ?? measure(holder)
  if (length + more <= propertiesLimit) return true
  return length - (holder.counted ?? 0) >= measuredAfter && measure(holder) + more <= propertiesLimit
}

export function noteWritten(holder: Measured, more: number): void {
  if (holder.length !== undefined) holder.length += more
}

/** Characters of the properties of them all; of those that were never measured the usual number. */
export function lengthOf(holders: Iterable<Measured>): number {
  let sum = 0
  for (const { length = usualLength } of holders) sum += length
  return sum
}

/** Characters of the properties of a person, as a rule less. Where so many people may be in memory, so much of them may. */
export const usualLength = 640

/** What a group needs would take too much memory: it must be made smaller. */
export class TooMuchAtOnce extends Error {
  override readonly name = 'TooMuchAtOnce'
}
