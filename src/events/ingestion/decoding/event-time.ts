import { firstMoment, lastMoment } from '../../../lib/time/calendar.ts'
import type { Warning } from '../warnings.ts'
import { isoText, parseTime } from './parse-time.ts'

const hour = 3_600_000_000

export interface SentTime {
  readonly timestamp?: unknown
  /** Milliseconds between the event and the sending of it. */
  readonly offset?: unknown
  readonly sentAt?: unknown
  readonly ignoreSentAt: boolean
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

/**
 * When an event happened, by the server's clock. The client's clock is corrected by the difference between its `sent_at` and
 * the moment of receipt. `now` and the result are microseconds.
 */
export function eventTime(
  sent: SentTime,
  now: number,
  about: { eventUuid: string; eventName: string; isHistorical?: boolean },
): { time: number; isSentAtUnreadable: boolean; warnings: Warning[] } {
  const warnings: Warning[] = []
  const unreadable = (field: string, value: unknown, reason: string) =>
    warnings.push({ type: 'ignored_invalid_timestamp', details: { eventUuid: about.eventUuid, field, value: value ?? '', reason } })

  let sentAt: number | null = null
  let isSentAtUnreadable = false
  if (sent.sentAt && !sent.ignoreSentAt) {
    sentAt = parseTime(sent.sentAt)
    isSentAtUnreadable = sentAt === null
    if (isSentAtUnreadable) unreadable('sent_at', sent.sentAt, 'not a time')
  }
  if (!isAbsent(sent.offset) && !(typeof sent.offset === 'number' && Number.isFinite(sent.offset)))
    unreadable('offset', sent.offset, 'not a number of milliseconds')
  const offset = typeof sent.offset === 'number' && Number.isFinite(sent.offset) ? sent.offset : 0

  let time = now
  if (sent.timestamp) {
    const stamp = parseTime(sent.timestamp)
    if (stamp === null) {
      unreadable('timestamp', sent.timestamp, 'not a time')
      return { time: now, isSentAtUnreadable, warnings }
    }
    time = sentAt === null ? stamp : now + (stamp - sentAt)
  }
  if (!sent.timestamp && !offset && about.isHistorical)
    warnings.push({ type: 'historical_event_without_timestamp', details: { eventUuid: about.eventUuid, eventName: about.eventName } })
  if (offset && (!sent.timestamp || sentAt !== null)) time = now - offset * 1000
  time = Math.round(time)

  if (!(time >= firstMoment && time < lastMoment)) {
    unreadable('timestamp', sent.timestamp, 'outside the years 0 to 9999')
    return { time: now, isSentAtUnreadable, warnings }
  }
  if (time > now + 23 * hour) {
    warnings.push({
      type: 'event_timestamp_in_future',
      details: {
        timestamp: sent.timestamp ?? '',
        sentAt: sentAt === null ? '' : isoText(sentAt),
        offset: sent.offset ?? '',
        now: isoText(now),
        result: isoText(time),
        eventUuid: about.eventUuid,
        eventName: about.eventName,
      },
    })
    time = now
  }
  return { time, isSentAtUnreadable, warnings }
}
