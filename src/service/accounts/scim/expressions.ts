import { refused, type ScimType } from './refusals.ts'

// Filters and paths of RFC 7644, as far as identity providers send them: `userName eq "a" and active eq true`, `emails[type eq "work"].value`. Read from left to right, character by
// character.

export type Scalar = string | number | boolean | null

/** An attribute. Names are in lower case: they are compared ignoring case. */
export interface Path {
  readonly name: string
  /** `emails[type eq "work"]` */
  readonly where: Condition | null
  /** `name.givenName` */
  readonly sub: string | null
}
interface Condition {
  readonly name: string
  readonly value: Scalar
}
/** All conditions of a filter must hold. */
export interface Comparison {
  readonly path: Path
  readonly value: Scalar
}

type Token = { readonly kind: 'word' | 'mark'; readonly text: string } | { readonly kind: 'value'; readonly value: string }

const longestExpression = 1_000
const mostComparisons = 10
const isWordPart = (character: string): boolean => /[A-Za-z0-9:._$-]/.test(character)

/** Where the text ends that begins at `start` with a quotation mark. */
function endOfText(text: string, start: number): number | null {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return null
}
const unquoted = (text: string): string | null => {
  try {
    return String(JSON.parse(text))
  } catch {
    return null
  }
}

/** Null: it has something that no expression has. */
function tokensOf(text: string): readonly Token[] | null {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const character = text[at]!
    let end = at + 1
    if (character === '"') {
      end = endOfText(text, at) ?? text.length + 1
      const value = end > text.length ? null : unquoted(text.slice(at, end))
      if (value === null) return null
      tokens.push({ kind: 'value', value })
    } else if (character === '[' || character === ']') tokens.push({ kind: 'mark', text: character })
    else if (isWordPart(character)) {
      while (end < text.length && isWordPart(text[end]!)) end++
      tokens.push({ kind: 'word', text: text.slice(at, end) })
    } else if (character !== ' ') return null
    at = end
  }
  return tokens
}

const core = ['urn:ietf:params:scim:schemas:core:2.0:user', 'urn:ietf:params:scim:schemas:core:2.0:group']
/** `urn:…:core:2.0:User:name.givenName` is `name.givenName`. Attributes of other schemas keep their whole name. */
function splitName(word: string): { readonly name: string; readonly sub: string | null } {
  const name = word.toLowerCase()
  const schema = core.find((one) => name === one || name.startsWith(`${one}:`))
  const local = schema === undefined ? name : name.slice(schema.length + 1)
  if (local.startsWith('urn:')) return { name: local, sub: null }
  const dot = local.indexOf('.')
  return dot < 0 ? { name: local, sub: null } : { name: local.slice(0, dot), sub: local.slice(dot + 1) }
}

class Reader {
  private at = 0
  constructor(
    private readonly tokens: readonly Token[],
    private readonly fail: () => Error,
  ) {}

  get isAtEnd(): boolean {
    return this.at === this.tokens.length
  }
  private next(): Token {
    const token = this.tokens[this.at++]
    if (!token) throw this.fail()
    return token
  }
  private word(): string {
    const token = this.next()
    if (token.kind !== 'word') throw this.fail()
    return token.text
  }
  private isMark(text: string): boolean {
    const token = this.tokens[this.at]
    const isIt = token?.kind === 'mark' && token.text === text
    if (isIt) this.at++
    return isIt
  }
  keyword(text: string): void {
    if (this.word().toLowerCase() !== text) throw this.fail()
  }
  value(): Scalar {
    const token = this.next()
    if (token.kind === 'value') return token.value
    if (token.kind !== 'word') throw this.fail()
    const word = token.text.toLowerCase()
    if (word === 'true' || word === 'false') return word === 'true'
    if (word === 'null') return null
    const number = Number(word)
    if (Number.isNaN(number)) throw this.fail()
    return number
  }
  path(): Path {
    const { name, sub } = splitName(this.word())
    if (!this.isMark('[')) return { name, where: null, sub }
    const attribute = this.word().toLowerCase()
    this.keyword('eq')
    const where = { name: attribute, value: this.value() }
    if (!this.isMark(']')) throw this.fail()
    const token = this.tokens[this.at]
    if (token?.kind !== 'word' || !token.text.startsWith('.')) return { name, where, sub }
    this.at++
    return { name, where, sub: token.text.slice(1).toLowerCase() }
  }
}

const readerOf = (text: string, type: ScimType, what: string): Reader => {
  const fail = () => refused(type, what)
  const tokens = text.length > longestExpression ? null : tokensOf(text)
  if (!tokens || tokens.length === 0) throw fail()
  return new Reader(tokens, fail)
}

/** `filter` of a list. */
export function readFilter(text: string): readonly Comparison[] {
  const reader = readerOf(
    text,
    'invalidFilter',
    'The filter is not understood. Expected comparisons such as `userName eq "ann@example.com"`, joined by `and`.',
  )
  const comparisons: Comparison[] = []
  do {
    if (comparisons.length > 0) reader.keyword('and')
    const path = reader.path()
    // `members[value eq "…"]` compares already.
    if (path.where && path.sub === null) comparisons.push({ path: { ...path, where: null, sub: path.where.name }, value: path.where.value })
    else {
      reader.keyword('eq')
      comparisons.push({ path, value: reader.value() })
    }
    if (comparisons.length > mostComparisons) throw refused('invalidFilter', `A filter can have at most ${mostComparisons} comparisons.`)
  } while (!reader.isAtEnd)
  return comparisons
}

/** `path` of an operation of PATCH. */
export function readPath(text: string): Path {
  const reader = readerOf(text, 'invalidPath', 'The path of an operation is not understood.')
  const path = reader.path()
  if (!reader.isAtEnd) throw refused('invalidPath', 'The path of an operation is not understood.')
  return path
}
