// Decides which names need quotes in printed statements, and escapes texts.

/** Never a name without quotes. */
export const reservedWords = [
  ...['as', 'case', 'when', 'then', 'else', 'end', 'null', 'true', 'false', 'select', 'from', 'where', 'prewhere', 'group', 'order'],
  ...['having', 'qualify', 'limit', 'union', 'intersect', 'except', 'join', 'on', 'using', 'with', 'distinct', 'is', 'in', 'not'],
  ...['between', 'and', 'or', 'like', 'ilike'],
] as const
export type ReservedWord = (typeof reservedWords)[number]

const reserved: ReadonlySet<string> = new Set(reservedWords)
/** Names that begin a special syntax in some contexts. */
const risky: ReadonlySet<string> = new Set([...reservedWords, 'inf', 'nan', 'array', 'interval', 'all', 'cohort', 'team_id'])
/** Reserved words that are also functions. */
const functions: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'like', 'ilike'])
const plain = /^[A-Za-z_$][\w$]*$/

const quoted = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '``')}\``

/** A name in a position where other syntax is allowed too. */
export const printName = (name: string): string => (plain.test(name) && !risky.has(name.toLowerCase()) ? name : quoted(name))
/** A name after a dot, where every word is allowed. */
export const printPart = (name: string): string => (plain.test(name) ? name : quoted(name))
export const printFunctionName = (name: string): string =>
  plain.test(name) && (functions.has(name) || !reserved.has(name.toLowerCase())) ? name : quoted(name)

const escapes: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\f': '\\f',
  '\r': '\\r',
  '\n': '\\n',
  '\t': '\\t',
  '\x07': '\\a',
  '\v': '\\v',
  '\\': '\\\\',
  "'": "\\'",
}

export const printString = (text: string): string => `'${text.replace(/[\b\f\r\n\t\x07\v\\']/g, (char) => escapes[char]!)}'`

/** A float keeps a point or an exponent, so that it is parsed as a float. */
export function printNumber(value: number | bigint, type: 'int' | 'float'): string {
  if (type === 'int') return String(value)
  const number = Number(value)
  if (Number.isNaN(number)) return 'nan'
  if (!Number.isFinite(number)) return number > 0 ? 'inf' : '-inf'
  if (Object.is(number, -0)) return '-0.0'
  const text = String(number)
  return /[.e]/.test(text) ? text : `${text}.0`
}
