// Properties of a visit that the person keeps: the latest value under its own name, the first one as `$initial_…`.

const copied: ReadonlySet<string> = new Set(
  (
    '$app_build $app_name $app_namespace $app_version $browser $browser_version $device_type $current_url $pathname $os $os_version ' +
    '$referring_domain $referrer utm_source utm_medium utm_campaign utm_content utm_name utm_term gclid gad_source gbraid wbraid fbclid msclkid'
  ).split(' '),
)
const withoutCopies: ReadonlySet<string> = new Set(['$snapshot', '$performance_event'])

export const initialName = (name: string): string => `$initial_${name.replace('$', '')}`

const initials: ReadonlySet<string> = new Set([...copied].map(initialName))

/** True if the person gets the property from an event that has it. */
export const isCopied = (name: string): boolean => copied.has(name)

/** True if a person gets the property from visits, without an explicit `$set`. */
export const isVisitFact = (name: string): boolean => copied.has(name) || initials.has(name)

export const givesVisitFacts = (event: string): boolean => !withoutCopies.has(event)
