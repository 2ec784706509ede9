import { type BundledPlugin, field } from './definition.ts'

export const mirror: BundledPlugin = {
  url: 'inline://mirror',
  name: 'Mirror',
  description: 'Copies events, with their uuids, to another server that accepts the same requests.',
  config_schema: [
    field({ key: 'host', name: 'Server', hint: 'Such as https://analytics.example.com.', required: true }),
    field({ key: 'apiKey', name: 'Project API key', hint: 'Of the project on the other server.', required: true, secret: true }),
    field({ key: 'except', name: 'Events to leave out', hint: 'Names separated by commas.' }),
  ],
  code: `
export function setupPlugin({ config, global }) {
  global.url = new URL('/batch/', config.host).href
  global.except = new Set(String(config.except ?? '').split(',').map((name) => name.trim()).filter((name) => name !== ''))
}

export async function onEvent(event, { config, global }) {
  // Two servers that mirror each other would send an event back and forth.
  if (global.except.has(event.event) || event.properties?.$is_mirrored) return
  const { $plugins_succeeded, $plugins_failed, $plugins_deferred, ...properties } = event.properties ?? {}
  const { uuid, timestamp, distinct_id } = event
  const sent = { uuid, event: event.event, distinct_id, timestamp, properties: { ...properties, $is_mirrored: true } }
  if (event.$set) sent.properties.$set ??= event.$set
  if (event.$set_once) sent.properties.$set_once ??= event.$set_once
  let response
  try {
    response = await fetch(global.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ api_key: config.apiKey, batch: [sent] }) })
  } catch (error) {
    throw new RetryError(error.message)
  }
  if (response.status === 429 || response.status >= 500) throw new RetryError('The other server answered with status ' + response.status)
  if (!response.ok) throw new Error('The other server answered with status ' + response.status)
}
`,
}
