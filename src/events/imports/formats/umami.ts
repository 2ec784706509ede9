import { type Converter, problem, rowOf, textOf, timeOf } from '../record.ts'

// Rows of Umami's events, each with the columns of its session: its cloud's export, or a statement over its PostgreSQL (docs/coming-from.md).

const columns: Readonly<Record<string, string>> = {
  browser: '$browser',
  os: '$os',
  device: '$device_type',
  language: '$browser_language',
  country: '$geoip_country_code',
  subdivision1: '$geoip_subdivision_1_code',
  region: '$geoip_subdivision_1_code',
  city: '$geoip_city_name',
  hostname: '$host',
  url_path: '$pathname',
  page_title: 'title',
  utm_source: 'utm_source',
  utm_medium: 'utm_medium',
  utm_campaign: 'utm_campaign',
  utm_content: 'utm_content',
  utm_term: 'utm_term',
  gclid: 'gclid',
  fbclid: 'fbclid',
  msclkid: 'msclkid',
  ttclid: 'ttclid',
  li_fat_id: 'li_fat_id',
  twclid: 'twclid',
  tag: 'tag',
  visit_id: 'umami_visit_id',
}

export const isUmami = (named: readonly string[]): boolean =>
  ['session_id', 'created_at', 'url_path', 'event_type'].every((column) => named.includes(column))

export const umami: Converter = (row) => {
  const session = textOf(row.session_id)
  if (session === null) return problem('no session_id')
  const timestamp = timeOf(row.created_at)
  if (timestamp === null) return problem(`unreadable created_at: ${String(row.created_at)}`)
  const name = textOf(row.event_name)
  const isCustom = textOf(row.event_type) === '2'
  if (isCustom && name === null) return problem('no event_name')
  const properties: Record<string, unknown> = {}
  for (const [column, property] of Object.entries(columns)) {
    const value = textOf(row[column])
    if (value !== null) properties[property] = value
  }
  const [host, path] = [textOf(row.hostname), textOf(row.url_path)]
  if (path !== null) properties.$current_url = `${host === null ? '' : `https://${host}`}${path}${query(row.url_query)}`
  const from = textOf(row.referrer_domain)
  if (from !== null)
    Object.assign(properties, {
      $referring_domain: from,
      $referrer: `https://${from}${textOf(row.referrer_path) ?? '/'}${query(row.referrer_query)}`,
    })
  const [width, height] = (textOf(row.screen) ?? '').split('x').map(Number)
  if (width && height) Object.assign(properties, { $screen_width: width, $screen_height: height })
  Object.assign(properties, rowOf(row.data) ?? {})
  const id = textOf(row.event_id)
  return [
    {
      event: isCustom ? name! : '$pageview',
      // A visitor who was named by the page; otherwise a session of Umami is one visitor.
      distinct_id: textOf(row.distinct_id) ?? session,
      timestamp,
      properties,
      ...(id !== null && (uuid.test(id) ? { uuid: id } : { source_id: id })),
    },
  ]
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const query = (value: unknown): string => {
  const text = textOf(value)
  return text === null ? '' : text.startsWith('?') ? text : `?${text}`
}
