import type { AccountContext } from '../../accounts/context.ts'
import type { Retry } from '../../jobs/retry.ts'
import type { RunnerParts } from '../../jobs/runner.ts'
import type { PluginLogEntry } from '../ports.ts'
import type { PluginRuntime } from '../runtime.ts'
import type { EventReader } from './ports.ts'

export interface DeliveredProject {
  /** The last durable record of its log, as far as is known without a look: 0 before the project is opened. */
  readonly position: number
  /** The same for sure. */
  end(): Promise<number>
  readonly storedEvents: EventReader
}

export interface DeliveryLimits {
  /** New events are noticed this often. */
  readonly lookMs: number
  /** Events of one config that are delivered at the same time: at least, and of a quick destination at most. A plugin may make a hundred calls at once. */
  readonly eventsAtOnce: number
  readonly mostAtOnce: number
  /** Events of one step, with their characters: that many come again after a crash. */
  readonly eventsOfStep: number
  readonly charactersOfStep: number
  /** A step that takes longer than `quickMs` no longer counts among the `quickSteps` that run at the same time, but still among all. */
  readonly quickMs: number
  readonly quickSteps: number
  readonly allSteps: number
  /** Events of one config that wait for another attempt. Then no further ones are read. */
  readonly waiting: number
  /** Dead letters of one config. Then the oldest ones are dropped. */
  readonly dead: number
  readonly attempts: number
}

/** After fifteen attempts, in a day and a half, an event becomes a dead letter. */
export const eventRetry: Retry = { attempts: 15, firstMs: 10_000, growth: 3, longestMs: 4 * 3_600_000, jitter: 0.25 }
/** How long a config rests after a number of steps in a row in which nothing was delivered. */
export const pause: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: 1_000, growth: 2, longestMs: 5 * 60_000, jitter: 0.25 }

export interface DeliveryParts extends RunnerParts {
  readonly context: Pick<AccountContext, 'store' | 'clock' | 'newId' | 'settings'> & Partial<Pick<AccountContext, 'isShared'>>
  /** Null if it no longer exists. */
  project(id: number): Promise<DeliveredProject | null>
  readonly deliver: PluginRuntime['deliver']
  log(entry: PluginLogEntry): void
  readonly limits: DeliveryLimits
  /** From 0 to 1. */
  random(): number
}
