import { InternalError, QueryError, WaymarkError } from '../../../errors/errors.ts'
import { refusedIn } from '../../../errors/refusal-mark.ts'
import { isDiskFull } from './instance.ts'

// DuckDB's errors about a statement, in terms of the language: its own messages name types and functions of the generated SQL.

/** Errors that a user can fix. All others are bugs in Waymark. */
const userErrors = /^(Conversion|Out of Range|Invalid Input|Invalid|Binder|Mismatch Type|Division by Zero|Not implemented) Error: /

/** A message may contain a value of any size; the relevant parts are at its start and end. */
const longestMessage = 2_000
const shortened = (message: string): string =>
  message.length <= longestMessage ? message : `${message.slice(0, longestMessage / 2)}…${message.slice(-longestMessage / 2)}`

export function engineError(error: unknown, sql: string): Error {
  if (error instanceof WaymarkError || error instanceof InternalError) return error
  const whole = error instanceof Error ? error.message : String(error)
  const refused = refusedIn(whole, error)
  if (refused) return refused
  const message = shortened(whole)
  if (/^Out of Memory Error/.test(message)) return new QueryError('query-memory', { message: '' }, null, { cause: error })
  if (isDiskFull(error)) return new WaymarkError('no-space', {}, { cause: error })
  if (/^INTERRUPT Error/.test(message)) return new QueryError('query-cancelled', {}, null, { cause: error })
  if (userErrors.test(message)) {
    const cause = Object.assign(new Error(message), { sql })
    const data = { message: inOurWords(message), isAboutTypes: aboutTypes.test(message), ...outOfRange(message) }
    return new QueryError('engine-refused', data, null, { cause })
  }
  return new InternalError(message, { cause: error, sql })
}

/** A function, an operator or a comparison has arguments of the wrong type. */
const aboutTypes =
  /No function matches the given name and argument types|for the function call "|Cannot compare values of type|Invalid LIST argument|UNNEST not supported here/

const beyond = /Overflow in |out of range|Out of Range|overflow/i
/** Functions of the language by the engine's operation. */
const operations: readonly (readonly [pattern: RegExp, names: readonly string[]])[] = [
  [/source column sum\(|HUGEINT addition/, ['sum', 'sumIf', 'arraySum']],
  [/addition/, ['plus']],
  [/subtraction/, ['minus']],
  [/multiplication/, ['multiply']],
]
const outOfRange = (message: string): { outOfRange?: readonly string[] } =>
  beyond.test(message) ? { outOfRange: operations.find(([pattern]) => pattern.test(message))?.[1] ?? [] } : {}

type Words = (...found: string[]) => string

/** The first match applies. */
const sentences: readonly (readonly [pattern: RegExp, words: Words])[] = [
  [/Could not convert string '(.*?)' to ([A-Z]\w*)/s, (text, type) => `${quoted(text)} is not ${kindOf(type)}`],
  [/Could not convert string "(.*?)" to ([A-Z]\w*)/s, (text, type) => `${quoted(text)} is not ${kindOf(type)}`],
  [/invalid (timestamp|date|time) field format: "(.*?)"/is, (_, text) => `${quoted(text)} is not a time`],
  [/(?:date|timestamp|time) field value out of range: "(.*?)"/is, (text) => `${quoted(text)} is not a time`],
  [beyond, () => 'A number or a time in the statement is out of range'],
  [
    /(?:Unimplemented|Unsupported) type for cast \((.+?) -> (.+?)\)(?:\s|$)/s,
    (from, to) => `Cannot convert ${kindOf(from)} to ${kindOf(to)}`,
  ],
  [
    /Type (\S+) with value .*? can't be cast .*?type (\S+)/s,
    (from, to) => `Type mismatch: cannot convert ${kindOf(from)} to ${kindOf(to)}`,
  ],
  [
    /Cannot compare values of type (.+?) and (?:values of )?type (.+?)(?: in | - |$)/s,
    (a, b) => `Type mismatch: cannot compare ${both(a, b)}`,
  ],
  [/Cannot mix values of type (.+?) and (.+?) in /s, (a, b) => `Type mismatch: cannot combine ${both(a, b)}`],
  [/Cannot combine types of (.+?) and (.+?)(?: - |$)/s, (a, b) => `Type mismatch: cannot combine ${both(a, b)}`],
  [/for the function call "[^(]*\((.*?)\)"/s, (types) => `Type mismatch: no function or operator takes ${listed(types)}`],
  [/given name and argument types '[^(]*\((.*)\)'/s, (types) => `Type mismatch: no function or operator takes ${listed(types)}`],
  [/Invalid LIST argument|UNNEST not supported here/, () => 'Type mismatch: a function needs an array, but got another type'],
  [/could not convert blob to UTF8/, () => 'The decoded bytes are not valid UTF-8'],
  [/nvalid regex|missing [)\]]|invalid (?:escape|character|perl)|no argument for repetition/i, () => 'Invalid regular expression'],
  [/pattern too large/i, () => 'The regular expression is too large: shorten it, or split it into several'],
  [/Malformed JSON/i, () => 'Invalid JSON in a string of the statement'],
  [/More than one row returned by a subquery/i, () => 'A subquery used as a value returned more than one row'],
]

/** Types and functions of the engine, and messages about generated SQL. */
const engineWords =
  /\b[A-Z]+ Error\b|LINE \d|andidate|\b(VARCHAR|U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|U?INT\d+|DOUBLE|STRUCT|TIMESTAMP|BOOLEAN|BLOB|DuckDB)\b|_[a-z]+\(|"p\d+"|explicit (?:type )?cast|column |table |Referenced/

function inOurWords(message: string): string {
  for (const [pattern, words] of sentences) {
    const found = pattern.exec(message)
    if (found) return words(...found.slice(1))
  }
  const [line = ''] = message.replace(userErrors, '').split('\n')
  return line.length > 0 && !engineWords.test(line) ? line.trim() : 'The engine rejected this statement: check the types of its values'
}

const quoted = (text: string): string => `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`

function kindOf(type: string): string {
  const name = type.trim().replaceAll('"', '')
  if (/\[\d*\]$/.test(name) || /^LIST/.test(name)) return 'an array'
  if (/^STRUCT|^ROW/.test(name)) return 'a tuple'
  if (/^MAP/.test(name)) return 'a map'
  if (/^(VARCHAR|STRING|JSON)/.test(name)) return 'a text'
  if (/^(TIMESTAMP|DATE|TIME)/.test(name)) return 'a time'
  if (/^INTERVAL/.test(name)) return 'an interval'
  if (/^BOOL/.test(name)) return 'a boolean'
  if (/INT|DOUBLE|FLOAT|DECIMAL|NUMERIC|REAL/.test(name)) return 'a number'
  return name === 'UUID' ? 'a UUID' : 'a value of this type'
}

const both = (a: string, b: string): string =>
  kindOf(a) === kindOf(b) ? `${kindOf(a)} and ${kindOf(b)} of another type` : `${kindOf(a)} and ${kindOf(b)}`

/** Describes `VARCHAR, STRUCT(a INTEGER, b VARCHAR)` in terms of the language. */
function listed(types: string): string {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const character of types) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === ',' && depth === 0) {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...parts, part]
    .filter((each) => each.trim())
    .map(kindOf)
    .join(', ')
}
