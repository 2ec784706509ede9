interface Kind {
  /** Effect on the event: stored with a change, not stored, or stored without a part. */
  readonly effect: 'altered' | 'dropped' | 'in part'
  readonly means: string
}

/** Every kind of warning about an event in an accepted batch. */
export const warningKinds = {
  ignored_invalid_timestamp: {
    effect: 'altered',
    means: 'Invalid time in `field`. The event gets the time of receipt, or its `timestamp` without the correction by `sent_at`.',
  },
  historical_event_without_timestamp: {
    effect: 'altered',
    means: 'A historical event has neither `timestamp` nor `offset`. It gets the time of receipt.',
  },
  event_timestamp_in_future: {
    effect: 'altered',
    means: 'The time is more than 23 hours in the future. The event gets the time of receipt.',
  },
  message_size_too_large: { effect: 'dropped', means: 'The properties exceed 1,000,000 bytes.' },
  text_too_long: {
    effect: 'altered',
    means: 'The value of `field` was truncated: an event name or distinct id to 200 characters, a group type or key to 400.',
  },
  invalid_person_properties: {
    effect: 'in part',
    means: '`$set` or `$set_once` is not an object, or `$unset` is not a list of names; it was ignored.',
  },
  invalid_groups: {
    effect: 'in part',
    means: '`$groups` or `$group_set` is not an object, or `$groupidentify` lacks `$group_type` or `$group_key`; it was ignored.',
  },
  unknown_event_field: {
    effect: 'in part',
    means: 'An event or its batch has the unknown field `field`, which was ignored. `suggestion` is the likely name.',
  },
  merge_without_alias: { effect: 'in part', means: '`$create_alias` or `$merge_dangerously` has no `alias`; no persons were merged.' },
  cannot_merge_with_illegal_distinct_id: {
    effect: 'in part',
    means: 'A reserved distinct id such as `null` or `anonymous`, which many clients share; no persons were merged.',
  },
  cannot_merge_already_identified: {
    effect: 'in part',
    means: 'The other distinct id belongs to a person who is already identified; no persons were merged.',
  },
  past_merge_in_order_of_arrival: {
    effect: 'altered',
    means:
      'The history of persons that past events merged has reached its limit (2,000,000 characters). The merge of this past event counts in order of arrival, not by its time.',
  },
  invalid_process_person_profile: {
    effect: 'altered',
    means: '`$process_person_profile` is neither true nor false; it was ignored.',
  },
  invalid_event_when_process_person_profile_is_false: {
    effect: 'dropped',
    means: 'An event about a person or group with `$process_person_profile: false`.',
  },
  too_many_group_types: { effect: 'in part', means: 'A project has five group types; a sixth was ignored.' },
  too_many_event_names: {
    effect: 'altered',
    means: 'The project has 200,000 event names; an event with a new name is stored as `$other`.',
  },
  too_many_property_keys: {
    effect: 'in part',
    means: 'A property key beyond 20,000 per scope, or longer than 400 characters, is not counted. Queries can still read it.',
  },
  person_properties_too_large: {
    effect: 'in part',
    means: 'The properties of a person would exceed 512,000 characters; the change was not stored.',
  },
  group_properties_too_large: {
    effect: 'in part',
    means: 'The properties of a group would exceed 512,000 characters; the change was not stored.',
  },
  cookieless_visitor_unknown: {
    effect: 'dropped',
    means:
      'An event of a visitor without cookies lacks the address or the user agent (`missing`) that distinguishes visitors. An `$identify` is stored, but not linked to the visit.',
  },
  cookieless_too_late: {
    effect: 'dropped',
    means:
      'An event of a visitor without cookies is from a day whose salt is erased or does not exist yet. An `$identify` is stored, but not linked to the visit.',
  },
  cookieless_address_unconfirmed: {
    effect: 'altered',
    means:
      'A visitor without cookies came through a proxy that is not trusted: visitors behind it may be counted as one, or be forged. Set `--trusted-proxies`.',
  },
  cookieless_merge: { effect: 'dropped', means: '`$create_alias` or `$merge_dangerously` without cookies: visitors are never merged.' },
  cookieless_merge_ignored: {
    effect: 'in part',
    means: '`$identify` without cookies, with another `$anon_distinct_id` or of past events; no persons were merged.',
  },
  too_many_cookieless_visitors: {
    effect: 'altered',
    means:
      'The project has 1,000,000 visitors without cookies in three days. Further ones get one session a day each, and are not linked when they are identified.',
  },
  event_before_retention: {
    effect: 'dropped',
    means: 'The event is older than the project keeps events. Its changes of persons and groups are kept.',
  },
  person_history_too_large: { effect: 'in part', means: 'The history of a person is full; no version was kept for this change.' },
} as const satisfies Record<string, Kind>

export type WarningType = keyof typeof warningKinds

/** A problem of an event in an accepted batch. */
export interface Warning {
  readonly type: WarningType
  readonly details: Readonly<Record<string, unknown>>
}

export interface WarningSummary {
  type: WarningType
  /** Exact number, independent of the samples. */
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
