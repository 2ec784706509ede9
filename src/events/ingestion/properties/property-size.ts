import { excessOf, ordinaryLength } from '../../../limits/large-texts.ts'

/** Maximum characters of the properties of one person or group, as JSON. */
export const propertiesLimit = 512_000
/** Room for large properties that many rows share. */
export class LargeRoom {
  private used: number
  private readonly most: number

  constructor(used: number, most: number) {
    this.used = used
    this.most = most
  }

  get taken(): number {
    return Math.max(0, Math.round(this.used))
  }

  /** Whether the properties may grow by `more` characters. */
  has(holder: Measured, more: number): boolean {
    const length = (holder.length ?? measure(holder)) + more
    return length <= ordinaryLength || this.used + Math.min(more, excessOf(length)) <= this.most
  }

  /** Whether so many large characters more fit. */
  takes(more: number): boolean {
    return more <= 0 || this.used + more <= this.most
  }

  /** Counts what a row takes now. */
  count(holder: Counted): void {
    const now = excessOf(holder.length ?? 0)
    this.used += now - (holder.large ?? 0)
    holder.large = now
  }

  /** The row is removed. */
  free(holder: Counted): void {
    this.used -= holder.large ?? 0
    holder.large = 0
  }
}

/** Properties that seem too long are measured again after this many characters were written. */
const measuredAfter = 32_000

/** What has a share of the room for large texts. */
export interface Counted {
  /** Upper bound of the characters; unknown until it is first needed. */
  length?: number
  /** Those that are counted as large. */
  large?: number
}

export interface Measured extends Counted {
  readonly properties: Readonly<Record<string, unknown>>
  /** Exact number at the last measurement. */
  counted?: number
}

const measure = (holder: Measured): number => {
  holder.length = holder.counted = JSON.stringify(holder.properties).length
  return holder.length
}

/** True if the properties stay within the limit with `more` characters added. */
export function fits(holder: Measured, more: number): boolean {
  const length = holder.length ?? measure(holder)
  if (length + more <= propertiesLimit) return true
  return length - (holder.counted ?? 0) >= measuredAfter && measure(holder) + more <= propertiesLimit
}

/** True if two rows may become one. */
export const fitTogether = (a: Measured, b: Measured): boolean => fits(a, b.length ?? measure(b)) || fits(a, measure(b))

export function noteWritten(holder: Measured, more: number): void {
  if (holder.length !== undefined) holder.length += more
}

/** Total characters of the properties. Holders that were never measured count with the usual length. */
export function lengthOf(holders: Iterable<Measured>): number {
  let sum = 0
  for (const { length = usualLength } of holders) sum += length
  return sum
}

/** Whether a write was not stored because of the limit: `now` are the properties after it. */
export const isTooLarge = (set: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(set).some((name) => JSON.stringify(set[name]) !== JSON.stringify(now[name])) &&
  JSON.stringify(now).length + JSON.stringify(set).length > propertiesLimit

/** Typical number of characters of a person's properties. The memory budget assumes this much per cached person. */
export const usualLength = 640
