import type { Token } from './lexer.ts'
import { SqlError, syntaxError } from './sql-error.ts'

/** Levels of parentheses and operators inside each other. */
const mostLevels = 120

/** Reads tokens of one statement. */
export class Cursor {
  private at = 0
  private depth = 0
  private readonly tokens: readonly Token[]
  private readonly last: Token

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
    const end = tokens.at(-1)?.end ?? 0
    this.last = { kind: 'end', text: '', start: end, end }
  }

  peek(ahead = 0): Token {
    return this.tokens[this.at + ahead] ?? this.last
  }

  next(): Token {
    const token = this.peek()
    this.at++
    return token
  }

  /** What has to be read again. */
  get place(): number {
    return this.at
  }
  set place(place: number) {
    this.at = place
  }

  isWord(text: string, ahead = 0): boolean {
    const { kind, text: found } = this.peek(ahead)
    return kind === 'word' && found === text
  }

  isMark(text: string, ahead = 0): boolean {
    const { kind, text: found } = this.peek(ahead)
    return kind === 'mark' && found === text
  }

  isOperator(text: string, ahead = 0): boolean {
    const { kind, text: found } = this.peek(ahead)
    return kind === 'operator' && found === text
  }

  /** Words one after the other, read if they are all there. */
  takeWords(...words: readonly string[]): boolean {
    if (!words.every((word, i) => this.isWord(word, i))) return false
    this.at += words.length
    return true
  }

  takeMark(text: string): boolean {
    if (!this.isMark(text)) return false
    this.at++
    return true
  }

  takeOperator(text: string): boolean {
    if (!this.isOperator(text)) return false
    this.at++
    return true
  }

  needMark(text: string): Token {
    if (!this.isMark(text)) throw this.unexpected(`"${text}"`)
    return this.next()
  }

  needWord(text: string): Token {
    if (!this.isWord(text)) throw this.unexpected(text.toUpperCase())
    return this.next()
  }

  needEnd(): void {
    if (this.peek().kind !== 'end') throw this.unexpected()
  }

  unexpected(expected?: string): SqlError {
    const { kind, start } = this.peek()
    const what = kind === 'end' ? 'syntax error at end of input' : `syntax error at or near "${this.shown()}"`
    return syntaxError(expected === undefined ? what : `${what}: expected ${expected}`, start)
  }

  private shown(): string {
    const { kind, text } = this.peek()
    if (kind === 'string') return `'${text.slice(0, 40)}'`
    return kind === 'param' ? `$${text}` : text.slice(0, 40)
  }

  /** Runs a rule that may contain itself. */
  deeper<T>(rule: () => T): T {
    if (++this.depth > mostLevels)
      throw new SqlError('54001', `the statement is nested more than ${mostLevels} levels deep`, { offset: this.peek().start })
    try {
      return rule()
    } finally {
      this.depth--
    }
  }
}
