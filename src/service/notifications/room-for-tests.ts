import { rowLimits } from '../../limits/limits.ts'
import type { AccountTables, Notice, NoticeDelivery } from '../accounts/records.ts'
import { invalid } from '../accounts/refusals.ts'

// A full table drops its oldest rows. A test must not be the reason that a delivery which still waits is one of them: what has ended makes room for it.

type Source = { readonly alert_id: string } | { readonly subscription_id: number }

const full = () => invalid('Too many deliveries are waiting: a test would replace one of them. Send the test after they have ended.')

/** Makes room for a test with so many deliveries: tests that have ended leave first, then other deliveries that have ended, the oldest first. */
export async function makeRoomForTest(tables: AccountTables, projectId: number, source: Source, deliveries: number): Promise<void> {
  const [ofSource] = Object.keys(source) as ['alert_id' | 'subscription_id']
  for (const [owner, by] of [
    [source, ofSource],
    [{ project_id: projectId }, 'project_id'],
  ] as const) {
    await makeRoom(tables, owner, deliveries, rowLimits.notice_deliveries.per[by], rowLimits.notices.per[by])
  }
}

async function makeRoom(
  tables: AccountTables,
  owner: object,
  deliveries: number,
  mostDeliveries: number,
  mostNotices: number,
): Promise<void> {
  const oldest = { orderBy: [{ column: 'created_at' }] } as const
  const over = (await tables.notice_deliveries.count(owner)) + deliveries - mostDeliveries
  if (over > 0) {
    const ended: NoticeDelivery[] = []
    for (const is_test of [[true], [false, null]]) {
      const limit = over - ended.length
      if (limit > 0)
        ended.push(...(await tables.notice_deliveries.find({ ...owner, is_test, status: ['delivered', 'failed'] }, { ...oldest, limit })))
    }
    if (ended.length < over) throw full()
    await tables.notice_deliveries.remove({ id: ended.map(({ id }) => id) })
  }
  if ((await tables.notices.count(owner)) < mostNotices) return
  const due = await tables.notice_deliveries.find(owner)
  const [waiting, tests] = [new Set<string>(), new Set<string>()]
  for (const { notice_id, status, is_test } of due) {
    if (status === 'waiting') waiting.add(notice_id)
    if (is_test) tests.add(notice_id)
  }
  const ended = (await tables.notices.find(owner, oldest)).filter(({ id }) => !waiting.has(id))
  const leaving: Notice | undefined = ended.find(({ id }) => tests.has(id)) ?? ended[0]
  if (!leaving) throw full()
  await tables.notices.remove({ id: leaving.id })
}
