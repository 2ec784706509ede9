// Names that client libraries give, as people say them. Names that somebody chose for a product stay as they are.

const events: Readonly<Record<string, string>> = {
  $pageview: 'Pageview',
  $pageleave: 'Page left',
  $screen: 'Screen viewed',
  $autocapture: 'Click or input',
  $rageclick: 'Rage click',
  $dead_click: 'Dead click',
  $identify: 'Identified',
  $create_alias: 'Alias created',
  $merge_dangerously: 'People merged',
  $groupidentify: 'Group identified',
  $set: 'Person properties set',
  $web_vitals: 'Web vitals',
  $exception: 'Error',
  $feature_flag_called: 'Feature flag called',
  $opt_in: 'Opted in',
}

const properties: Readonly<Record<string, string>> = {
  $current_url: 'URL',
  $pathname: 'Path',
  $host: 'Host',
  $title: 'Page title',
  $referrer: 'Referrer',
  $referring_domain: 'Referring domain',
  $prev_pageview_pathname: 'Path of the page before',
  $prev_pageview_duration: 'Time on the page before',
  $prev_pageview_max_scroll_percentage: 'Scrolled of the page before',
  $prev_pageview_max_content_percentage: 'Seen of the page before',
  $web_vitals_LCP_value: 'Largest Contentful Paint',
  $web_vitals_FCP_value: 'First Contentful Paint',
  $web_vitals_INP_value: 'Interaction to Next Paint',
  $web_vitals_CLS_value: 'Cumulative Layout Shift',
  $os: 'Operating system',
  $os_version: 'Operating system version',
  $lib: 'Library',
  $lib_version: 'Library version',
  $ip: 'IP address',
  $user_agent: 'User agent',
  $raw_user_agent: 'User agent',
  $device_id: 'Device ID',
  $session_id: 'Session ID',
  $window_id: 'Window ID',
  $insert_id: 'Insert ID',
  $geoip_country_name: 'Country',
  $geoip_country_code: 'Country code',
  $geoip_city_name: 'City',
  $geoip_subdivision_1_name: 'Region',
  $geoip_subdivision_1_code: 'Region code',
  $geoip_continent_name: 'Continent',
  $geoip_continent_code: 'Continent code',
  $geoip_time_zone: 'Time zone',
  $geoip_postal_code: 'Postal code',
  $el_text: 'Text of the element',
  $event_type: 'Kind of interaction',
  $is_bounce: 'Bounced',
  $entry_current_url: 'Entry URL',
  $entry_pathname: 'Entry path',
  $end_current_url: 'Exit URL',
  $end_pathname: 'Exit path',
  $start_timestamp: 'Session start',
  $end_timestamp: 'Session end',
  $pageview_count: 'Pageviews in the session',
  $autocapture_count: 'Clicks and inputs in the session',
}

const shortWords = new Set(['url', 'id', 'ip', 'os', 'utm', 'api', 'ui', 'cls', 'fcp', 'inp', 'lcp', 'ai'])

/** `$viewport_height` → `Viewport height`; `utm_source` → `UTM source`. */
function spelled(name: string): string {
  const words = name
    .replace(/^\$/, '')
    .split(/[_\s]+/)
    .filter((word) => word !== '')
    .map((word) => (shortWords.has(word) ? word.toUpperCase() : word))
  const text = words.join(' ')
  return text === '' ? name : text.charAt(0).toUpperCase() + text.slice(1)
}

const isOfLibraries = (name: string): boolean => /^\$[a-z]/.test(name)

export function readableEvent(name: string): string {
  if (Object.hasOwn(events, name)) return events[name]!
  return isOfLibraries(name) ? spelled(name) : name
}

/** The first value that a person had is said of the property itself: `Initial referrer`. */
const initial = '$initial_'

export function readableProperty(name: string): string {
  if (Object.hasOwn(properties, name)) return properties[name]!
  if (name.startsWith(initial) && name.length > initial.length) {
    const rest = name.slice(initial.length)
    const of = readableProperty(Object.hasOwn(properties, `$${rest}`) ? `$${rest}` : rest)
    // A capital that belongs to the word itself stays: `Initial URL`.
    return `Initial ${/^[A-Z][a-z]/.test(of) ? of.charAt(0).toLowerCase() + of.slice(1) : of.replace(/_/g, ' ')}`
  }
  return isOfLibraries(name) || name.startsWith('utm_') ? spelled(name) : name
}

const counted: Readonly<Record<string, string>> = {
  dau: 'Unique people',
  weekly_active: 'Weekly active people',
  monthly_active: 'Monthly active people',
  unique_session: 'Unique sessions',
  unique_group: 'Unique groups',
  first_time_for_user: 'First time',
  first_matching_event_for_user: 'First match',
}
/** Math over numbers: of a property, or of the events of each person. */
export const measured = {
  sum: 'Sum',
  avg: 'Average',
  min: 'Minimum',
  max: 'Maximum',
  median: 'Median',
  p75: '75th percentile',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
} as const
const isMeasured = (math: string): math is keyof typeof measured => Object.hasOwn(measured, math)
const ofEachPerson = '_count_per_actor'

/** What a series counts, before the name of its event: `Unique people`, `Sum of price`. Empty: the events. */
function countedText(math: string, property: string): string {
  if (Object.hasOwn(counted, math)) return counted[math]!
  if (isMeasured(math)) return property === '' ? measured[math] : `${measured[math]} of ${readableProperty(property)}`
  const each = math.endsWith(ofEachPerson) ? math.slice(0, -ofEachPerson.length) : ''
  return isMeasured(each) ? `${measured[each]} per person` : ''
}

/** `Unique people: Pageview`. `math` and `property` as the series has them. */
export function readableSeries(name: string, math: string, property: string): string {
  const event = name === '' ? 'All events' : readableEvent(name)
  const words = countedText(math, property)
  return words === '' ? event : `${words}: ${event}`
}
