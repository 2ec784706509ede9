import { invalid } from '../../../service/accounts/refusals.ts'
import { failures } from '../errors.ts'

// Statements from a few known phrases. Anything else is reported as unclear; nothing is guessed.

const longestPrompt = 400
const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const field = (name: string) => (/^[a-z_$][\w$]*$/i.test(name) ? `properties.${name}` : `properties.\`${name.replaceAll('`', '')}\``)
const units: Readonly<Record<string, string>> = {
  day: 'toStartOfDay',
  week: 'toStartOfWeek',
  month: 'toStartOfMonth',
  hour: 'toStartOfHour',
}
const adverbs: Readonly<Record<string, string>> = { daily: 'day', weekly: 'week', monthly: 'month', hourly: 'hour' }

const name = `["'“”\`]?(.+?)["'“”\`]?`
const spans = `(?: (?:in|over|during|for|of) the (?:last|past) (\\d+) (hour|day|week|month)s?)?`
const since = (count: string | undefined, unit: string | undefined) =>
  count ? `timestamp >= now() - interval ${Number(count)} ${unit}` : null
const where = (...conditions: readonly (string | null)[]) => {
  const held = conditions.filter((one) => one !== null)
  return held.length > 0 ? ` where ${held.join(' and ')}` : ''
}
const isAll = (event: string | undefined) => event === undefined || /^(all |any |the )?$/.test(`${event} `) || /^(all|any)$/.test(event)
const named = (event: string | undefined) => (isAll(event) ? null : `event = ${quote(event!)}`)

interface Phrase {
  readonly pattern: RegExp
  readonly sql: (...found: (string | undefined)[]) => string
}
const phrase = (pattern: string, sql: Phrase['sql']): Phrase => ({ pattern: new RegExp(`^${pattern}$`, 'i'), sql })
const people = '(?:users|people|persons|visitors)'
const ask = '(?:show(?: me)?|list|get|give me|what are|find|select)?(?: the)? ?'
const count = '(?:(?:show(?: me)?|get|give me) )?(?:how many|count(?: of)?|number of)(?: the)? ?'

const phrases: readonly Phrase[] = [
  phrase(`${ask}(?:top|most (?:common|frequent|popular)) (?:(\\d+) )?events?${spans}`, (limit, n, unit) => {
    return `select event, count() as total from events${where(since(n, unit))} group by event order by total desc limit ${Number(limit ?? 10)}`
  }),
  phrase(
    `${ask}(?:top|most (?:common|frequent|popular)) (?:(\\d+) )?(?:values (?:of|for) )?(?:the )?(?:property )?${name} (?:for|of|in) ${name} events?${spans}`,
    (limit, property, event, n, unit) => {
      return `select ${field(property!)} as value, count() as total from events${where(named(event), since(n, unit))} group by value order by total desc limit ${Number(limit ?? 10)}`
    },
  ),
  phrase(
    `${count}(?:unique |distinct )?${people}(?: (?:did|who did|with|doing) ${name})??(?: (?:per|by|each) (hour|day|week|month))?${spans}`,
    (event, bucket, n, unit) => {
      const columns = bucket ? `${units[bucket.toLowerCase()]}(timestamp) as ${bucket}, ` : ''
      return `select ${columns}count(distinct person_id) as people from events${where(named(event), since(n, unit))}${bucket ? ` group by ${bucket} order by ${bucket}` : ''}`
    },
  ),
  phrase(`(daily|weekly|monthly|hourly) active ${people}${spans}`, (adverb, n, unit) => {
    const bucket = adverbs[adverb!.toLowerCase()]!
    return `select ${units[bucket]}(timestamp) as ${bucket}, count(distinct person_id) as people from events${where(since(n, unit))} group by ${bucket} order by ${bucket}`
  }),
  phrase(`${count}(?:${name} )??events?(?: (?:per|by|each) (hour|day|week|month))?${spans}`, (event, bucket, n, unit) => {
    const columns = bucket ? `${units[bucket.toLowerCase()]}(timestamp) as ${bucket}, ` : ''
    return `select ${columns}count() as total from events${where(named(event), since(n, unit))}${bucket ? ` group by ${bucket} order by ${bucket}` : ''}`
  }),
  phrase(`${ask}(?:(\\d+) )?(?:last|latest|recent|newest|most recent) (?:(\\d+) )?(?:${name} )??events?`, (before, after, event) => {
    return `select event, distinct_id, timestamp, properties from events${where(named(event))} order by timestamp desc limit ${Number(before ?? after ?? 100)}`
  }),
  phrase(`${ask}(?:all )?events?(?: of| from| by) (?:the )?(?:user|person|distinct id) ${name}`, (id) => {
    return `select event, timestamp, properties from events where distinct_id = ${quote(id!)} order by timestamp desc limit 100`
  }),
  phrase(`${ask}(?:(\\d+) )?(?:last|latest|recent|newest) (?:(\\d+) )?${people}`, (before, after) => {
    return `select id, properties, created_at from persons order by created_at desc limit ${Number(before ?? after ?? 100)}`
  }),
]

export const draftSql = (prompt: string | null): string => {
  if (prompt === null || prompt.trim() === '') throw failures.required('prompt')
  if (prompt.length > longestPrompt) throw invalid(`The prompt is longer than ${longestPrompt} characters.`, 'prompt', 'too_long')
  const words = prompt
    .trim()
    .replace(/[?.!]+$/, '')
    .replace(/\s+/g, ' ')
  for (const { pattern, sql } of phrases) {
    const found = pattern.exec(words)
    if (found) return sql(...found.slice(1))
  }
  throw invalid(
    'Cannot write a statement for this prompt. Try "top 10 events in the last 7 days" or "how many users did sign up per week".',
    'prompt',
    'unclear',
  )
}
