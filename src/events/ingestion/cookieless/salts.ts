import { randomBytes } from 'node:crypto'
import type { SaltStore } from '../ports.ts'

// The random secret of each day that visitors without cookies are hashed with. Without it nobody can tell which address and browser a hash was made of.

export interface Salts {
  /** The salt of a day, in days since 1970. It is created at the first call. */
  of(day: number): Buffer
}

const saltBytes = 32
const dayMs = 86_400_000
const sweepMs = 600_000

/**
 * Days whose events are accepted, counted from the day of receipt in the project's time zone. The next one: a client's clock may be ahead.
 */
export const acceptedDays = { before: 2, after: 1 } as const

/** No time zone accepts events of a day any more this long after its start in UTC: the zones furthest behind are twelve hours behind. */
const saltMs = (acceptedDays.before + 1) * dayMs + 12 * 3_600_000

/** Creates salts on demand, and erases those of which no more events can come: at each new salt, and with `sweep`. */
export class DailySalts implements Salts {
  private readonly clock: () => Date
  private readonly store: SaltStore | null
  private readonly salts: Map<number, Buffer>

  constructor(clock: () => Date, store: SaltStore | null = null) {
    this.clock = clock
    this.store = store
    this.salts = new Map([...(store?.read() ?? [])].filter(([, salt]) => salt.length === saltBytes))
    this.sweep()
  }

  of(day: number): Buffer {
    this.sweep()
    const known = this.salts.get(day)
    if (known) return known
    const salt = randomBytes(saltBytes)
    this.salts.set(day, salt)
    try {
      this.store?.write(this.salts)
    } catch (error) {
      this.salts.delete(day) // a hash must not be stored with a salt that a restart would not know
      throw error
    }
    return salt
  }

  /** Erases the salts of days that are over. */
  sweep(): void {
    if (this.salts.size === 0) return
    const now = this.clock().getTime()
    const over = [...this.salts.keys()].filter((day) => now >= day * dayMs + saltMs)
    if (over.length === 0) return
    for (const day of over) {
      this.salts.get(day)!.fill(0)
      this.salts.delete(day)
    }
    this.store?.write(this.salts)
  }

  /** Also when no events come. Returns what ends it. */
  sweepRegularly(report: (error: unknown) => void): () => void {
    const timer = setInterval(() => {
      try {
        this.sweep()
      } catch (error) {
        report(error)
      }
    }, sweepMs)
    timer.unref()
    return () => clearInterval(timer)
  }

  get days(): readonly number[] {
    return [...this.salts.keys()]
  }
}
