import { type BundledPlugin, field, yesOrNo } from './definition.ts'

export const piiHashing: BundledPlugin = {
  url: 'inline://pii-hashing',
  name: 'PII hashing',
  description: 'Replaces personal data by a keyed hash: equal values stay equal, and nobody without the key can guess them.',
  config_schema: [
    field({ key: 'properties', name: 'Properties to hash', hint: 'Names separated by commas, such as email, phone.', required: true }),
    field({ key: 'key', name: 'Key', hint: 'A long random text. With another key, all hashes change.', required: true, secret: true }),
    yesOrNo({ key: 'distinctId', name: 'Hash distinct ids that are e-mail addresses', hint: 'Also in $anon_distinct_id and alias.' }),
  ],
  code: String.raw`
import { createHmac } from 'crypto'

export function setupPlugin({ config, global }) {
  if (typeof config.key !== 'string' || config.key.length < 8) throw new Error('The key must have at least 8 characters')
  global.names = String(config.properties ?? '').split(',').map((name) => name.trim()).filter((name) => name !== '')
}

const isEmail = (value) => typeof value === 'string' && /^[^\s@]{1,200}@[^\s@]{1,200}$/.test(value)

export function processEvent(event, { config, global }) {
  const hashed = (value) => createHmac('sha256', config.key).update(typeof value === 'string' ? value.trim().toLowerCase() : JSON.stringify(value)).digest('hex')
  for (const from of [event.properties, event.properties?.$set, event.properties?.$set_once, event.$set, event.$set_once])
    for (const name of global.names)
      if (from && Object.hasOwn(from, name) && from[name] !== null && from[name] !== '') from[name] = hashed(from[name])
  if (config.distinctId !== 'yes') return event
  if (isEmail(event.distinct_id)) event.distinct_id = hashed(event.distinct_id)
  for (const name of ['$anon_distinct_id', 'alias', 'distinct_id'])
    if (isEmail(event.properties?.[name])) event.properties[name] = hashed(event.properties[name])
  return event
}
`,
}
