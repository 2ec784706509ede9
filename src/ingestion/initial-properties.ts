// Facts about a visit that the person keeps: the latest under its own name, the first as `$initial_…`.

const copied: ReadonlySet<string> = new Set(
  (
    '$app_build $app_name $app_namespace $app_version $browser $browser_version $device_type $current_url $pathname $os $os_version ' +
    '$referring_domain $referrer utm_source utm_medium utm_campaign utm_content utm_name utm_term gclid gad_source gbraid wbraid fbclid msclkid'
  ).split(' '),
)
const withoutCopies: ReadonlySet<string> = new Set(['$snapshot', '$performance_event'])

const initials: ReadonlySet<string> = new Set([...copied].map((name) => `$initial_${name.replace('$', '')}`))

/** Whether a person has the property from the events of its visits, without anybody saying so. */
export const isVisitFact = (name: string): boolean => copied.has(name) || initials.has(name)

export function initialProperties(
  event: string,
  properties: Readonly<Record<string, unknown>>,
): { set: Record<string, unknown>; setOnce: Record<string, unknown> } | null {
  if (withoutCopies.has(event)) return null
  let found: { set: Record<string, unknown>; setOnce: Record<string, unknown> } | null = null
  for (const name in properties) {
    if (!copied.has(name)) continue
    found ??= { set: {}, setOnce: {} }
    found.set[name] = properties[name]
    found.setOnce[`$initial_${name.replace('$', '')}`] = properties[name]
  }
  return found
}
