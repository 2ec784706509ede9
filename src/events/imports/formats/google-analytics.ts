import { own, setOwn } from '../../../lib/own.ts'
import { parsedUrl } from '../../../lib/web/parsed-url.ts'
import { type Converter, type FileRow, isRow, problem, rowOf, textOf } from '../record.ts'
import { identifiedOnce, identifying } from './identified-once.ts'

// Rows of Google Analytics in BigQuery (`events_YYYYMMDD`), as Parquet or JSON lines: parameters and properties of users are lists of keys with typed values.

const eventNames: Readonly<Record<string, string>> = { page_view: '$pageview', screen_view: '$screen' }
const parameterNames: Readonly<Record<string, string>> = {
  page_location: '$current_url',
  page_referrer: '$referrer',
  page_title: 'title',
  firebase_screen: '$screen_name',
  firebase_screen_class: '$screen_class',
  source: 'utm_source',
  medium: 'utm_medium',
  campaign: 'utm_campaign',
  term: 'utm_term',
  content: 'utm_content',
}
/** Columns of columns, and their names in Waymark. */
const nested: readonly (readonly [column: string, field: string, name: string])[] = [
  ['device', 'category', '$device_type'],
  ['device', 'operating_system', '$os'],
  ['device', 'operating_system_version', '$os_version'],
  ['device', 'mobile_brand_name', '$device_manufacturer'],
  ['device', 'mobile_model_name', '$device_model'],
  ['device', 'language', '$browser_language'],
  ['device', 'browser', '$browser'],
  ['device', 'browser_version', '$browser_version'],
  ['geo', 'city', '$geoip_city_name'],
  ['geo', 'region', '$geoip_subdivision_1_name'],
  ['geo', 'country', '$geoip_country_name'],
  ['geo', 'continent', '$geoip_continent_name'],
  ['app_info', 'version', '$app_version'],
  ['app_info', 'id', '$app_namespace'],
  ['traffic_source', 'source', 'first_source'],
  ['traffic_source', 'medium', 'first_medium'],
  ['traffic_source', 'name', 'first_campaign'],
  ['collected_traffic_source', 'manual_source', 'utm_source'],
  ['collected_traffic_source', 'manual_medium', 'utm_medium'],
  ['collected_traffic_source', 'manual_campaign_name', 'utm_campaign'],
  ['collected_traffic_source', 'manual_term', 'utm_term'],
  ['collected_traffic_source', 'manual_content', 'utm_content'],
  ['collected_traffic_source', 'gclid', 'gclid'],
  ['ecommerce', 'transaction_id', 'transaction_id'],
  ['ecommerce', 'purchase_revenue', 'revenue'],
  ['ecommerce', 'purchase_revenue_in_usd', 'revenue_in_usd'],
]

export const isGoogleAnalytics = (columns: readonly string[]): boolean =>
  ['event_name', 'event_timestamp', 'user_pseudo_id'].every((column) => columns.includes(column))

export const createGoogleAnalytics = (): Converter => identifiedOnce(googleAnalytics)

const googleAnalytics: Converter = (row) => {
  const name = textOf(row.event_name)
  if (name === null) return problem('no event_name')
  const device = textOf(row.user_pseudo_id)
  const user = textOf(row.user_id)
  const distinctId = user ?? device
  if (distinctId === null) return problem('no user_id or user_pseudo_id')
  const timestamp = microsecondTime(row.event_timestamp)
  if (timestamp === null) return problem(`unreadable event_timestamp: ${String(row.event_timestamp)}`)
  const properties: Record<string, unknown> = {}
  for (const [column, field, property] of nested) {
    const value = rowOf(row[column])?.[field] ?? (column === 'device' ? rowOf(rowOf(row.device)?.web_info)?.[field] : undefined)
    if (isSaid(value)) properties[property] = typeof value === 'bigint' ? Number(value) : value
  }
  for (const [key, value] of pairsOf(row.event_params)) setOwn(properties, own(parameterNames, key) ?? key, value)
  const url = textOf(properties.$current_url)
  const page = url === null ? null : parsedUrl(url)
  if (page) Object.assign(properties, { $host: page.host, $pathname: page.pathname })
  const set = Object.fromEntries(pairsOf(row.user_properties))
  const place = [row.event_bundle_sequence_id, row.batch_event_index, row.batch_page_id].map((one) => textOf(one) ?? '').join(' ')
  const event = {
    event: own(eventNames, name) ?? name,
    distinct_id: distinctId,
    timestamp,
    properties: { ...properties, ...(device !== null && { $device_id: device }) },
    ...(Object.keys(set).length > 0 && { $set: set }),
    source_id: `${name}\n${device ?? user}\n${String(row.event_timestamp)}\n${place}`,
  }
  return user === null || device === null ? [event] : [identifying(device, user, timestamp), event]
}

/** What Google Analytics does not know is empty or in brackets: `(not set)`. */
const isSaid = (value: unknown): boolean => value !== null && value !== undefined && value !== '' && value !== '(not set)' && !isRow(value)

function microsecondTime(value: unknown): string | null {
  const text = textOf(value)
  if (text === null || !/^\d{15,17}$/.test(text)) return null
  const micros = BigInt(text)
  const time = new Date(Number(micros / 1000n)).toISOString()
  return `${time.slice(0, -1)}${String(micros % 1000n).padStart(3, '0')}Z`
}

/** `[{"key", "value": {"string_value", "int_value", …}}]`: one of the values is there. */
function pairsOf(list: unknown): readonly (readonly [string, unknown])[] {
  const all = typeof list === 'string' ? parsed(list) : list
  if (!Array.isArray(all)) return []
  return all.flatMap((one: unknown): (readonly [string, unknown])[] => {
    const key = isRow(one) ? textOf(one.key) : null
    const value = key === null ? undefined : typedValue(rowOf((one as FileRow).value))
    return value === undefined ? [] : [[key!, value]]
  })
}

function typedValue(typed: FileRow | null): unknown {
  if (typed === null) return undefined
  if (textOf(typed.string_value) !== null) return typed.string_value
  for (const field of ['int_value', 'float_value', 'double_value']) {
    const text = textOf(typed[field])
    if (text !== null && Number.isFinite(Number(text))) return Number.isSafeInteger(Number(text)) || /[.e]/.test(text) ? Number(text) : text
  }
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
