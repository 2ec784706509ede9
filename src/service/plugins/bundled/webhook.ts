import { type BundledPlugin, field } from './definition.ts'

export const webhook: BundledPlugin = {
  url: 'inline://webhook',
  name: 'Webhook',
  description: 'Sends events to a URL, as JSON or as messages for Slack or Discord.',
  config_schema: [
    field({ key: 'url', name: 'URL', hint: 'Receives a POST request per event.', required: true, secret: true }),
    field({
      key: 'format',
      name: 'Format',
      hint: 'What the receiver reads.',
      type: 'choice',
      choices: ['json', 'slack', 'discord'],
      default: 'json',
    }),
    field({ key: 'events', name: 'Events', hint: 'Names of events separated by commas. Empty: all.' }),
    field({
      key: 'message',
      name: 'Message',
      hint: 'For Slack and Discord. {event}, {person} and {properties.name} are replaced.',
      default: '{person} did {event}',
    }),
  ],
  code: String.raw`
export function setupPlugin({ config, global }) {
  global.events = new Set(String(config.events ?? '').split(',').map((name) => name.trim()).filter((name) => name !== ''))
}

const personOf = ({ person, distinct_id }) => person?.properties?.email ?? person?.properties?.name ?? distinct_id
const textOf = (value) => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value))
const message = (template, event) => template.replace(/\{([^{}]{1,200})\}/g, (all, name) => {
  if (name === 'event') return event.event
  if (name === 'person') return textOf(personOf(event))
  if (name.startsWith('properties.')) return textOf(event.properties?.[name.slice('properties.'.length)])
  return all
})
// A person chooses the names and properties: they must not mention a channel or make a link.
const forSlack = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

export function composeWebhook(event, { config, global }) {
  if (global.events.size > 0 && !global.events.has(event.event)) return null
  const text = message(config.message || '{person} did {event}', event)
  const body =
    config.format === 'slack' ? { text: forSlack(text) }
    : config.format === 'discord' ? { content: text.slice(0, 2000), allowed_mentions: { parse: [] } }
    : event
  return { url: config.url, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, method: 'POST' }
}
`,
}
