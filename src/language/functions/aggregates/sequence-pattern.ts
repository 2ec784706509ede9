import { QueryError } from '../../../errors/errors.ts'

// Patterns of sequenceMatch and sequenceCount.

export type PatternItem = { readonly step: number } | TimeBetween | '.' | '.*'
export interface TimeBetween {
  readonly operator: '<=' | '>=' | '==' | '<' | '>'
  /** In seconds. */
  readonly amount: number
}
export const isTimeBetween = (item: PatternItem): item is TimeBetween => typeof item === 'object' && 'amount' in item

const grammar = /\(\?(\d{1,2})\)|\.\*|\.|\(\?t(<=|>=|==|<|>)(\d{1,12})\)/y

const longestPattern = 400

/** The conditions of a pattern, in order. */
export function patternItems(name: string, pattern: unknown, steps: number): readonly PatternItem[] {
  const refuse = (what: string) =>
    new QueryError('wrong-type', {
      message: `'${name}' ${what}`,
      expected: 'a pattern such as (?1).*(?2), with as many conditions as it names',
    })
  if (typeof pattern !== 'string') throw refuse("takes its pattern as a constant text: sequenceMatch('(?1).*(?2)')(timestamp, a, b)")
  const items: PatternItem[] = []
  grammar.lastIndex = 0
  if (pattern.length > longestPattern) throw refuse(`takes a pattern of at most ${longestPattern} characters`)
  for (let at = 0; at < pattern.length; at = grammar.lastIndex) {
    grammar.lastIndex = at
    const [text, number, operator, amount] = grammar.exec(pattern) ?? []
    if (text === undefined) throw refuse(`cannot read its pattern from character ${at + 1} on: ${pattern.slice(at, at + 20)}`)
    const previous = items.at(-1)
    if (operator !== undefined && (!previous || isTimeBetween(previous))) throw refuse(`needs a condition, . or .* before ${text}`)
    if (operator !== undefined) items.push({ operator: operator as TimeBetween['operator'], amount: Number(amount) })
    else if (text === '.' || text === '.*') items.push(text)
    else if (Number(number) >= 1 && Number(number) <= steps) items.push({ step: Number(number) - 1 })
    else throw refuse(`has no condition ${number}: there are ${steps}`)
  }
  return items
}
