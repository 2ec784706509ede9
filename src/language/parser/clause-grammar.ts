import type { Expr, GroupBy, Limit, NamedWindow, OrderItem, Setting } from '../ast/nodes.ts'
import { ExpressionGrammar } from './expression-grammar.ts'
import { type Rule, spanOf } from './grammar-base.ts'
import { parseNumber } from './literals.ts'
import * as t from './tokens.ts'

/** The clauses of a select after its conditions. */
export abstract class ClauseGrammar extends ExpressionGrammar {
  readonly top: Rule<Limit> = this.rule('top', () => {
    const start = this.begin()
    this.CONSUME(t.Top)
    const count = this.CONSUME(t.NumberLiteral)
    let withTies = false
    this.OPTION(() => {
      this.CONSUME(t.With)
      this.CONSUME(t.Ties)
      withTies = true
    })
    return this.ACTION(() => ({
      kind: 'limit',
      limit: { kind: 'literal', ...parseNumber(count.image), span: spanOf(count) },
      offset: null,
      percent: false,
      withTies,
      span: this.until(start),
    }))
  })

  readonly groupBy: Rule<GroupBy> = this.rule('groupBy', () => {
    const start = this.begin()
    let mode: GroupBy['mode'] = 'plain'
    let items: Expr[] = []
    const sets: (readonly Expr[])[] = []
    let withTotals = false
    this.CONSUME(t.Group)
    this.CONSUME(t.By)
    this.OR({
      DEF: [
        {
          GATE: () => this.is(1, t.All) && !this.is(2, t.LParen),
          ALT: () => {
            this.CONSUME(t.All)
            mode = 'all'
          },
        },
        {
          GATE: () => this.is(2, t.LParen),
          ALT: () => {
            this.CONSUME(t.Cube)
            items = this.SUBRULE(this.parenthesised)
            mode = 'cube'
          },
        },
        {
          GATE: () => this.is(2, t.LParen),
          ALT: () => {
            this.CONSUME(t.Rollup)
            items = this.SUBRULE2(this.parenthesised)
            mode = 'rollup'
          },
        },
        {
          GATE: () => this.is(2, t.Sets),
          ALT: () => {
            this.CONSUME(t.Grouping)
            this.CONSUME(t.Sets)
            this.CONSUME(t.LParen)
            this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => sets.push(this.SUBRULE(this.groupingSet)) })
            this.CONSUME(t.RParen)
            mode = 'sets'
          },
        },
        {
          ALT: () => {
            items = this.SUBRULE(this.expressions)
          },
        },
      ],
      ERR_MSG: 'an expression',
    })
    this.MANY({
      GATE: () => this.is(2, t.Cube, t.Rollup, t.Totals),
      DEF: () => {
        this.CONSUME(t.With)
        this.OR2([
          {
            ALT: () => {
              this.CONSUME2(t.Cube)
              mode = 'cube'
            },
          },
          {
            ALT: () => {
              this.CONSUME2(t.Rollup)
              mode = 'rollup'
            },
          },
          {
            ALT: () => {
              this.CONSUME(t.Totals)
              withTotals = true
            },
          },
        ])
      },
    })
    return { kind: 'groupBy', mode, items, sets, withTotals, span: this.until(start) }
  })

  readonly groupingSet: Rule<readonly Expr[]> = this.choice<readonly Expr[]>('groupingSet', [
    { GATE: () => this.is(1, t.LParen), ALT: () => this.SUBRULE(this.parenthesised) },
    {
      ALT: () => {
        const expr = this.SUBRULE(this.expression)
        return [expr]
      },
    },
  ])

  readonly selectOrder: Rule<{ items: readonly OrderItem[]; all: boolean }> = this.choice<{ items: readonly OrderItem[]; all: boolean }>(
    'selectOrder',
    [
      {
        GATE: () => this.is(3, t.All) && !this.is(4, t.LParen),
        ALT: () => {
          this.CONSUME(t.Order)
          this.CONSUME(t.By)
          this.CONSUME(t.All)
          return { items: [], all: true }
        },
      },
      { ALT: () => ({ items: this.SUBRULE(this.orderBy), all: false }) },
    ],
  )

  readonly limit: Rule<Limit> = this.rule('limit', () => {
    const start = this.begin()
    let limit: Expr | null = null
    let offset: Expr | null = null
    let percent = false
    let withTies = false
    this.OR([
      {
        ALT: () => {
          this.CONSUME(t.Limit)
          limit = this.SUBRULE(this.expression)
          this.OPTION(() => {
            this.CONSUME(t.Comma)
            offset = limit
            limit = this.SUBRULE2(this.expression)
          })
          this.OPTION2(() => {
            this.CONSUME(t.PercentWord)
            percent = true
          })
          this.OPTION3(() => {
            this.CONSUME(t.With)
            this.CONSUME(t.Ties)
            withTies = true
          })
          this.OPTION4(() => {
            const keyword = this.CONSUME(t.Offset)
            this.ACTION(() => {
              if (offset) this.problem('OFFSET is given twice', spanOf(keyword))
            })
            offset = this.SUBRULE3(this.expression)
          })
        },
      },
      {
        ALT: () => {
          this.CONSUME2(t.Offset)
          offset = this.SUBRULE4(this.expression)
        },
      },
    ])
    return { kind: 'limit', limit, offset, percent, withTies, span: this.until(start) }
  })

  readonly namedWindow: Rule<NamedWindow> = this.rule('namedWindow', () => {
    const start = this.begin()
    const name = this.SUBRULE(this.definedName)
    this.CONSUME(t.As)
    const window = this.SUBRULE(this.window)
    return { kind: 'namedWindow', name, window, span: this.until(start) }
  })

  readonly settings: Rule<Setting[]> = this.rule('settings', () => {
    const settings: Setting[] = []
    this.CONSUME(t.Settings)
    this.AT_LEAST_ONE_SEP({
      SEP: t.Comma,
      DEF: () => {
        const start = this.begin()
        const name = this.SUBRULE(this.definedName)
        this.CONSUME(t.Equals)
        const value = this.SUBRULE(this.expression)
        settings.push({ kind: 'setting', name, value, span: this.until(start) })
      },
    })
    return settings
  })
}
