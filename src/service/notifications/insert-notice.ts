import type { AccountTables } from '../accounts/records.ts'
import type { NotificationParts } from './parts.ts'
import { asJson, type NoticeContent } from './records.ts'
import { makeRoomForTest } from './room-for-tests.ts'

export interface Target {
  readonly type: 'email' | 'webhook'
  readonly to: string
}

interface NoticeOf {
  readonly project_id: number
  readonly alert_id: string | null
  readonly subscription_id: number | null
  /** What owners are notified of without having asked. */
  readonly watch?: string
  readonly due_at: Date
}

/** `now`: also of the check, by which its deliveries are found. Returns the ids of the deliveries. */
export const insertNotice = async (
  { context }: Pick<NotificationParts, 'context'>,
  tables: AccountTables,
  now: Date,
  of: NoticeOf,
  content: NoticeContent,
  targets: readonly Target[],
  isTest = false,
): Promise<readonly string[]> => {
  if (targets.length === 0) return []
  const { due_at, watch = null, ...given } = of
  const ids = { ...given, watch }
  if (isTest) {
    const { project_id, alert_id, subscription_id } = of
    const source = alert_id !== null ? { alert_id } : { subscription_id: subscription_id! }
    await makeRoomForTest(tables, project_id, source, targets.length)
  }
  const made: string[] = []
  const notice = { id: context.newId(), ...ids, due_at, content: asJson(content), created_at: now }
  await tables.notices.insert(notice)
  for (const { type, to } of targets) {
    const id = context.newId()
    made.push(id)
    await tables.notice_deliveries.insert({
      id,
      ...ids,
      notice_id: notice.id,
      target_type: type,
      target: to,
      status: 'waiting',
      attempts: 0,
      due_at: now,
      latest_error: null,
      created_at: now,
      last_attempt_at: null,
      delivered_at: null,
      is_test: isTest,
    })
  }
  return made
}
