import { own } from '../../../lib/own.ts'
import { type Converter, problem, rowOf, textOf, timeOf } from '../record.ts'
import { identifiedOnce, identifying } from './identified-once.ts'

const eventNames: Readonly<Record<string, string>> = {
  '[Amplitude] Page Viewed': '$pageview',
  '[Amplitude] Element Clicked': '$autocapture',
  $identify: '$identify',
}
/** Columns besides the properties, and their names in Waymark. */
const columns: Readonly<Record<string, string>> = {
  ip_address: '$ip',
  platform: '$lib',
  os_name: '$os',
  os_version: '$os_version',
  device_brand: '$device_manufacturer',
  device_model: '$device_model',
  device_type: '$device_type',
  device_id: '$device_id',
  city: '$geoip_city_name',
  country: '$geoip_country_name',
  region: '$geoip_subdivision_1_name',
  language: '$browser_language',
  version_name: '$app_version',
  session_id: '$amplitude_session_id',
}

/** Rows of Amplitude's export: JSON lines with event_type, event_time in UTC, user_id, device_id, event_properties, user_properties. */
export const createAmplitude = (): Converter => identifiedOnce(amplitude)

const amplitude: Converter = (row) => {
  const name = textOf(row.event_type)
  if (name === null) return problem('no event_type')
  const distinctId = textOf(row.user_id) ?? textOf(row.device_id) ?? textOf(row.amplitude_id)
  if (distinctId === null) return problem('no user_id, device_id or amplitude_id')
  const timestamp = timeOf(row.event_time) ?? timeOf(row.time)
  if (timestamp === null) return problem(`unreadable event_time: ${String(row.event_time)}`)
  const properties: Record<string, unknown> = {}
  for (const [column, property] of Object.entries(columns))
    if (row[column] !== null && row[column] !== undefined) properties[property] = row[column]
  Object.assign(properties, rowOf(row.event_properties) ?? {})
  const url = textOf(properties['[Amplitude] Page URL'])
  if (url !== null) properties.$current_url = url
  const user = rowOf(row.user_properties)
  const groups = rowOf(row.groups)
  if (groups !== null && Object.keys(groups).length > 0)
    properties.$groups = Object.fromEntries(Object.entries(groups).map(([type, key]) => [type, Array.isArray(key) ? key[0] : key]))
  const id = textOf(row.uuid) ?? textOf(row.$insert_id)
  const event = {
    event: own(eventNames, name) ?? name,
    distinct_id: distinctId,
    timestamp,
    properties,
    ...(user !== null && Object.keys(user).length > 0 && { $set: user }),
    ...(id !== null && { source_id: id }),
  }
  const device = textOf(row.device_id)
  if (textOf(row.user_id) === null || device === null) return [event]
  return [identifying(device, distinctId, timestamp), event]
}
