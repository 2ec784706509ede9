import { QueryError } from '../../errors/errors.ts'
import { call, field, lambda, literal, or } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'

// Conditions on clicked elements. The chain is one text, the clicked element first, then its ancestors, separated by `;`:
// `tag.class1.class2:attr="v"nth-child="1"nth-of-type="2"text="…"`, classes and attributes in alphabetical order.

const chain = field('elements_chain')
const quoteRegex = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
/** A value as it appears in the chain, as part of a regular expression. */
const quoteValue = (text: string) => quoteRegex(text.replaceAll('"', '\\"'))

const matches = (pattern: string): Expr => call('match', chain, literal(pattern))

export const tagIs = (tag: string): Expr => matches(`(^|;)${quoteRegex(tag)}(\\.|:|;|$)`)

export type Matching = 'exact' | 'contains' | 'regex'

/** An attribute of any element of the chain. */
export function attributeIs(name: string, value: string, how: Matching): Expr {
  const start = `(?:"|:)${name}="`
  if (how === 'exact') return matches(`${start}${quoteValue(value)}"`)
  if (how === 'contains') return matches(`(?i)${start}(?:[^"\\\\]|\\\\.)*${quoteValue(value)}`)
  return call('arrayExists', lambda(['found'], call('match', field('found'), literal(value))), valuesOf(name))
}

/** All values that the attribute has in the chain. */
const valuesOf = (name: string): Expr => call('extractAll', chain, literal(`(?:"|:)${name}="((?:[^"\\\\]|\\\\.)*)"`))

export const hasAttribute = (name: string): Expr => matches(`(?:"|:)${name}="`)

const longestSelector = 10_000

/** Why a selector is invalid; null: it is valid. */
export const selectorMistake = (selector: string): string | null =>
  selector.length > longestSelector ? `A selector can have at most ${longestSelector} characters, found ${selector.length}.` : null

export const selectorMatches = (selector: string): Expr => {
  const message = selectorMistake(selector)
  if (message) throw new QueryError('invalid-query', { message })
  const alternatives = splitOutside(selector, ',').map((part) => selectorPattern(part.trim()))
  return or(...alternatives.map(matches))
}

/** Splits at a character outside of brackets and quotes. */
function splitOutside(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  let quote = ''
  for (const char of text) {
    if (quote) quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '[' || char === '(') depth++
    else if (char === ']' || char === ')') depth--
    if (char === separator && depth === 0 && !quote) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}

/** The innermost element is first in the chain, so the elements are searched from last to first. */
function selectorPattern(selector: string): string {
  const words = splitOutside(selector.replaceAll('>', ' > ').replace(/\s+/g, ' '), ' ').filter((word) => word !== '')
  let pattern = '(?:^|;)'
  let isDirect = false
  for (const [i, word] of words.reverse().entries()) {
    if (word === '>') {
      isDirect = true
      continue
    }
    if (i > 0) pattern += isDirect ? ';' : ';(?:[^;]*;)*'
    pattern += elementPattern(word)
    isDirect = false
  }
  return `${pattern}(?:;|$)`
}

const piece =
  /([.#]?)((?:[\w-]|[^\x00-\x7f]|\\.)+)|\[\s*([\w-]+)\s*(?:[~^$*|]?=(?:\s*"([^"]*)"\s*|\s*'([^']*)'\s*|([^\]["']*)))?\]|:nth-child\((\d+)\)|:nth-of-type\((\d+)\)|\*/g
const restOfClasses = '(?:\\.[^.:;]*)*'
const restOfAttributes = '[^;]*'

/** `tag.class#id[attr="v"]:nth-child(2)` */
function elementPattern(word: string): string {
  let tag = '[^.:;]*'
  const classes: string[] = []
  const attributes: [name: string, pattern: string][] = []
  const attribute = (name: string, value: string | undefined) =>
    attributes.push([name, value === undefined ? `${quoteRegex(name)}="` : `${quoteRegex(name)}="${quoteValue(value)}"`])
  for (const [, mark, name, key, ...values] of word.matchAll(piece)) {
    const value = values[0] ?? values[1] ?? values[2]?.trim()
    if (key) attribute(chainName(key), value)
    else if (values[3]) attribute('nth-child', values[3])
    else if (values[4]) attribute('nth-of-type', values[4])
    else if (mark === '.') classes.push(name!.replaceAll('\\', ''))
    else if (mark === '#') attribute('attr_id', name!)
    else if (name) tag = quoteRegex(name)
  }
  const classPattern = classes
    .sort()
    .map((name) => `${restOfClasses}\\.${quoteRegex(name)}`)
    .join('')
  const sorted = attributes.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pattern]) => pattern)
  const attributePattern = sorted.length
    ? `:${restOfAttributes}${sorted.join(restOfAttributes)}${restOfAttributes}`
    : `(?::${restOfAttributes})?`
  return `${tag}${classPattern}${restOfClasses}${attributePattern}`
}

const plainNames: ReadonlySet<string> = new Set(['href', 'text', 'nth-child', 'nth-of-type'])
const chainName = (attribute: string) => (attribute === 'id' ? 'attr_id' : plainNames.has(attribute) ? attribute : `attr__${attribute}`)
