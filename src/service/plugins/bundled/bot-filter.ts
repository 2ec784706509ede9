import { type BundledPlugin, field } from './definition.ts'

export const botFilter: BundledPlugin = {
  url: 'inline://bot-filter',
  name: 'Bot filter',
  description: 'Drops or marks events of crawlers, monitors and headless browsers, by their user agent.',
  config_schema: [
    field({
      key: 'action',
      name: 'What happens to events of bots',
      hint: 'drop: they are not stored. mark: they get the property $is_bot.',
      type: 'choice',
      choices: ['drop', 'mark'],
      default: 'drop',
    }),
    field({ key: 'more', name: 'Other bots', hint: 'Parts of user agents to treat as bots too, separated by commas.' }),
    field({ key: 'keep', name: 'Exceptions', hint: 'Parts of user agents never to treat as bots, separated by commas.' }),
  ],
  code: `
const known = ['bot', 'crawl', 'spider', 'slurp', 'headless', 'phantomjs', 'lighthouse', 'pingdom', 'uptime', 'monitor', 'preview', 'facebookexternalhit',
  'curl/', 'wget/', 'python-requests', 'python-urllib', 'go-http-client', 'java/', 'okhttp', 'axios/', 'node-fetch', 'libwww', 'scrapy', 'httpclient']
// Devices whose names contain one of these words.
const neverBots = ['cubot']
const list = (text) => String(text ?? '').toLowerCase().split(',').map((word) => word.trim()).filter((word) => word !== '')

export function setupPlugin({ config, global }) {
  global.words = [...known, ...list(config.more)]
  global.keep = [...neverBots, ...list(config.keep)]
}

export function processEvent(event, { config, global }) {
  const agent = event.properties?.$raw_user_agent ?? event.properties?.$user_agent ?? event.properties?.$useragent
  if (typeof agent !== 'string' || agent === '') return event
  const text = agent.toLowerCase()
  const isBot = global.words.some((word) => text.includes(word)) && !global.keep.some((word) => text.includes(word))
  if (!isBot) return event
  if (config.action !== 'mark') return null
  event.properties.$is_bot = true
  return event
}
`,
}
