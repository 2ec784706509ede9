// Properties of events that carry instructions or copies for Waymark itself. They are stored and can be queried; lists of properties leave them out,
// because nobody analyzes events by them.

const names: ReadonlySet<string> = new Set([
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
])
/** `$initial_…` are properties of persons, and `$session_entry_…` of sessions: clients send copies with every event. */
const patterns: readonly RegExp[] = [/^\$group_[0-4]$/, /^\$initial_/, /^\$session_entry_/]

export const isInternalProperty = (name: string): boolean => names.has(name) || patterns.some((pattern) => pattern.test(name))

const marks: ReadonlySet<string> = new Set(
  (
    'utm_source utm_medium utm_campaign utm_content utm_name utm_term gclid gad_source gclsrc dclid gbraid wbraid fbclid msclkid twclid li_fat_id ' +
    'mc_cid igshid ttclid rdt_cid'
  ).split(' '),
)
/** Set by clients by themselves, or the marks of campaigns; others are the application's own. */
export const isCoreProperty = (name: string): boolean => name.startsWith('$') || marks.has(name)
