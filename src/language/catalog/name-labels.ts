import type { NameSearch } from './known-names.ts'

// What people call the names that clients send, for searches: `library version` finds `$lib_version`. Only where the words of the label are not those
// of the name itself, which a search compares anyway.

const labels: Readonly<Record<string, string>> = {
  $active_feature_flags: 'Active feature flags',
  $app_build: 'App build number',
  $app_namespace: 'App package, bundle identifier',
  $autocapture: 'Autocaptured interaction, click, submit, change',
  $ce_version: 'Event format version',
  $create_alias: 'Alias, merge',
  $current_url: 'Current URL, page address, link',
  $dead_click: 'Dead click, click without effect',
  $device: 'Device model',
  $device_id: 'Device identifier',
  $device_manufacturer: 'Device maker',
  $device_type: 'Device type, desktop, mobile, tablet',
  $direct_entry: 'Direct visit',
  $el_text: 'Element text, button text',
  $elements: 'Elements, page structure',
  $event_type: 'Interaction type',
  $exception: 'Exception, error',
  $exception_message: 'Exception message, error text',
  $feature_flag: 'Feature flag',
  $feature_flag_called: 'Feature flag called',
  $feature_flag_response: 'Feature flag response, variant',
  $geoip_city_name: 'City',
  $geoip_continent_code: 'Continent code',
  $geoip_continent_name: 'Continent',
  $geoip_country_code: 'Country code',
  $geoip_country_name: 'Country',
  $geoip_latitude: 'Latitude, position',
  $geoip_longitude: 'Longitude, position',
  $geoip_postal_code: 'Postal code, ZIP code',
  $geoip_subdivision_1_code: 'State or region code',
  $geoip_subdivision_1_name: 'State or region',
  $geoip_time_zone: 'Time zone',
  $groupidentify: 'Group identified',
  $host: 'Host, domain of the page',
  $identify: 'User identified',
  $insert_id: 'Insert identifier, for duplicates',
  $ip: 'IP address',
  $lib: 'Library, SDK, client',
  $lib_custom_api_host: 'Library custom API host, proxy',
  $lib_version: 'Library version, SDK version',
  $locale: 'Language and country',
  $merge_dangerously: 'Merge of persons',
  $network_carrier: 'Mobile network carrier',
  $network_wifi: 'Connected by Wi-Fi',
  $opt_in: 'Opted in',
  $os: 'Operating system',
  $os_name: 'Operating system name',
  $os_version: 'Operating system version',
  $pageleave: 'Page left',
  $pageview: 'Page view',
  $pathname: 'Path name, page path',
  $plugins_deferred: 'Plugins deferred',
  $rageclick: 'Rage click',
  $raw_user_agent: 'Raw user agent',
  $referrer: 'Referrer URL',
  $referring_domain: 'Referring domain',
  $screen: 'Screen view',
  $screen_dpi: 'Screen resolution, dots per inch',
  $screen_height: 'Screen height in pixels',
  $screen_width: 'Screen width in pixels',
  $search_engine: 'Search engine',
  $sent_at: 'Time of sending',
  $session_id: 'Session identifier',
  $set: 'Person properties set',
  $time: 'Client time',
  $timestamp: 'Client time',
  $user_id: 'User identifier',
  $viewport_height: 'Window height in pixels, viewport',
  $viewport_width: 'Window width in pixels, viewport',
  $web_vitals: 'Web vitals, page speed',
  $window_id: 'Window identifier, tab',
  distinct_id: 'Distinct identifier, user',
  fbclid: 'Facebook click identifier',
  gad_source: 'Google Ads source',
  gbraid: 'Google Ads app click identifier',
  gclid: 'Google click identifier',
  gclsrc: 'Google click source',
  dclid: 'DoubleClick identifier',
  igshid: 'Instagram share identifier',
  li_fat_id: 'LinkedIn click identifier',
  mc_cid: 'Mailchimp campaign identifier',
  msclkid: 'Microsoft click identifier, Bing',
  rdt_cid: 'Reddit click identifier',
  ttclid: 'TikTok click identifier',
  twclid: 'Twitter click identifier',
  utm_campaign: 'UTM campaign, marketing campaign',
  utm_content: 'UTM content',
  utm_medium: 'UTM medium',
  utm_source: 'UTM source',
  utm_term: 'UTM term, search keyword',
  wbraid: 'Google Ads web click identifier',
}

const prefixes: readonly (readonly [prefix: string, label: string])[] = [
  ['$initial_', 'Initial first '],
  ['$session_entry_', 'Session entry '],
  ['$feature/', 'Feature flag '],
]

/** The label of a name that has one of its own, or whose end has. */
const ownLabels: ReadonlyMap<string, string> = new Map([
  ...prefixes.flatMap(([prefix, label]) =>
    Object.entries(labels).flatMap(([name, text]) =>
      [name, ...(name.startsWith('$') ? [name.slice(1)] : [])].map((end) => [prefix + end, label + text] as const),
    ),
  ),
  ...Object.entries(labels),
])
const ofPrefix = (prefix: string): readonly string[] => [...ownLabels.keys()].filter((name) => name.startsWith(prefix))
const plainPrefixes = prefixes.map(([prefix, label]) => ({ prefix, label, except: ofPrefix(prefix) }))

/** Names that have all words of the search, or whose label has, in any case. Null: any name. */
export function nameSearch(search: string): NameSearch | null {
  const words = search.split(/\s+/).filter(Boolean)
  if (words.length === 0) return null
  const plain = words.map((word) => word.toLowerCase())
  const labelled = [...ownLabels].filter(([, label]) => plain.every((word) => label.toLowerCase().includes(word))).map(([name]) => name)
  return { words, labelled, prefixes: plainPrefixes }
}
