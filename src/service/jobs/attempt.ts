import { isFault } from '../../errors/faults.ts'
import { traced } from '../../lib/flow/tracing.ts'
import type { AccountStore } from '../accounts/records.ts'
import type { Due, Kind, Writing } from './kind.ts'
import type { Leases } from './leases.ts'
import { nextAttempt } from './retry.ts'

export interface AttemptParts {
  readonly write: AccountStore['write']
  readonly leases: Leases
  clock(): Date
  random(): number
  report(error: unknown): void
}

export const leaseOf = <Item>({ name }: Kind<Item>, { id }: Due<Item>): string => `${name} ${id}`

/** One attempt: the lease and the claim in one transaction, the work, its result and the end of the lease in another one. */
export async function attempt<Item>(
  parts: AttemptParts,
  kind: Kind<Item>,
  due: Due<Item>,
  stop: AbortController,
  onLease: () => void,
): Promise<void> {
  const { write, leases, clock, random, report } = parts
  const id = leaseOf(kind, due)
  const claimed = await write(async (tables) => {
    const failures = await leases.failuresOf(tables, id)
    const item = failures === null ? null : await kind.claim(tables, due.item, clock())
    if (failures === null || item === null) return null
    await leases.take(tables, { id, kind: kind.name, project_id: due.projectId, failures })
    return { item, failures: failures + 1 }
  })
  if (!claimed) return
  onLease()
  const { item, failures } = claimed
  const whileOurs = (work: Writing<boolean>): Promise<boolean> => write(async (tables) => (await leases.isOurs(tables, id)) && work(tables))
  const end = (work: Writing) =>
    whileOurs(async (tables) => {
      await work(tables)
      await leases.giveBack(tables, id)
      return true
    })
  const record = async (work: Writing): Promise<boolean> => {
    const isOurs = await whileOurs(async (tables) => (await work(tables)) !== false)
    if (!isOurs) stop.abort()
    return isOurs
  }
  const signal = kind.mostMs === undefined ? stop.signal : AbortSignal.any([stop.signal, AbortSignal.timeout(kind.mostMs)])
  try {
    signal.throwIfAborted()
    const about = { 'waymark.job.kind': kind.name, 'waymark.project': due.projectId, 'waymark.job.failures': failures - 1 }
    await end(await traced('job', about, () => kind.run(item, { signal, record })))
  } catch (error) {
    if (stop.signal.aborted) return void (await end(async (tables) => kind.released?.(tables, item)))
    if (isFault(error) || !kind.failed) report(error)
    const next = (count: number) => nextAttempt(kind.retry, count, clock(), random)
    const rests = kind.failed ? null : next(failures)
    await end(async (tables) => {
      if (kind.failed) await kind.failed(tables, item, error, next)
      else if (rests) await leases.rest(tables, id, rests, failures)
    })
  }
}
