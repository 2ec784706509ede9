import type { IToken } from 'chevrotain'
import { literal } from '../ast/build.ts'
import type { Call, Expr, OrderItem, Query } from '../ast/nodes.ts'
import { FormGrammar } from './form-grammar.ts'
import { queryStarts, type Rule, spanOf } from './grammar-base.ts'
import { membershipOf } from './lowering.ts'
import * as t from './tokens.ts'

/** Calls, and everything that may follow them. */
export abstract class CallGrammar extends FormGrammar {
  abstract readonly query: Rule<Query>

  readonly call: Rule<Expr> = this.rule('call', () => {
    const name = this.CONSUME(t.Name)
    return this.SUBRULE(this.callRest, { ARGS: [name] })
  })

  readonly operatorCall: Rule<Expr> = this.rule('operatorCall', () => {
    const name = this.OR<IToken>([{ ALT: () => this.CONSUME(t.BinaryOperator) }, { ALT: () => this.CONSUME(t.In) }])
    return this.SUBRULE(this.callRest, { ARGS: [name] })
  })

  readonly callRest: Rule<Expr, [IToken]> = this.rule('callRest', (name: IToken) => {
    let params: readonly Expr[] | null = null
    let list = this.SUBRULE(this.callList, { ARGS: [name] })
    this.OPTION(() => {
      params = list.args
      list = this.SUBRULE2(this.callList, { ARGS: [name] })
    })
    let orderBy = list.orderBy
    let filter: Expr | null = null
    let ignoreNulls = false
    let over: Call['over'] = null
    this.OPTION2({
      GATE: () => this.is(2, t.Group),
      DEF: () => {
        this.CONSUME(t.Within)
        this.CONSUME(t.Group)
        this.CONSUME(t.LParen)
        orderBy = this.SUBRULE(this.orderBy)
        this.CONSUME(t.RParen)
      },
    })
    this.OPTION3({
      GATE: () => this.is(2, t.LParen),
      DEF: () => {
        this.CONSUME(t.Filter)
        this.CONSUME2(t.LParen)
        this.CONSUME(t.Where)
        filter = this.SUBRULE(this.expression)
        this.CONSUME2(t.RParen)
      },
    })
    this.OPTION4({
      GATE: () => this.is(2, t.Nulls),
      DEF: () => {
        this.OR([
          {
            ALT: () => {
              this.CONSUME(t.Ignore)
              ignoreNulls = true
            },
          },
          { ALT: () => this.CONSUME(t.Respect) },
        ])
        this.CONSUME(t.Nulls)
      },
    })
    this.OPTION5({
      GATE: () => this.is(2, t.LParen) || this.isName(2),
      DEF: () => {
        this.CONSUME(t.Over)
        over = this.OR2<Call['over']>([
          { ALT: () => this.SUBRULE(this.window) },
          {
            ALT: () => {
              const token = this.CONSUME(t.Name)
              return this.ACTION(() => ({ kind: 'windowName', name: this.nameText(token), span: spanOf(token) }))
            },
          },
        ])
      },
    })
    return this.ACTION(() => {
      const span = this.until(name.startOffset)
      const { args, distinct } = list
      const call: Call = { kind: 'call', name: this.nameText(name), params, args, distinct, orderBy, filter, ignoreNulls, over, span }
      return membershipOf(call) ?? call
    })
  })

  readonly callList: Rule<{ args: readonly Expr[]; distinct: boolean; orderBy: readonly OrderItem[] }, [IToken]> = this.rule(
    'callList',
    (name: IToken) => {
      const args: Expr[] = []
      let distinct = false
      let orderBy: readonly OrderItem[] = []
      this.CONSUME(t.LParen)
      this.OR([
        {
          // `exists(SELECT …)`
          GATE: () => queryStarts.has(this.LA(1).tokenType),
          ALT: () => {
            const start = this.begin()
            const query = this.SUBRULE(this.query)
            this.ACTION(() => args.push({ kind: 'subquery', query, span: this.until(start) }))
          },
        },
        {
          ALT: () => {
            this.OPTION(() => {
              this.CONSUME(t.Distinct)
              distinct = true
            })
            this.MANY_SEP({ SEP: t.Comma, DEF: () => args.push(this.SUBRULE(this.argument)) })
            this.OPTION2({
              GATE: () => name.tokenType === t.Substring,
              DEF: () => {
                this.CONSUME(t.From)
                args.push(this.SUBRULE(this.expression))
                let length: Expr | null = null
                this.OPTION3(() => {
                  this.CONSUME(t.For)
                  length = this.SUBRULE2(this.expression)
                })
                // Without FOR, to the end. The function requires a length, and no text is longer than this.
                this.ACTION(() => args.push(length ?? { ...literal(2 ** 31 - 1), span: args.at(-1)!.span }))
              },
            })
            this.OPTION4(() => {
              orderBy = this.SUBRULE(this.orderBy)
            })
          },
        },
      ])
      this.CONSUME(t.RParen)
      return { args, distinct, orderBy }
    },
  )

  readonly argument: Rule<Expr> = this.choice<Expr>('argument', [
    {
      GATE: () => this.is(2, t.ColonEquals),
      ALT: () => {
        const token = this.CONSUME(t.Name)
        this.CONSUME(t.ColonEquals)
        const value = this.SUBRULE(this.expression)
        return this.ACTION(() => ({
          kind: 'namedArgument',
          name: this.nameText(token),
          value,
          span: this.until(token.startOffset),
        }))
      },
    },
    { ALT: () => this.SUBRULE(this.aliased) },
  ])
}
