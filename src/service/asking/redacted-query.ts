// A query without its values: what was asked about, not whom. Statements keep their words, names and signs; of other queries only fields stay that choose among what
// Waymark offers, and names of events and properties.

const kept: ReadonlySet<string> = new Set([
  'kind',
  'event',
  'key',
  'type',
  'operator',
  'math',
  'math_property',
  'breakdown',
  'breakdown_type',
  'property',
  'interval',
  'date_from',
  'date_to',
  'display',
  'layout',
  'retentionType',
  'period',
  'totalIntervals',
  'funnelVizType',
  'funnelOrderType',
  'breakdownAttributionType',
  'funnelWindowInterval',
  'funnelWindowIntervalUnit',
  'stepOrder',
  'samplingFactor',
  'limit',
  'offset',
  'orderBy',
  'aggregationType',
  'road',
])
const statements: ReadonlySet<string> = new Set(['query'])
/** Names of properties, or expressions of the language. */
const expressions: ReadonlySet<string> = new Set(['key', 'property', 'math_property', 'breakdown', 'orderBy'])
const isName = (text: string): boolean => /^[\w$.:/ -]*$/.test(text)

const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9'
const isWord = (char: string | undefined): boolean => char !== undefined && /[\w$]/.test(char)

/** Where a text ends that begins with a quote: after the next quote that is neither doubled nor after a backslash. */
function endOfQuoted(text: string, from: number): number {
  const quote = text[from]
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === quote) {
      if (text[i + 1] !== quote) return i + 1
      i++
    }
  }
  return text.length
}

/** A statement with `?` in place of texts and numbers, and without its comments. */
export function redactedStatement(text: string): string {
  let found = ''
  for (let i = 0; i < text.length; ) {
    const char = text[i]!
    if (char === "'") {
      i = endOfQuoted(text, i)
      found += '?'
    } else if (char === '"' || char === '`') {
      const end = endOfQuoted(text, i)
      found += text.slice(i, end)
      i = end
    } else if (char === '-' && text[i + 1] === '-') {
      const end = text.indexOf('\n', i)
      i = end < 0 ? text.length : end
    } else if (char === '/' && text[i + 1] === '*') {
      const end = text.indexOf('*/', i + 2)
      i = end < 0 ? text.length : end + 2
    } else if (isDigit(char) && !isWord(text[i - 1])) {
      while (isWord(text[i]) || text[i] === '.') i++
      found += '?'
    } else found += text[i++]
  }
  return found
}

/** The same of any query, as data. */
export function redactedQuery(query: unknown, name = ''): unknown {
  if (Array.isArray(query)) return query.map((one) => redactedQuery(one, name))
  if (typeof query === 'object' && query !== null)
    return Object.fromEntries(Object.entries(query).map(([field, value]) => [field, redactedQuery(value, field)]))
  if (typeof query === 'string' && (statements.has(name) || (expressions.has(name) && !isName(query)))) return redactedStatement(query)
  return kept.has(name) || (typeof query === 'boolean' && name !== 'value') || query === null ? query : '?'
}
