import type { AccountStore, AccountTables, Lease } from '../accounts/records.ts'

// Who does what at the moment. A lease has an owner and an end, and is renewed while the work goes on: that of a process which was killed ends by itself. A lease
// without an owner rests after a failure, until its end.

/** A process that has not renewed a lease for this long has ended. */
export const leaseMs = 120_000
const restedMs = 86_400_000

export const createLeases = (store: AccountStore, kinds: readonly string[], owner: string, now: () => number) => {
  const until = () => new Date(now() + leaseMs)
  const isActive = (lease: Lease) => lease.until.getTime() > now()
  return {
    /** The end of each lease that is still active. */
    async ends(): Promise<ReadonlyMap<string, number>> {
      const found = await store.read.leases.find({ kind: kinds })
      return new Map(found.filter(isActive).map((lease) => [lease.id, lease.until.getTime()]))
    },
    /** The failures before, if nobody has the lease. Null: somebody has, or it rests. */
    async failuresOf(tables: AccountTables, id: string): Promise<number | null> {
      const known = await tables.leases.first({ id })
      return known && isActive(known) ? null : (known?.failures ?? 0)
    },
    async take(tables: AccountTables, lease: Pick<Lease, 'id' | 'kind' | 'project_id' | 'failures'>): Promise<void> {
      const change = { ...lease, owner, until: until() }
      if ((await tables.leases.update({ id: lease.id }, change)) === 0) await tables.leases.insert(change)
    },
    isOurs: async (tables: AccountTables, id: string): Promise<boolean> => (await tables.leases.first({ id, owner })) !== undefined,
    giveBack: (tables: AccountTables, id: string) => tables.leases.remove({ id, owner }),
    rest: (tables: AccountTables, id: string, until: Date, failures: number) =>
      tables.leases.update({ id, owner }, { owner: null, until, failures }),
    /** Returns those that somebody else has by now. */
    renew: (held: () => readonly string[]): Promise<readonly string[]> =>
      store.write(async (tables) => {
        const ids = held()
        await tables.leases.update({ id: ids, owner }, { until: until() })
        const ours = new Set((await tables.leases.find({ id: ids, owner })).map(({ id }) => id))
        return ids.filter((id) => !ours.has(id))
      }),
    /** `isAlone`: no other process has this store, so others have ended. */
    async sweep(isAlone: boolean): Promise<void> {
      const found = await store.read.leases.find({ kind: kinds })
      const ended = found.filter((lease) =>
        isAlone && lease.owner !== null ? lease.owner !== owner : lease.until.getTime() < now() - restedMs,
      )
      if (ended.length > 0)
        await store.write((tables) => tables.leases.remove({ id: ended.map(({ id }) => id), owner: ended.map((one) => one.owner) }))
    },
  }
}
export type Leases = ReturnType<typeof createLeases>
