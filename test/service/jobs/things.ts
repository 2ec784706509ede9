import type { AccountStore } from '../../../src/service/accounts/records.ts'
import type { Job, Kind, Share } from '../../../src/service/jobs/kind.ts'
import type { Retry } from '../../../src/service/jobs/retry.ts'
import { memoryStore } from './memory-store.ts'

// Due work of a test: rows of a table `things`, and what happens to them.

export interface Thing {
  readonly id: string
  readonly project_id: number
  readonly kind: string
  readonly status: 'waiting' | 'done' | 'failed'
  readonly due_at: Date
  readonly failures: number
}

interface ThingTable {
  find(where: Partial<Thing>): Promise<readonly Thing[]>
  first(where: Partial<Thing>): Promise<Thing | undefined>
  insert(thing: Thing): Promise<void>
  update(where: Partial<Thing>, change: Partial<Thing>): Promise<number>
}
export const thingsOf = (tables: unknown): ThingTable => (tables as { things: ThingTable }).things

export const thingStore = (): AccountStore => memoryStore(['leases', 'things'])

export interface ThingParts {
  readonly store: AccountStore
  readonly name: string
  readonly share: Share
  readonly retry: Retry
  /** What an attempt does. */
  run(thing: Thing, job: Job): Promise<void>
  readonly guarantee?: Kind<Thing>['guarantee']
  readonly mostMs?: number
  onDue?(due: readonly Thing[]): void
  onFailure?(thing: Thing, next: Date | null): void
}

export const thingKind = ({
  store,
  name,
  share,
  retry,
  run,
  guarantee = 'at least once',
  mostMs,
  onDue,
  onFailure,
}: ThingParts): Kind<Thing> => ({
  name,
  share,
  retry,
  guarantee,
  ...(mostMs !== undefined && { mostMs }),
  async due(now) {
    const waiting = await thingsOf(store.read).find({ kind: name, status: 'waiting' })
    onDue?.(waiting.filter(({ due_at }) => due_at <= now))
    return {
      due: waiting.map((item) => ({
        id: item.id,
        projectId: item.project_id,
        at: item.due_at.getTime(),
        failures: item.failures,
        item,
      })),
    }
  },
  async claim(tables, { id }, now) {
    const thing = await thingsOf(tables).first({ id, status: 'waiting' })
    if (!thing || thing.due_at > now) return null
    if (guarantee === 'at most once') await thingsOf(tables).update({ id }, { status: 'done' })
    return thing
  },
  async run(thing, job) {
    await run(thing, job)
    return (tables) => thingsOf(tables).update({ id: thing.id }, { status: 'done' })
  },
  async failed(tables, thing, _error, next) {
    const failures = thing.failures + 1
    const due_at = next(failures)
    onFailure?.(thing, due_at)
    await thingsOf(tables).update({ id: thing.id }, due_at ? { failures, due_at } : { failures, status: 'failed' })
  },
})
