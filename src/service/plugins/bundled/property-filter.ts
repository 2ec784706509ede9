import { type BundledPlugin, field } from './definition.ts'

export const propertyFilter: BundledPlugin = {
  url: 'inline://property-filter',
  name: 'Property filter',
  description: 'Removes properties from events before they are stored.',
  config_schema: [
    field({
      key: 'properties',
      name: 'Properties to remove',
      hint: 'Names separated by commas, such as $ip, email, address.street. They are removed from the event, $set and $set_once.',
      required: true,
    }),
  ],
  code: `
export function setupPlugin({ config, global }) {
  global.names = String(config.properties ?? '').split(',').map((name) => name.trim()).filter((name) => name !== '')
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)

function remove(from, name) {
  if (!isObject(from)) return
  if (Object.hasOwn(from, name)) {
    delete from[name]
    return
  }
  const dot = name.indexOf('.')
  if (dot > 0 && Object.hasOwn(from, name.slice(0, dot))) remove(from[name.slice(0, dot)], name.slice(dot + 1))
}

export function processEvent(event, { global }) {
  for (const name of global.names) {
    if (name === '$ip') event.ip = null
    for (const from of [event.properties, event.properties?.$set, event.properties?.$set_once, event.$set, event.$set_once]) remove(from, name)
  }
  return event
}
`,
}
