// What the API says of a query that does not fit, in the words of the page. The API names the path in the query: `query.TrendsQuery.series.0.math_property`.

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Numbered parts of queries, as pages call them. */
const numbered: Readonly<Record<string, (i: number) => string>> = {
  series: (i) => `Series ${letters[i] ?? i + 1}`,
  properties: (i) => `filter ${i + 1}`,
  values: (i) => `filter ${i + 1}`,
  exclusions: (i) => `exclusion ${i + 1}`,
  breakdowns: (i) => `breakdown ${i + 1}`,
  formulaNodes: (i) => `formula ${i + 1}`,
  formulas: (i) => `formula ${i + 1}`,
}

const names: Readonly<Record<string, string>> = {
  math: 'what is counted',
  math_property: 'property that is counted',
  math_hogql: 'expression that is counted',
  date_from: 'start of the range',
  date_to: 'end of the range',
  dateRange: 'range',
  breakdownFilter: 'breakdown',
  samplingFactor: 'sampling',
  optionalInFunnel: 'optional step',
}
/** Parts that say nothing to who looks at the page. */
const silent = /^(?:query|source|[A-Z]\w*(?:Query|Node|Filter)|(?:trends|funnels|retention|stickiness|lifecycle|paths)Filter)$/

export const isSilent = (part: string): boolean => silent.test(part)

const spoken = (part: string) =>
  names[part] ??
  part
    .replaceAll('_', ' ')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim()

/** `Series A, property that is counted`. */
export function placeInWords(path: readonly string[]): string {
  const words: string[] = []
  for (let i = 0; i < path.length; i++) {
    const [part, next] = [path[i]!, path[i + 1]]
    if (silent.test(part)) continue
    const isNumbered = next !== undefined && /^\d+$/.test(next)
    if (isNumbered) i++
    // Groups of filters are lists in each other: the last one is what is meant.
    if (isNumbered && part === 'values' && words.at(-1)?.startsWith('filter ')) words.pop()
    words.push(isNumbered ? (numbered[part]?.(Number(next)) ?? `${spoken(part)} ${Number(next) + 1}`) : spoken(part))
  }
  const text = words.join(', ')
  return text === '' ? '' : text[0]!.toUpperCase() + text.slice(1)
}

export interface Misfit {
  /** In the query, without its kind. */
  readonly path: readonly string[]
  readonly problem: string
}

/** The two forms in which the API names a place in its text: a query that does not fit, and a statement that was made of a field. */
const ofQuery = /^\d+ validation errors? for \w+\n(\S+)\n {2}(.+)$/s
const ofField = /^([a-zA-Z]\w*): +(\S.*)$/s

/** What does not fit a query, if the API says that. */
export function misfitOf(message: string): Misfit | null {
  const field = ofField.exec(message)
  const found = ofQuery.exec(message) ?? (field?.[1]?.includes('__') ? field : null)
  return found ? { path: found[1]!.split(/\.|__/).filter((part) => !silent.test(part)), problem: found[2]! } : null
}

export function errorInWords(message: string): string {
  const found = misfitOf(message)
  if (!found) return message
  const [place, problem] = [placeInWords(found.path), found.problem.trim()]
  return place === '' ? problem : `${place}: ${problem}`
}
