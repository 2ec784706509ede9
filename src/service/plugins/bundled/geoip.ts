import type { BundledPlugin } from './definition.ts'

export const geoip: BundledPlugin = {
  url: 'inline://geoip',
  name: 'GeoIP',
  description: 'Adds the city, country and time zone of the IP address to events and persons.',
  config_schema: [],
  code: `
const parts = (place) => ({
  city_name: place.city?.names?.en,
  country_name: place.country?.names?.en,
  country_code: place.country?.isoCode,
  continent_name: place.continent?.names?.en,
  continent_code: place.continent?.code,
  postal_code: place.postal?.code,
  latitude: place.location?.latitude,
  longitude: place.location?.longitude,
  time_zone: place.location?.timeZone,
  subdivision_1_code: place.subdivisions?.[0]?.isoCode,
  subdivision_1_name: place.subdivisions?.[0]?.names?.en,
})

export async function processEvent(event, { geoip }) {
  const properties = event.properties ?? {}
  const ip = properties.$ip ?? event.ip
  if (!ip || properties.$geoip_disable) return event
  const place = await geoip.locate(String(ip))
  if (!place) return event
  const $set = { ...properties.$set }
  const $set_once = { ...properties.$set_once }
  for (const [name, value] of Object.entries(parts(place))) {
    if (value === undefined) continue
    properties['$geoip_' + name] = value
    $set['$geoip_' + name] = value
    $set_once['$initial_geoip_' + name] = value
  }
  event.properties = { ...properties, $set, $set_once }
  return event
}
`,
}
