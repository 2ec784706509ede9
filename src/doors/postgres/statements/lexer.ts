import { SqlError, syntaxError } from './sql-error.ts'

// Tokens of PostgreSQL's SQL, by its rules for strings, quoted names, comments and operators.

export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'param' | 'operator' | 'mark' | 'end'
  /** A word in lower case, a quoted name or a string as it is meant, an operator as written. */
  readonly text: string
  /** A word as written. */
  readonly raw?: string
  readonly start: number
  readonly end: number
}

const space = /[\s\uFEFF]/
const wordStart = /[A-Za-z_\u0080-\uFFFF]/
const wordPart = /[A-Za-z0-9_$\u0080-\uFFFF]/
const digit = /[0-9]/
const operatorPart = /[-+*/<>=~!@#%^&|`?]/
const marks = '()[],;.:'

const afterLineComment = (sql: string, from: number): number => {
  const end = sql.indexOf('\n', from)
  return end < 0 ? sql.length : end + 1
}

function afterBlockComment(sql: string, from: number): number {
  let depth = 0
  for (let i = from; i < sql.length; i++) {
    const two = sql.slice(i, i + 2)
    if (two === '/*') {
      depth++
      i++
    } else if (two === '*/') {
      depth--
      i++
      if (depth === 0) return i + 1
    }
  }
  throw syntaxError('unterminated /* comment', from)
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

/** The text of a string with escapes (`E'…'`). */
const unescaped = (body: string): string =>
  body.replace(/''|\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([\s\S]))/g, (all, unicode, hex, octal, other) => {
    if (all === "''") return "'"
    if (unicode ?? hex) return String.fromCharCode(Number.parseInt(unicode ?? hex, 16))
    if (octal) return String.fromCharCode(Number.parseInt(octal, 8))
    return escapes[other] ?? other
  })

/** The place behind a closing quote. */
function closing(sql: string, from: number, quote: string, hasEscapes: boolean): number {
  for (let i = from; i < sql.length; i++) {
    if (hasEscapes && sql[i] === '\\') i++
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1
      i++
    }
  }
  throw syntaxError(quote === '"' ? 'unterminated quoted identifier' : 'unterminated quoted string', from - 1)
}

function stringAt(sql: string, start: number): Token | null {
  const isEscaped = /[eE]/.test(sql[start]!) && sql[start + 1] === "'"
  if (!isEscaped && sql[start] !== "'") return null
  const from = start + (isEscaped ? 2 : 1)
  const end = closing(sql, from, "'", isEscaped)
  const body = sql.slice(from, end - 1)
  return { kind: 'string', text: isEscaped ? unescaped(body) : body.replaceAll("''", "'"), start, end }
}

function dollarStringAt(sql: string, start: number): Token | null {
  const tag = /^\$(?:[A-Za-z_\u0080-\uFFFF][A-Za-z0-9_\u0080-\uFFFF]{0,63})?\$/.exec(sql.slice(start, start + 66))?.[0]
  if (tag === undefined) return null
  const end = sql.indexOf(tag, start + tag.length)
  if (end < 0) throw syntaxError('unterminated dollar-quoted string', start)
  return { kind: 'string', text: sql.slice(start + tag.length, end), start, end: end + tag.length }
}

function numberAt(sql: string, start: number): Token | null {
  const found = /^(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?/.exec(sql.slice(start, start + 400))?.[0]
  return found ? { kind: 'number', text: found, start, end: start + found.length } : null
}

/** A sign at the end belongs to what follows, unless the operator has one of the less usual characters. */
function operatorAt(sql: string, start: number): Token {
  let end = start
  while (end < sql.length && operatorPart.test(sql[end]!) && !['--', '/*'].includes(sql.slice(end, end + 2))) end++
  while (end - start > 1 && /[+-]$/.test(sql.slice(start, end)) && !/[~!@#%^&|`?]/.test(sql.slice(start, end))) end--
  return { kind: 'operator', text: sql.slice(start, end), start, end }
}

function wordAt(sql: string, start: number): Token {
  let end = start + 1
  while (end < sql.length && wordPart.test(sql[end]!)) end++
  const raw = sql.slice(start, end)
  return { kind: 'word', text: raw.toLowerCase(), raw, start, end }
}

function tokenAt(sql: string, start: number): Token {
  const char = sql[start]!
  const string = stringAt(sql, start)
  if (string) return string
  if (char === '"') {
    const end = closing(sql, start + 1, '"', false)
    return { kind: 'quoted', text: sql.slice(start + 1, end - 1).replaceAll('""', '"'), start, end }
  }
  if (wordStart.test(char)) return wordAt(sql, start)
  if (digit.test(char) || (char === '.' && digit.test(sql[start + 1] ?? ''))) return numberAt(sql, start)!
  if (char === '$') {
    const param = /^\$(\d{1,5})/.exec(sql.slice(start, start + 7))
    if (param) return { kind: 'param', text: param[1]!, start, end: start + param[0].length }
    const string = dollarStringAt(sql, start)
    if (string) return string
  }
  if (char === ':' && sql[start + 1] === ':') return { kind: 'mark', text: '::', start, end: start + 2 }
  if (char === ':' && sql[start + 1] === '=') return { kind: 'mark', text: ':=', start, end: start + 2 }
  if (marks.includes(char)) return { kind: 'mark', text: char, start, end: start + 1 }
  if (operatorPart.test(char)) return operatorAt(sql, start)
  throw syntaxError(`syntax error at or near "${char}"`, start)
}

/** Longer ones than the language takes are refused before they are read. */
export const mostOfStatement = { text: 1_048_576, tokens: 65_000 } as const

export function tokenize(sql: string): Token[] {
  if (sql.length > mostOfStatement.text)
    throw new SqlError('54000', `the statement has ${sql.length} characters, more than ${mostOfStatement.text}`)
  const tokens: Token[] = []
  for (let i = 0; i < sql.length; ) {
    if (space.test(sql[i]!)) i++
    else if (sql.startsWith('--', i)) i = afterLineComment(sql, i)
    else if (sql.startsWith('/*', i)) i = afterBlockComment(sql, i)
    else {
      const token = tokenAt(sql, i)
      if (tokens.push(token) > mostOfStatement.tokens)
        throw new SqlError('54000', `the statement has more than ${mostOfStatement.tokens} words and signs`, { offset: i })
      i = token.end
    }
  }
  return tokens
}

/** The statements of a text, by the semicolons between them. */
export function statementsOf(tokens: readonly Token[]): Token[][] {
  const all: Token[][] = [[]]
  for (const token of tokens)
    if (token.kind === 'mark' && token.text === ';') all.push([])
    else all.at(-1)!.push(token)
  return all.filter((one) => one.length > 0)
}
