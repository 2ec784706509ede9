export type WarningType =
  | 'ignored_invalid_timestamp'
  | 'event_timestamp_in_future'
  | 'message_size_too_large'
  | 'cannot_merge_with_illegal_distinct_id'
  | 'cannot_merge_already_identified'
  | 'invalid_process_person_profile'
  | 'invalid_event_when_process_person_profile_is_false'
  | 'too_many_group_types'
  | 'too_many_property_keys'
  | 'too_many_event_names'
  | 'person_properties_too_large'
  | 'group_properties_too_large'
  | 'person_history_too_large'

/** Something about an event that was not as it should be, though the event's batch was accepted. */
export interface Warning {
  readonly type: WarningType
  readonly details: Readonly<Record<string, unknown>>
}

export interface WarningSummary {
  type: WarningType
  /** Exact, however many samples are kept. */
  count: number
  samples: { time: number; details: Readonly<Record<string, unknown>> }[]
  lastSeen: number
}

const samplesKept = 10
const sampleBytes = 4_000

const shortened = (details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  JSON.stringify(details).length <= sampleBytes
    ? details
    : Object.fromEntries(Object.entries(details).map(([k, v]) => [k, typeof v === 'number' ? v : String(v).slice(0, 200)]))

/** Adds one warning to the summary of its kind; the latest samples are kept. */
export function addWarning(summaries: Map<string, WarningSummary>, warning: Warning, time: number): WarningSummary {
  let summary = summaries.get(warning.type)
  if (!summary) {
    summary = { type: warning.type, count: 0, samples: [], lastSeen: time }
    summaries.set(warning.type, summary)
  }
  summary.count++
  summary.lastSeen = Math.max(summary.lastSeen, time)
  summary.samples.push({ time, details: shortened(warning.details) })
  if (summary.samples.length > samplesKept) summary.samples.shift()
  return summary
}
