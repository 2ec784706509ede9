import type { AccountStore } from '../accounts/records.ts'

const day = 86_400_000
const keptDays = { alert_checks: 90, notice_deliveries: 30, notices: 30 } as const
const atATime = 500

/** Removes what is old. */
export async function sweepNotices({ read, write }: AccountStore, now: Date): Promise<void> {
  for (const table of ['alert_checks', 'notice_deliveries', 'notices'] as const) {
    const to = new Date(now.getTime() - keptDays[table] * day)
    for (let found = atATime; found === atATime; ) {
      const old = await read[table].find({}, { between: { created_at: { to } }, limit: atATime })
      const ids = old.map(({ id }) => id)
      found = ids.length
      if (found > 0) await write((tables) => tables[table].remove({ id: ids }))
    }
  }
}
