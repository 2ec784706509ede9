import { own, setOwn } from '../../../lib/own.ts'
import { type Converter, problem, rowOf, textOf, timeOf } from '../record.ts'

/** Mixpanel's names of events and properties, and Waymark's. */
const eventNames: Readonly<Record<string, string>> = {
  $mp_web_page_view: '$pageview',
  $identify: '$identify',
  $create_alias: '$create_alias',
}
const propertyNames: Readonly<Record<string, string>> = {
  mp_lib: '$lib',
  $lib_version: '$lib_version',
  $initial_referring_domain: '$initial_referring_domain',
  $city: '$geoip_city_name',
  $region: '$geoip_subdivision_1_name',
  mp_country_code: '$geoip_country_code',
  current_url_search: '$search',
  current_domain: '$host',
  current_url_path: '$pathname',
  current_page_title: 'title',
}
const left = new Set(['time', 'distinct_id', '$insert_id', '$mp_api_endpoint', 'mp_processing_time_ms', '$mp_api_timestamp_ms'])

/** Rows of Mixpanel's raw event export: `{"event", "properties": {"time": seconds, "distinct_id", "$insert_id", …}}`. */
export const mixpanel: Converter = (row) => {
  const source = rowOf(row.properties)
  const name = textOf(row.event)
  if (name === null) return problem('no event name')
  if (source === null) return problem('no properties')
  const distinctId = textOf(source.distinct_id) ?? textOf(source.$distinct_id) ?? textOf(source.$device_id)
  if (distinctId === null) return problem('no distinct_id')
  const timestamp = timeOf(source.time)
  if (timestamp === null) return problem(`unreadable time: ${String(source.time)}`)
  const properties: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(source)) if (!left.has(key)) setOwn(properties, own(propertyNames, key) ?? key, value)
  const insertId = textOf(source.$insert_id)
  const event = { event: own(eventNames, name) ?? name, distinct_id: distinctId, timestamp, properties }
  // Its insert ids are unique for an event name, a person and a time.
  return [insertId === null ? event : { ...event, source_id: `${name}\n${distinctId}\n${timestamp}\n${insertId}` }]
}
