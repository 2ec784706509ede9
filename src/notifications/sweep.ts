import type { AccountStore } from '../accounts/records.ts'

const day = 86_400_000
const keptDays = { checks: 90, notices: 30 } as const
const atATime = 500

/** Removes checks and deliveries that are old. */
export async function sweepNotices({ read, write }: AccountStore, now: Date): Promise<void> {
  const before = (days: number) => ({ created_at: { to: new Date(now.getTime() - days * day) } })
  for (;;) {
    const old = await read.alert_checks.find({}, { between: before(keptDays.checks), limit: atATime })
    if (old.length > 0) await write((tables) => tables.alert_checks.remove({ id: old.map(({ id }) => id) }))
    if (old.length < atATime) break
  }
  for (;;) {
    const old = await read.notices.find({}, { between: before(keptDays.notices), limit: atATime })
    const ids = old.map(({ id }) => id)
    if (old.length > 0)
      await write(async (tables) => {
        await tables.notice_deliveries.remove({ notice_id: ids })
        await tables.notices.remove({ id: ids })
      })
    if (old.length < atATime) break
  }
}
