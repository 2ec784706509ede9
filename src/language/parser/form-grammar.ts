import type { IToken } from 'chevrotain'
import { intervalFunctions } from '../ast/interval-functions.ts'
import type { Expr } from '../ast/nodes.ts'
import { callNode } from './expression-stack.ts'
import { type Rule, spanOf } from './grammar-base.ts'
import { ListGrammar } from './list-grammar.ts'
import { unquote } from './literals.ts'
import { extractCall, intervalCall, isUnit, likelyUnits } from './lowering.ts'
import * as t from './tokens.ts'

/** Forms that start with a keyword, and names of types. */
export abstract class FormGrammar extends ListGrammar {
  abstract readonly array: Rule<Expr>

  readonly wordForm: Rule<Expr> = this.rule('wordForm', () => {
    const start = this.begin()
    return this.OR<Expr>([
      {
        ALT: () => {
          this.CONSUME(t.Inf)
          return this.ACTION(() => ({ kind: 'literal', type: 'float', value: Number.POSITIVE_INFINITY, span: this.until(start) }))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.NaNWord)
          return this.ACTION(() => ({ kind: 'literal', type: 'float', value: Number.NaN, span: this.until(start) }))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.DateWord)
          const token = this.CONSUME(t.StringLiteral)
          return this.ACTION(() => callNode('toDate', [stringOf(token)], this.until(start)))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Timestamp)
          const token = this.CONSUME2(t.StringLiteral)
          return this.ACTION(() => callNode('toDateTime', [stringOf(token)], this.until(start)))
        },
      },
      { ALT: () => this.SUBRULE(this.interval) },
      { ALT: () => this.SUBRULE(this.cast) },
      {
        ALT: () => {
          this.CONSUME(t.Extract)
          this.CONSUME(t.LParen)
          const unit = this.CONSUME(t.Word)
          this.CONSUME(t.From)
          const expr = this.SUBRULE(this.expression)
          this.CONSUME(t.RParen)
          return this.ACTION(() => {
            const call = extractCall(unit.image, expr, this.until(start))
            if (!call) this.problem(`EXTRACT has no unit ${unit.image}`, spanOf(unit))
            return call ?? expr
          })
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Trim)
          this.CONSUME2(t.LParen)
          const name = this.OR2<string>([
            { ALT: () => this.means(this.CONSUME(t.Both), 'trim') },
            { ALT: () => this.means(this.CONSUME(t.Leading), 'trimLeft') },
            { ALT: () => this.means(this.CONSUME(t.Trailing), 'trimRight') },
          ])
          const characters = this.SUBRULE2(this.expression)
          this.CONSUME2(t.From)
          const expr = this.SUBRULE3(this.expression)
          this.CONSUME2(t.RParen)
          return this.ACTION(() => callNode(name, [expr, characters], this.until(start)))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.ArrayWord)
          return this.SUBRULE(this.array)
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.LambdaWord)
          const params: IToken[] = []
          this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => params.push(this.CONSUME(t.Name)) })
          this.CONSUME(t.Colon)
          const body = this.SUBRULE4(this.expression)
          return this.ACTION(() => this.lambda(params, body, start))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.ColumnsWord)
          this.CONSUME3(t.LParen)
          const items = this.SUBRULE(this.expressions)
          this.CONSUME3(t.RParen)
          return this.ACTION(() => {
            const only = items.length === 1 ? items[0]! : null
            const pattern = only?.kind === 'literal' && only.type === 'string' ? String(only.value) : null
            return { kind: 'columns', pattern, items: pattern === null ? items : [], span: this.until(start) }
          })
        },
      },
    ])
  })

  readonly interval: Rule<Expr> = this.rule('interval', () => {
    const start = this.begin()
    let unit: IToken | null = null
    this.CONSUME(t.Interval)
    const amount = this.SUBRULE(this.expression)
    this.OPTION({
      GATE: () => isUnit(this.LA(1).image),
      DEF: () => {
        unit = this.CONSUME(t.Word)
      },
    })
    return this.ACTION(() => {
      const span = this.until(start)
      const call = intervalCall(amount, unit?.image ?? null, span)
      if (typeof call !== 'string') return call
      const next = this.LA(1)
      const given = amount.kind === 'literal' && typeof amount.value === 'string' ? amount.value.replace(/[^a-z]/gi, '') : next.image
      const candidates = /^[a-z]+$/i.test(given) ? likelyUnits(given) : []
      this.problem(call, span, { expected: Object.keys(intervalFunctions).join(', '), candidates })
      return amount
    })
  })

  readonly cast: Rule<Expr> = this.rule('cast', () => {
    const start = this.begin()
    const isTry = this.OR<boolean>([
      { ALT: () => this.means(this.CONSUME(t.Cast), false) },
      { ALT: () => this.means(this.CONSUME(t.TryCast), true) },
    ])
    this.CONSUME(t.LParen)
    const expr = this.SUBRULE(this.expression)
    const type = this.OR2<string>([
      {
        ALT: () => {
          this.CONSUME(t.As)
          return this.SUBRULE(this.typeName)
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Comma)
          const token = this.CONSUME(t.StringLiteral)
          return this.ACTION(() => unquote(token.image))
        },
      },
    ])
    this.CONSUME(t.RParen)
    return { kind: 'cast', expr, type, isTry, span: this.until(start) }
  })

  /** `Nullable(Float64)`, `Tuple(a Int64, b String)`, `DateTime64(6, 'UTC')`, `double precision`, `int[]` */
  readonly typeName: Rule<string> = this.rule('typeName', () => {
    let text = this.CONSUME(t.Word).image
    this.ACTION(() => this.enter(this.begin()))
    this.OPTION({
      GATE: () => this.LA(1).image.toLowerCase() === 'precision' && text.toLowerCase() === 'double',
      DEF: () => {
        text += ` ${this.CONSUME2(t.Word).image}`
      },
    })
    this.OPTION2(() => {
      const args: string[] = []
      this.CONSUME(t.LParen)
      this.MANY_SEP({ SEP: t.Comma, DEF: () => args.push(this.SUBRULE(this.typeArgument)) })
      this.CONSUME(t.RParen)
      text += `(${args.join(', ')})`
    })
    this.MANY({
      GATE: () => this.is(2, t.RBracket),
      DEF: () => {
        this.CONSUME(t.LBracket)
        this.CONSUME(t.RBracket)
        text = `Array(${text})`
      },
    })
    this.ACTION(() => this.depth--)
    return text
  })

  readonly typeArgument: Rule<string> = this.choice<string>('typeArgument', [
    { ALT: () => this.CONSUME(t.NumberLiteral).image },
    {
      ALT: () => {
        let text = this.CONSUME(t.StringLiteral).image
        this.OPTION(() => {
          this.CONSUME(t.Equals)
          text += ` = ${this.CONSUME2(t.NumberLiteral).image}`
        })
        return text
      },
    },
    {
      GATE: () => this.isWord(2),
      ALT: () => {
        const name = this.CONSUME(t.Word).image
        return `${name} ${this.SUBRULE(this.typeName)}`
      },
    },
    { ALT: () => this.SUBRULE2(this.typeName) },
  ])

  // looking ahead

  protected isWordForm(): boolean {
    const type = this.LA(1).tokenType
    if (type === t.Identifier || type === t.QuotedIdentifier) return false
    switch (type) {
      case t.Inf:
      case t.NaNWord:
        return !this.is(2, t.LParen, t.Dot)
      case t.DateWord:
      case t.Timestamp:
        return this.is(2, t.StringLiteral)
      case t.Cast:
      case t.TryCast:
      case t.ColumnsWord:
        return this.is(2, t.LParen)
      case t.Extract:
        return this.is(2, t.LParen) && this.is(4, t.From) && this.isWord(3)
      case t.Trim:
        return this.is(2, t.LParen) && this.is(3, t.Both, t.Leading, t.Trailing) && !this.is(4, t.RParen, t.Comma, t.Dot)
      case t.ArrayWord:
        return this.is(2, t.LBracket)
      case t.LambdaWord:
        return this.isName(2) && this.is(3, t.Colon, t.Comma)
      case t.Interval:
        return this.isIntervalForm()
      default:
        return false
    }
  }

  protected isIntervalForm(): boolean {
    const next = this.LA(2)
    if (this.is(2, t.StringLiteral, t.NumberLiteral, t.LBrace)) return true
    if (next.tokenType === t.LParen) return isUnit((next.payload as IToken | undefined)?.image ?? '')
    if (next.tokenType === t.Minus) return this.is(3, t.NumberLiteral, t.StringLiteral) && isUnit(this.LA(4).image)
    return (
      this.isName(2) && !this.is(2, t.Asc, t.Desc, t.Over, t.For) && (isUnit(this.LA(3).image) || this.is(3, t.Dot, t.LParen, t.LBracket))
    )
  }
}

const stringOf = (token: IToken): Expr => ({ kind: 'literal', type: 'string', value: unquote(token.image), span: spanOf(token) })
