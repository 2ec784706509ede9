import { EmbeddedActionsParser, type IToken, type ParserMethod, type TokenType } from 'chevrotain'
import type { ErrorData } from '../../errors/codes.ts'
import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { Access, Expr, Lambda } from '../ast/nodes.ts'
import { unquote } from './literals.ts'
import { wordingOf } from './messages.ts'
import * as t from './tokens.ts'
import { endOf } from './tokens.ts'

// Shared by all grammar rules: lookahead, names, positions, errors.
// Chevrotain runs every rule once on dummy tokens to record the grammar, so code that reads a token's text must be inside ACTION.

export type Rule<R, A extends unknown[] = []> = ParserMethod<A, R>

/** Deeper statements are rejected before they can exhaust the stack: each nested call takes about fifty frames. */
export const maxDepth = 100

/** Aliases that would hide a literal or the project's guard. */
const reservedAliases: ReadonlySet<string> = new Set(['true', 'false', 'null', 'team_id'])
export const queryStarts: ReadonlySet<TokenType> = new Set([t.Select, t.With])
/** Tokens that may follow a query in parentheses if both are in parentheses again. */
const afterQuery: ReadonlySet<TokenType> = new Set([t.RParen, t.Union, t.Intersect, t.Except, t.Order, t.Limit, t.Offset])

interface WrittenName {
  readonly text: string
  readonly span: Span
}

export const spanOf = (token: IToken): Span => ({ start: token.startOffset, end: endOf(token) })
const isA = (type: TokenType, category: TokenType): boolean => category.categoryMatchesMap?.[type.tokenTypeIdx!] === true

export abstract class GrammarBase extends EmbeddedActionsParser {
  /** Errors that do not stop the parse. */
  problems: QueryError[] = []
  protected depth = 0

  constructor() {
    super(t.vocabulary, { maxLookahead: 1, recoveryEnabled: false, skipValidations: true, errorMessageProvider: wordingOf })
  }

  start(tokens: IToken[]): void {
    this.input = tokens
    this.problems = []
    this.depth = 0
  }

  // names

  /** A name that the statement assigns. */
  readonly definedName: Rule<string> = this.choice<string>('definedName', {
    DEF: [
      {
        ALT: () => {
          const token = this.CONSUME(t.Word)
          return this.ACTION(() => this.aliasText(token))
        },
      },
      {
        ALT: () => {
          const token = this.CONSUME(t.StringLiteral)
          return this.ACTION(() => this.permitted({ text: unquote(token.image), span: spanOf(token) }))
        },
      },
    ],
    ERR_MSG: 'a name',
  })

  readonly nameList: Rule<string[]> = this.rule('nameList', () => {
    const names: string[] = []
    this.CONSUME(t.LParen)
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => names.push(this.SUBRULE(this.definedName)) })
    this.CONSUME(t.RParen)
    return names
  })

  // looking ahead

  protected is(distance: number, ...types: TokenType[]): boolean {
    return types.includes(this.LA(distance).tokenType)
  }

  protected isWord(distance: number): boolean {
    return this.LA(distance).tokenType === t.Identifier || isA(this.LA(distance).tokenType, t.Word)
  }

  protected isName(distance: number): boolean {
    return isA(this.LA(distance).tokenType, t.Name)
  }

  /** Does the parenthesis open a query, and not an expression that starts with one? */
  protected isQuery(distance: number): boolean {
    if (!this.is(distance, t.LParen)) return false
    const next = this.LA(distance + 1)
    if (queryStarts.has(next.tokenType)) return true
    if (next.tokenType !== t.LParen || distance > maxDepth || !this.isQuery(distance + 1)) return false
    const after = next.payload as IToken | undefined
    return after !== undefined && afterQuery.has(after.tokenType)
  }

  // building

  protected rule<R, A extends unknown[]>(name: string, build: (...args: A) => R): Rule<R, A> {
    return this.RULE(name, build)
  }

  /** A rule with alternatives. They are created once: inside the rule they would be created for every token. */
  protected choice<R>(name: string, options: Parameters<typeof this.OR<R>>[0]): Rule<R> {
    return this.rule(name, () => this.OR<R>(options))
  }

  protected begin(): number {
    return this.LA(1).startOffset
  }

  protected until(start: number): Span {
    return { start, end: endOf(this.LA(0)) }
  }

  protected enter(start: number): void {
    if (++this.depth > maxDepth) throw new QueryError('too-deep', { limit: maxDepth }, { start, end: start + 1 })
  }

  protected access(object: Expr, index: Expr, form: Pick<Access, 'dotted' | 'nullish'>): Access {
    return { kind: 'access', object, index, ...form, span: this.until(object.span.start) }
  }

  protected lambda(params: readonly IToken[], body: Expr, start: number): Lambda {
    return { kind: 'lambda', params: params.map((token) => this.nameText(token)), body, span: this.until(start) }
  }

  protected problem(message: string, span: Span, more: Omit<ErrorData['syntax-error'], 'message'> = {}): void {
    this.problems.push(new QueryError('syntax-error', { message, ...more }, span))
  }

  protected nameText(token: IToken, before?: string): string {
    const text = token.tokenType === t.QuotedIdentifier ? unquote(token.image) : token.image
    return token.tokenType === t.QuotedIdentifier ? this.permitted({ text, span: spanOf(token) }, before) : text
  }

  protected aliasText(token: IToken): string {
    if (token.tokenType !== t.QuotedIdentifier && reservedAliases.has(token.image.toLowerCase()))
      this.problems.push(new QueryError('reserved-alias', { name: token.image }, spanOf(token)))
    return this.nameText(token)
  }

  /** `%` is rejected as in the reference system. A leading `@` is reserved for fields that no statement may name; a property may have one. */
  protected permitted({ text, span }: WrittenName, before?: string): string {
    const character = text.includes('%') ? '%' : text.startsWith('@') && before !== 'properties' ? '@' : null
    if (character) this.problems.push(new QueryError('illegal-identifier', { name: text, character }, span))
    return text
  }

  /** Reads a word that is not used as a keyword. */
  protected means<T>(_word: IToken, meaning: T): T {
    return meaning
  }
}
