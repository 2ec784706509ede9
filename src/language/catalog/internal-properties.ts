// Properties of events that carry instructions or copies for Waymark itself. They are stored and can be queried; lists of properties leave them out,
// because nobody analyzes events by them.

export const internalProperties: readonly string[] = [
  // applied to the person
  '$set',
  '$set_once',
  '$unset',
  // have an own field of the event
  'distinct_id',
  // applied to groups, and kept as `$group_0` to `$group_4`
  '$groups',
  '$group_type',
  '$group_key',
  '$group_set',
  ...[0, 1, 2, 3, 4].map((index) => `$group_${index}`),
]
/** `$initial_…` are properties of persons, and `$session_entry_…` of sessions: clients send copies with every event. */
export const internalBeginnings: readonly string[] = ['$initial_', '$session_entry_']

/** Set by clients by themselves, or the marks of campaigns; others are the application's own. */
export const coreProperties: readonly string[] = (
  'utm_source utm_medium utm_campaign utm_content utm_name utm_term gclid gad_source gclsrc dclid gbraid wbraid fbclid msclkid twclid li_fat_id ' +
  'mc_cid igshid ttclid rdt_cid'
).split(' ')
export const coreBeginning = '$'
