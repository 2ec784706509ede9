import { type BundledPlugin, field, yesOrNo } from './definition.ts'

export const urlNormalizer: BundledPlugin = {
  url: 'inline://url-normalizer',
  name: 'URL normalizer',
  description: 'Writes URLs in one form, so that /Pricing/ and /pricing are one page.',
  config_schema: [
    field({
      key: 'properties',
      name: 'Properties',
      hint: 'Names of properties that are URLs or paths, separated by commas.',
      default: '$current_url, $pathname, $referrer',
    }),
    yesOrNo({ key: 'lowercase', name: 'Lower case paths', hint: 'Also changes the path to lower case.', default: 'yes' }),
    yesOrNo({ key: 'removeHash', name: 'Remove the part after #', hint: 'Removes the fragment.', default: 'no' }),
    field({ key: 'removeParameters', name: 'Query parameters to remove', hint: 'Names separated by commas. * removes all of them.' }),
  ],
  code: `
const list = (text) => String(text ?? '').split(',').map((name) => name.trim()).filter((name) => name !== '')

export function setupPlugin({ config, global }) {
  global.properties = list(config.properties ?? '$current_url, $pathname, $referrer')
  global.parameters = list(config.removeParameters)
}

const isSlash = (text) => text === '/'
function withoutLastSlash(path) {
  let end = path.length
  while (end > 1 && isSlash(path[end - 1])) end--
  return path.slice(0, end)
}

function normalized(text, { config, global }) {
  const isPath = text.startsWith('/')
  if (!isPath && !URL.canParse(text)) return text
  const url = isPath ? new URL('http://path.invalid' + text) : new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return text
  if (config.lowercase !== 'no') url.pathname = url.pathname.toLowerCase()
  url.pathname = withoutLastSlash(url.pathname)
  if (config.removeHash === 'yes') url.hash = ''
  if (global.parameters.includes('*')) url.search = ''
  else for (const name of global.parameters) url.searchParams.delete(name)
  if (!isPath) return url.pathname === '/' && url.search === '' && url.hash === '' ? url.origin : url.href
  return url.pathname + url.search + url.hash
}

export function processEvent(event, meta) {
  for (const name of meta.global.properties) {
    const value = event.properties?.[name]
    if (typeof value === 'string' && value !== '') event.properties[name] = normalized(value, meta)
  }
  return event
}
`,
}
