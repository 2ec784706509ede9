import type { Pipeline } from '../../events/ingestion/pipeline.ts'
import { addRemovals, type KeptFrom, keptFromText, noRemovals, type RemovalCounts } from '../../language/catalog/removals.ts'
import { addWall, startOfWall } from '../../lib/time/calendar.ts'
import { type Micros, zoneOf } from '../../lib/time/zone.ts'
import type { BackendHome, BackendSettings, Retention } from './backend.ts'

// What a project keeps for some months only. The boundary is a midnight in the project's time zone, and every query sees it.

/** The midnight that began the day so many months ago. */
function monthsAgo(months: number, timezone: string, now: Micros): Micros {
  const zone = zoneOf(timezone)
  return zone.toInstant(addWall('month', -months, startOfWall('day', zone.toWall(now), 0)))
}

export function keptFromAt({ events, names }: Pick<Retention, 'events' | 'names'>, timezone: string, now: Micros): KeptFrom {
  const from = (months: number | null) => (months === null ? null : monthsAgo(months, timezone, now))
  return { all: from(events), names: Object.fromEntries(Object.entries(names).map(([name, months]) => [name, from(months)])) }
}

export class Keeping {
  private readonly pipeline: Pick<Pipeline, 'caughtUp' | 'keptFrom' | 'remove'>
  private readonly home: Pick<BackendHome, 'clock' | 'onError'> & { settings(): Pick<BackendSettings, 'retention' | 'timezone'> }
  private moving: Promise<void> | null = null
  private removed: RemovalCounts = noRemovals

  constructor(pipeline: Keeping['pipeline'], home: Keeping['home']) {
    this.pipeline = pipeline
    this.home = home
  }

  /** Resolves when everything acknowledged is applied, and events beyond the boundary of now are gone. */
  async caughtUp(): Promise<void> {
    await this.pipeline.caughtUp()
    if (this.isUpToDate) return
    try {
      await this.move()
    } catch (error) {
      this.home.onError(error) // a full disk: answers are more use than none, and the next query tries again
    }
  }

  async removeOld(): Promise<RemovalCounts> {
    await this.pipeline.caughtUp()
    while (!this.isUpToDate) await this.move()
    const { persons } = this.home.settings().retention
    const idle = persons === null ? noRemovals : await this.pipeline.remove({ remove: 'idle_persons', before: this.ago(persons) })
    const counts = addRemovals(this.removed, idle)
    this.removed = noRemovals
    return counts
  }

  private get wanted(): KeptFrom {
    const { retention, timezone } = this.home.settings()
    return keptFromAt(retention, timezone, this.now)
  }

  get isUpToDate(): boolean {
    return keptFromText(this.wanted) === keptFromText(this.pipeline.keptFrom)
  }

  private get now(): Micros {
    return this.home.clock().getTime() * 1000
  }

  private ago(months: number): Micros {
    return monthsAgo(months, this.home.settings().timezone, this.now)
  }

  private move(): Promise<void> {
    this.moving ??= this.pipeline
      .remove({ remove: 'old_events', from: this.wanted })
      .then((counts) => {
        this.removed = addRemovals(this.removed, counts)
      })
      .finally(() => {
        this.moving = null
      })
    return this.moving
  }
}
