import { isIP } from 'node:net'
import { isObject } from '../../../lib/is-object.ts'
import { parsedUrl } from '../../../lib/web/parsed-url.ts'

/** Second-level names under which countries register domains: `example.co.uk`. */
const registries: ReadonlySet<string> = new Set(['ac', 'co', 'com', 'edu', 'go', 'gob', 'gov', 'gv', 'ne', 'net', 'or', 'org'])

/** The domain that a host belongs to, without its subdomains; addresses stay as they are. */
export function rootDomain(host: string): string {
  const name = host.toLowerCase().replace(/\.$/, '')
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return name
  const labels = name.split('.')
  const [second = '', top = ''] = labels.slice(-2)
  const kept = top.length === 2 && registries.has(second) ? 3 : 2
  return labels.slice(-kept).join('.')
}

const longestHost = 300

const hostIn = (text: string): string => parsedUrl(text.includes('://') ? text : `http://${text}`)?.hostname ?? ''

/** The site of an event: the root domain of `$host`, or of its current URL. Empty if it has neither. */
export function siteOf(properties: Readonly<Record<string, unknown>>): string {
  for (const value of [properties.$host, properties.$current_url]) {
    if (typeof value !== 'string' || value === '' || (value.length > longestHost && !value.includes('://'))) continue
    const host = hostIn(value)
    if (host !== '') return rootDomain(host).slice(-longestHost)
  }
  return ''
}

/** Properties that tell who sent an event: they are hashed, and not stored. */
const traces: readonly string[] = [
  '$ip',
  '$initial_ip',
  '$raw_user_agent',
  '$initial_raw_user_agent',
  '$user_agent',
  '$initial_user_agent',
  '$useragent',
  '$cookieless_extra',
]
const tracesInEvent: ReadonlySet<string> = new Set([...traces, '$device_id', 'distinct_id', '$distinct_id'])
const tracesInPerson: ReadonlySet<string> = new Set(traces)

const without = (given: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Record<string, unknown> => {
  const rest: Record<string, unknown> = {}
  for (const name of Object.keys(given)) if (!names.has(name)) rest[name] = given[name]
  return rest
}

/** Properties of an event without what tells who sent it. */
export function withoutTraces(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const rest = without(properties, tracesInEvent)
  for (const field of ['$set', '$set_once']) if (isObject(rest[field])) rest[field] = without(rest[field], tracesInPerson)
  return rest
}

/** The same of properties for a person. */
export const withoutPersonTraces = (properties: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  without(properties, tracesInPerson)
