import { type IToken, tokenMatcher } from 'chevrotain'
import {
  AliasName,
  As,
  Comma,
  Dot,
  From,
  Join,
  LBrace,
  LBracket,
  LParen,
  Name,
  RBrace,
  RBracket,
  RParen,
  Select,
  StringLiteral,
  tokenize,
  Unterminated,
  Word,
} from '../../../language/parser/tokens.ts'

// What can be read from a statement that is not finished: which tables and names can be used at a position. Only tokens and parentheses are looked at,
// each a few times, whatever the text is.

/** A range of tokens, without the end. */
interface Range {
  readonly from: number
  readonly to: number
}
export type TextSource =
  | { readonly kind: 'table'; readonly chain: readonly string[]; readonly alias: string | null }
  | { readonly kind: 'query'; readonly query: Range; readonly alias: string | null }

/** One SELECT, as far as it is written. */
export interface TextSelect {
  readonly sources: readonly TextSource[]
  /** Names behind AS. */
  readonly aliases: readonly string[]
  /** Names of its columns that can be told; a star is a star. */
  readonly columns: readonly (string | { readonly starOf: string | null })[]
  readonly ctes: ReadonlyMap<string, Range>
}

export interface Cursor {
  /** Names before the word at the cursor: `person`, `properties`. */
  readonly chain: readonly string[]
  readonly place: 'table' | 'alias' | 'placeholder' | 'text' | 'expression' | 'nothing'
  /** In a text: what it is compared with. */
  readonly comparedWith: readonly string[]
  /** The innermost SELECT, and all names of WITH that it sees. */
  readonly select: TextSelect | null
  readonly ctes: ReadonlyMap<string, Range>
}

const openers = new Map([
  [LParen, RParen],
  [LBracket, RBracket],
  [LBrace, RBrace],
])
const closers = new Set(openers.values())
const setWords = new Set(['union', 'intersect', 'except', ';'])
/** Words that end a list of sources. */
const clauses = new Set(['where', 'prewhere', 'group', 'having', 'qualify', 'window', 'order', 'limit', 'offset', 'settings'])
const noSelect: TextSelect = { sources: [], aliases: [], columns: [], ctes: new Map() }

const endOf = (token: IToken): number => token.startOffset + token.image.length
const unquoted = ({ image }: IToken): string => {
  const quote = image[0]
  return quote === '`' || quote === '"'
    ? image
        .slice(1, -1)
        .replaceAll(quote + quote, quote)
        .replace(/\\(.)/g, '$1')
    : image
}
const wordOf = ({ image }: IToken): string => image.toLowerCase()

/** A statement as tokens, with the partner of each parenthesis. */
export class StatementText {
  readonly tokens: readonly IToken[]
  private readonly partner = new Map<number, number>()
  private readonly read = new Map<number, TextSelect>()

  constructor(private readonly text: string) {
    let { tokens } = tokenize(text)
    const open = tokens.find(({ tokenType }) => tokenType === Unterminated)
    // A quote without an end would hide what follows it.
    if (open && open.image[0] !== "'") tokens = tokenize(`${text.slice(0, open.startOffset)} ${text.slice(open.startOffset + 1)}`).tokens
    this.tokens = tokens
    const stack: number[] = []
    for (const [i, { tokenType }] of tokens.entries()) {
      if (openers.has(tokenType)) stack.push(i)
      else if (closers.has(tokenType) && stack.length > 0) this.partner.set(stack.pop()!, i)
    }
  }

  private closeOf(opener: number): number {
    return this.partner.get(opener) ?? this.tokens.length
  }

  /** The tokens of a range that are in no parentheses; an opening one stands for what is in it. */
  private *outer({ from, to }: Range): Generator<number> {
    for (let i = from; i < to; i++) {
      yield i
      if (openers.has(this.tokens[i]!.tokenType)) i = this.closeOf(i)
    }
  }

  /** The part of a UNION that begins a range, or holds a position. */
  private part(range: Range, position: number | null): Range {
    let from = range.from
    for (const i of this.outer(range)) {
      const token = this.tokens[i]!
      if (!setWords.has(wordOf(token))) continue
      if (position === null || token.startOffset >= position) return { from, to: i }
      from = i + 1
    }
    return { from, to: range.to }
  }

  /** The SELECT in a range; of several ones the first. */
  selectIn(range: Range): TextSelect {
    const { from, to } = this.part(range, null)
    return this.selectOf({ from, to })
  }

  private selectOf(range: Range): TextSelect {
    const known = this.read.get(range.from)
    if (known) return known
    this.read.set(range.from, noSelect)
    const found = this.readSelect(range)
    this.read.set(range.from, found)
    return found
  }

  private readSelect(range: Range): TextSelect {
    const { tokens } = this
    const sources: TextSource[] = []
    const aliases: string[] = []
    const columns: TextSelect['columns'][number][] = []
    const ctes = new Map<string, Range>()
    let clause = ''
    let item: number[] = []
    const endItem = () => {
      if (clause === 'select' && item.length > 0) columns.push(...this.columnOf(item, aliases))
      item = []
    }
    const all = [...this.outer(range)]
    for (let n = 0; n < all.length; n++) {
      const i = all[n]!
      const token = tokens[i]!
      const word = wordOf(token)
      // `e. from` is not finished, but `e.from` is a name.
      const isAfterDot = tokens[i - 1]?.tokenType === Dot && endOf(tokens[i - 1]!) === token.startOffset
      if (!isAfterDot && (word === 'with' || word === 'select' || word === 'from' || clauses.has(word))) {
        endItem()
        clause = word
        if (word !== 'from') continue
      }
      if (clause === 'with' && tokenMatcher(token, Name) && tokens[i + 1]?.tokenType === As && tokens[i + 2]?.tokenType === LParen)
        ctes.set(unquoted(token), { from: i + 3, to: this.closeOf(i + 2) })
      if (clause === 'select') {
        if (token.tokenType === Comma) endItem()
        else item.push(i)
      }
      const startsSource = clause === 'from' && (token.tokenType === From || token.tokenType === Join || token.tokenType === Comma)
      if (!startsSource) continue
      const read = this.sourceAt(all, n + 1)
      if (read) {
        sources.push(read.source)
        n = read.next - 1
      }
    }
    endItem()
    return { sources, aliases, columns, ctes }
  }

  private sourceAt(all: readonly number[], start: number): { readonly source: TextSource; readonly next: number } | null {
    const { tokens } = this
    const first = all[start]
    if (first === undefined) return null
    let n = start + 1
    const alias = (): string | null => {
      let token = tokens[all[n] ?? -1]
      if (token?.tokenType === As) token = tokens[all[++n] ?? -1]
      if (!token || !tokenMatcher(token, AliasName) || clauses.has(wordOf(token))) return null
      n++
      return unquoted(token)
    }
    if (tokens[first]!.tokenType === LParen) {
      const query = { from: first + 1, to: this.closeOf(first) }
      return { source: { kind: 'query', query, alias: alias() }, next: n }
    }
    if (!tokenMatcher(tokens[first]!, Name)) return null
    const chain = [unquoted(tokens[first]!)]
    while (tokens[all[n] ?? -1]?.tokenType === Dot && all[n + 1] !== undefined) {
      chain.push(unquoted(tokens[all[n + 1]!]!))
      n += 2
    }
    return { source: { kind: 'table', chain, alias: alias() }, next: n }
  }

  private columnOf(item: readonly number[], aliases: string[]): TextSelect['columns'] {
    const parts = item.map((i) => this.tokens[i]!)
    const as = parts.findLastIndex(({ tokenType }) => tokenType === As)
    const named = as >= 0 ? parts[as + 1] : undefined
    if (named) {
      aliases.push(unquoted(named))
      return [unquoted(named)]
    }
    const last = parts.at(-1)!
    if (last.image === '*')
      return parts.length === 1 || parts.at(-2)!.tokenType === Dot ? [{ starOf: parts.length > 2 ? unquoted(parts.at(-3)!) : null }] : []
    const isChain = parts.every((token, i) => (i % 2 === 1 ? token.tokenType === Dot : tokenMatcher(token, Word)))
    return isChain && parts.length % 2 === 1 ? [unquoted(last)] : []
  }

  /** What can be written where the word at the cursor begins. */
  at(start: number): Cursor {
    const { tokens } = this
    const inside = tokens.find((token) => token.startOffset < start && (endOf(token) > start || token.tokenType === Unterminated))
    const before = inside ? tokens.indexOf(inside) - 1 : tokens.findLastIndex((token) => endOf(token) <= start)
    const enclosing: number[] = []
    for (let i = 0; i < tokens.length && tokens[i]!.startOffset < start; i++)
      if (openers.has(tokens[i]!.tokenType) && (this.partner.get(i) === undefined || tokens[this.partner.get(i)!]!.startOffset >= start))
        enclosing.push(i)
    const ctes = new Map<string, Range>()
    let innermost: TextSelect | null = null
    for (const opener of [...enclosing.reverse(), -1]) {
      const range = { from: opener + 1, to: opener < 0 ? tokens.length : this.closeOf(opener) }
      const part = this.part(range, start)
      const select = this.selectOf(part)
      for (const [name, body] of select.ctes) if (!ctes.has(name)) ctes.set(name, body)
      const isQuery = [...this.outer(part)].some((i) => tokens[i]!.tokenType === Select || tokens[i]!.tokenType === From)
      if (isQuery) innermost ??= select
    }
    const chain: string[] = []
    let i = before
    while (i > 0 && tokens[i]!.tokenType === Dot && tokenMatcher(tokens[i - 1]!, Word)) {
      chain.unshift(unquoted(tokens[i - 1]!))
      i -= 2
    }
    const isText = inside && (inside.tokenType === StringLiteral || inside.tokenType === Unterminated)
    const isNothing = inside !== undefined || this.isComment(before, start)
    const place = isText ? 'text' : isNothing ? 'nothing' : this.placeAfter(before, enclosing.length > 0 ? tokens[enclosing[0]!]! : null)
    return { chain, place, comparedWith: isText ? this.comparedWith(before) : [], select: innermost, ctes }
  }

  /** Comments are no tokens. */
  private isComment(before: number, start: number): boolean {
    const gap = this.text.slice(before < 0 ? 0 : endOf(this.tokens[before]!), start)
    const line = gap.slice(Math.max(gap.lastIndexOf('\n'), gap.lastIndexOf('\r')) + 1)
    return line.includes('--') || line.includes('//') || gap.lastIndexOf('/*') > gap.lastIndexOf('*/')
  }

  private placeAfter(before: number, opener: IToken | null): Cursor['place'] {
    const token = this.tokens[before]
    if (!token) return 'expression'
    if (token.tokenType === From || token.tokenType === Join) return 'table'
    if (token.tokenType === As) return 'alias'
    if (opener?.tokenType === LBrace) return 'placeholder'
    if (token.tokenType !== Comma) return 'expression'
    // A comma between sources.
    for (let i = before - 1; i >= 0; i--) {
      const { tokenType } = this.tokens[i]!
      if (tokenType === From) return 'table'
      if (!tokenMatcher(this.tokens[i]!, Word) && tokenType !== Comma && tokenType !== Dot) break
      if (tokenType === Select || clauses.has(wordOf(this.tokens[i]!))) break
    }
    return 'expression'
  }

  /** `event` of `event = '…'` and of `event IN ('…', '…'`. */
  private comparedWith(before: number): string[] {
    const { tokens } = this
    let i = before
    while (i >= 0 && (tokens[i]!.tokenType === StringLiteral || tokens[i]!.tokenType === Comma)) i--
    if (tokens[i]?.tokenType === LParen) i--
    if (wordOf(tokens[i] ?? tokens[0]!) === 'in') i--
    else if (!/^(=|==|!=|<>)$/.test(tokens[i]?.image ?? '')) return []
    else i--
    if (wordOf(tokens[i] ?? tokens[0]!) === 'not') i--
    const chain: string[] = []
    while (i >= 0 && tokenMatcher(tokens[i]!, Word)) {
      chain.unshift(unquoted(tokens[i]!))
      if (tokens[i - 1]?.tokenType !== Dot) break
      i -= 2
    }
    return chain
  }
}
