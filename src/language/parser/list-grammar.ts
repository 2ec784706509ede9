import type { Alias, Expr, FrameBound, OrderFill, OrderItem, WindowSpec } from '../ast/nodes.ts'
import { GrammarBase, type Rule } from './grammar-base.ts'
import { unquote } from './literals.ts'
import { level } from './operators.ts'
import * as t from './tokens.ts'

/** Lists of expressions, orders and windows. */
export abstract class ListGrammar extends GrammarBase {
  abstract readonly expression: Rule<Expr, [loosest?: number]>

  readonly aliased: Rule<Expr> = this.rule('aliased', () => {
    const expr = this.SUBRULE(this.expression)
    let name: string | null = null
    this.OPTION(() => {
      this.CONSUME(t.As)
      name = this.SUBRULE(this.definedName)
    })
    return this.ACTION(() => (name === null ? expr : ({ kind: 'alias', expr, name, span: this.until(expr.span.start) } satisfies Alias)))
  })

  readonly expressions: Rule<Expr[]> = this.rule('expressions', () => {
    const items: Expr[] = []
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => items.push(this.SUBRULE(this.aliased)) })
    return items
  })

  readonly parenthesised: Rule<Expr[]> = this.rule('parenthesised', () => {
    const items: Expr[] = []
    this.CONSUME(t.LParen)
    this.MANY_SEP({ SEP: t.Comma, DEF: () => items.push(this.SUBRULE(this.aliased)) })
    this.CONSUME(t.RParen)
    return items
  })

  readonly orderBy: Rule<OrderItem[]> = this.rule('orderBy', () => {
    const items: OrderItem[] = []
    this.CONSUME(t.Order)
    this.CONSUME(t.By)
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => items.push(this.SUBRULE(this.orderItem)) })
    return items
  })

  readonly orderItem: Rule<OrderItem> = this.rule('orderItem', () => {
    const start = this.begin()
    const expr = this.SUBRULE(this.aliased)
    let descending = false
    let nulls: OrderItem['nulls'] = null
    let collate: string | null = null
    let fill: OrderFill | null = null
    this.OPTION(() =>
      this.OR([
        { ALT: () => this.CONSUME(t.Asc) },
        {
          ALT: () => {
            this.CONSUME(t.Desc)
            descending = true
          },
        },
      ]),
    )
    this.OPTION2(() => {
      this.CONSUME(t.Nulls)
      nulls = this.OR2<'first' | 'last'>([
        { ALT: () => this.means(this.CONSUME(t.First), 'first') },
        { ALT: () => this.means(this.CONSUME(t.Last), 'last') },
      ])
    })
    this.OPTION3(() => {
      this.CONSUME(t.Collate)
      const token = this.CONSUME(t.StringLiteral)
      collate = this.ACTION(() => unquote(token.image))
    })
    this.OPTION4({
      GATE: () => this.is(2, t.Fill),
      DEF: () => {
        fill = this.SUBRULE(this.orderFill)
      },
    })
    return { kind: 'orderItem', expr, descending, nulls, collate, fill, span: this.until(start) }
  })

  readonly orderFill: Rule<OrderFill> = this.rule('orderFill', () => {
    const start = this.begin()
    let from: Expr | null = null
    let to: Expr | null = null
    let step: Expr | null = null
    this.CONSUME(t.With)
    this.CONSUME(t.Fill)
    this.OPTION(() => {
      this.CONSUME(t.From)
      from = this.SUBRULE(this.expression)
    })
    this.OPTION2(() => {
      this.CONSUME(t.To)
      to = this.SUBRULE2(this.expression)
    })
    this.OPTION3(() => {
      this.CONSUME(t.Step)
      step = this.SUBRULE3(this.expression)
    })
    return { kind: 'orderFill', from, to, step, span: this.until(start) }
  })

  readonly window: Rule<WindowSpec> = this.rule('window', () => {
    const start = this.begin()
    let partitionBy: Expr[] = []
    let orderBy: readonly OrderItem[] = []
    let frame: WindowSpec['frame'] = null
    this.CONSUME(t.LParen)
    this.OPTION(() => {
      this.CONSUME(t.Partition)
      this.CONSUME(t.By)
      partitionBy = this.SUBRULE(this.expressions)
    })
    this.OPTION2(() => {
      orderBy = this.SUBRULE(this.orderBy)
    })
    this.OPTION3(() => {
      const unit = this.OR<'rows' | 'range'>([
        { ALT: () => this.means(this.CONSUME(t.Rows), 'rows') },
        { ALT: () => this.means(this.CONSUME(t.Range), 'range') },
      ])
      frame = this.OR2<WindowSpec['frame']>([
        {
          ALT: () => {
            this.CONSUME(t.Between)
            const first = this.SUBRULE(this.frameBound)
            this.CONSUME(t.And)
            const last = this.SUBRULE2(this.frameBound)
            return { unit, start: first, end: last }
          },
        },
        { ALT: () => ({ unit, start: this.SUBRULE3(this.frameBound), end: null }) },
      ])
    })
    this.CONSUME(t.RParen)
    return { kind: 'window', partitionBy, orderBy, frame, span: this.until(start) }
  })

  readonly frameBound: Rule<FrameBound> = this.rule('frameBound', () => {
    const start = this.begin()
    return this.OR<FrameBound>([
      {
        GATE: () => this.is(2, t.Row),
        ALT: () => {
          this.CONSUME(t.Current)
          this.CONSUME(t.Row)
          return { kind: 'frameBound', type: 'current row', offset: null, span: this.until(start) }
        },
      },
      {
        GATE: () => this.is(2, t.Preceding, t.Following),
        ALT: () => {
          this.CONSUME(t.Unbounded)
          const type = this.SUBRULE(this.frameSide)
          return { kind: 'frameBound', type: `unbounded ${type}` as const, offset: null, span: this.until(start) }
        },
      },
      {
        ALT: () => {
          const offset = this.SUBRULE(this.expression, { ARGS: [level.nullish] })
          const type = this.SUBRULE2(this.frameSide)
          return { kind: 'frameBound', type, offset, span: this.until(start) }
        },
      },
    ])
  })

  readonly frameSide: Rule<'preceding' | 'following'> = this.choice<'preceding' | 'following'>('frameSide', [
    { ALT: () => this.means(this.CONSUME(t.Preceding), 'preceding') },
    { ALT: () => this.means(this.CONSUME(t.Following), 'following') },
  ])
}
