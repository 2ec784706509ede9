import type { TokenType } from 'chevrotain'
import type { Span } from '../../errors/span.ts'
import type { Alias, Expr, Field, Star } from '../ast/nodes.ts'
import { ExpressionStack } from './expression-stack.ts'
import { type Rule, spanOf } from './grammar-base.ts'
import { parseNumber, unquote } from './literals.ts'
import { binaryOperators, isDistinctFrom, isNotDistinctFrom, level, levelOf, noLevel, notIlike, notLike } from './operators.ts'
import * as t from './tokens.ts'
import { endOf } from './tokens.ts'
import { type List, ValueGrammar } from './value-grammar.ts'

/** Operators that are also functions: `and(a, b)`. */
const operatorFunctions: ReadonlySet<TokenType> = new Set([t.And, t.Or, t.Like, t.Ilike, t.In])

/** Operators and their operands. */
export abstract class ExpressionGrammar extends ValueGrammar {
  /** Operators that bind more loosely than `loosest` are left to the caller. */
  readonly expression: Rule<Expr, [loosest?: number]> = this.rule('expression', (loosest: number = noLevel - 1) => {
    const around = this.stack
    this.ACTION(() => {
      this.enter(this.begin())
      this.stack = new ExpressionStack(loosest)
    })
    this.SUBRULE(this.operand)
    this.MANY(this.operations)
    return this.ACTION(() => {
      this.depth--
      const expr = this.stack.finish()
      this.stack = around
      return expr
    })
  })

  // The following runs for every operand: a new closure for each would cost more than the rest.
  /** The expression that is being read. */
  private stack = new ExpressionStack(noLevel)
  private readonly operations = {
    GATE: () => levelOf(this.LA(1).tokenType, this.LA(2).tokenType) <= this.stack.loosest,
    DEF: () => this.SUBRULE(this.operation),
  }

  readonly operation: Rule<unknown> = this.choice<unknown>('operation', [
    {
      ALT: () => {
        const token = this.CONSUME(t.BinaryOperator)
        this.ACTION(() => this.stack.binary(binaryOperators.get(token.tokenType)!))
        this.SUBRULE(this.operand)
      },
    },
    {
      ALT: () => {
        this.CONSUME(t.Not)
        this.OR2([
          {
            ALT: () => {
              this.CONSUME(t.Like)
              this.ACTION(() => this.stack.binary(notLike))
              this.SUBRULE2(this.operand)
            },
          },
          {
            ALT: () => {
              this.CONSUME(t.Ilike)
              this.ACTION(() => this.stack.binary(notIlike))
              this.SUBRULE3(this.operand)
            },
          },
          { ALT: () => this.SUBRULE(this.membership, { ARGS: [true] }) },
          { ALT: () => this.SUBRULE(this.between, { ARGS: [true] }) },
        ])
      },
    },
    { ALT: () => this.SUBRULE2(this.membership, { ARGS: [false] }) },
    { ALT: () => this.SUBRULE2(this.between, { ARGS: [false] }) },
    { ALT: () => this.SUBRULE(this.isTest) },
    {
      ALT: () => {
        this.CONSUME(t.Question)
        const then = this.SUBRULE(this.expression)
        this.CONSUME(t.Colon)
        this.ACTION(() => this.stack.infix({ kind: 'ternary', then, level: level.ternary }))
        this.SUBRULE4(this.operand)
      },
    },
  ])

  readonly membership: Rule<void, [boolean]> = this.rule('membership', (not: boolean) => {
    let cohort = false
    this.CONSUME(t.In)
    this.OPTION({
      GATE: () => this.is(2, t.NumberLiteral, t.StringLiteral, t.LParen, t.LBrace) || this.isName(2),
      DEF: () => {
        this.CONSUME(t.Cohort)
        cohort = true
      },
    })
    this.ACTION(() => this.stack.infix({ kind: 'in', not, cohort, level: level.compare }))
    this.OR([
      {
        GATE: () => !cohort && !this.isQuery(1),
        ALT: () => {
          const start = this.begin()
          this.CONSUME(t.LParen)
          const list = this.SUBRULE(this.listItems)
          this.CONSUME(t.RParen)
          this.ACTION(() => this.stack.operand(setOf(list, this.until(start))))
        },
      },
      { ALT: () => this.SUBRULE(this.operand) },
    ])
  })

  readonly between: Rule<void, [boolean]> = this.rule('between', (not: boolean) => {
    this.CONSUME(t.Between)
    const low = this.SUBRULE(this.expression, { ARGS: [level.nullish] })
    this.CONSUME(t.And)
    this.ACTION(() => this.stack.infix({ kind: 'between', not, low, level: level.between }))
    this.SUBRULE(this.operand)
  })

  readonly isTest: Rule<void> = this.rule('isTest', () => {
    let not = false
    this.CONSUME(t.Is)
    this.OPTION(() => {
      this.CONSUME(t.Not)
      not = true
    })
    this.OR([
      {
        ALT: () => {
          const token = this.CONSUME(t.Null)
          this.ACTION(() => this.stack.postfix(not ? 'isNotNull' : 'isNull', endOf(token)))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Distinct)
          this.CONSUME(t.From)
          this.ACTION(() => this.stack.binary(not ? isNotDistinctFrom : isDistinctFrom))
          this.SUBRULE(this.operand)
        },
      },
    ])
  })

  private readonly prefix: Rule<unknown> = this.choice<unknown>('prefix', [
    {
      ALT: () => {
        const token = this.CONSUME(t.Minus)
        this.ACTION(() => this.stack.prefix('negate', token.startOffset))
      },
    },
    { ALT: () => this.CONSUME(t.Plus) },
    {
      ALT: () => {
        const token = this.CONSUME(t.Not)
        this.ACTION(() => this.stack.prefix('not', token.startOffset))
      },
    },
  ])
  private readonly prefixes = () => this.SUBRULE(this.prefix)

  readonly operand: Rule<void> = this.rule('operand', () => {
    this.MANY(this.prefixes)
    let expr = this.SUBRULE(this.primary)
    this.MANY2(() => {
      expr = this.SUBRULE(this.postfix, { ARGS: [expr] })
    })
    this.ACTION(() => this.stack.operand(expr))
  })

  readonly postfix: Rule<Expr, [Expr]> = this.rule('postfix', (object: Expr) =>
    this.OR<Expr>([
      {
        ALT: () => {
          this.CONSUME(t.Dot)
          const index = this.SUBRULE(this.element)
          return this.ACTION(() => this.access(object, index, { dotted: true, nullish: false }))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.LBracket)
          const index = this.SUBRULE(this.expression)
          this.CONSUME(t.RBracket)
          return this.ACTION(() => this.access(object, index, { dotted: false, nullish: false }))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.QuestionDot)
          return this.OR2<Expr>([
            {
              ALT: () => {
                this.CONSUME2(t.LBracket)
                const index = this.SUBRULE2(this.expression)
                this.CONSUME2(t.RBracket)
                return this.ACTION(() => this.access(object, index, { dotted: false, nullish: true }))
              },
            },
            {
              ALT: () => {
                const index = this.SUBRULE2(this.element)
                return this.ACTION(() => this.access(object, index, { dotted: true, nullish: true }))
              },
            },
          ])
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.DoubleColon)
          const type = this.SUBRULE(this.typeName)
          return this.ACTION(() => ({ kind: 'cast', expr: object, type, isTry: false, span: this.until(object.span.start) }))
        },
      },
    ]),
  )

  /** The name or number after a dot. */
  readonly element: Rule<Expr> = this.choice<Expr>('element', {
    DEF: [
      {
        ALT: () => {
          const token = this.CONSUME(t.NumberLiteral)
          return this.ACTION(() => ({ kind: 'literal', ...parseNumber(token.image), span: spanOf(token) }))
        },
      },
      {
        ALT: () => {
          const token = this.CONSUME(t.Word)
          return this.ACTION(() => ({ kind: 'literal', type: 'string', value: this.nameText(token), span: spanOf(token) }))
        },
      },
    ],
    ERR_MSG: 'a name or a number',
  })

  readonly primary: Rule<Expr> = this.choice<Expr>('primary', {
    DEF: [
      { ALT: () => this.SUBRULE(this.named) },
      { ALT: () => this.SUBRULE(this.plainLiteral) },
      { ALT: () => this.SUBRULE(this.parens) },
      { ALT: () => this.SUBRULE(this.array) },
      { GATE: () => this.isPlaceholder(), ALT: () => this.SUBRULE(this.placeholder) },
      { ALT: () => this.SUBRULE(this.dict) },
      { ALT: () => this.SUBRULE(this.caseExpression) },
      { ALT: () => this.SUBRULE(this.template) },
      {
        ALT: () => {
          const start = this.begin()
          this.CONSUME(t.Asterisk)
          return this.SUBRULE(this.starOptions, { ARGS: [[], start] })
        },
      },
      { ALT: () => this.SUBRULE(this.tag) },
      {
        ALT: () => {
          const start = this.begin()
          this.CONSUME(t.Hash)
          const token = this.CONSUME(t.NumberLiteral)
          return this.ACTION(() => ({ kind: 'positional', index: Number(token.image), span: this.until(start) }))
        },
      },
      {
        GATE: () => this.is(2, t.LParen) && operatorFunctions.has(this.LA(1).tokenType),
        ALT: () => this.SUBRULE(this.operatorCall),
      },
    ],
    ERR_MSG: 'an expression',
  })

  readonly plainLiteral: Rule<Expr> = this.choice<Expr>('plainLiteral', [
    {
      ALT: () => {
        const token = this.CONSUME(t.NumberLiteral)
        return this.ACTION(() => ({ kind: 'literal', ...parseNumber(token.image), span: spanOf(token) }))
      },
    },
    {
      ALT: () => {
        const token = this.CONSUME(t.StringLiteral)
        return this.ACTION(() => ({ kind: 'literal', type: 'string', value: unquote(token.image), span: spanOf(token) }))
      },
    },
    {
      ALT: () => {
        const token = this.CONSUME(t.Null)
        return this.ACTION(() => ({ kind: 'literal', type: 'null', value: null, span: spanOf(token) }))
      },
    },
    {
      ALT: () => {
        const token = this.CONSUME(t.True)
        return this.ACTION(() => ({ kind: 'literal', type: 'bool', value: true, span: spanOf(token) }))
      },
    },
    {
      ALT: () => {
        const token = this.CONSUME(t.False)
        return this.ACTION(() => ({ kind: 'literal', type: 'bool', value: false, span: spanOf(token) }))
      },
    },
  ])

  /** Everything that starts with a name: columns, calls, and forms that start with a keyword. */
  readonly named: Rule<Expr> = this.choice<Expr>('named', [
    { GATE: () => this.isWordForm(), ALT: () => this.SUBRULE(this.wordForm) },
    { GATE: () => this.is(2, t.LParen), ALT: () => this.SUBRULE(this.call) },
    {
      GATE: () => this.is(2, t.Arrow),
      ALT: () => {
        const token = this.CONSUME(t.Name)
        this.CONSUME(t.Arrow)
        const body = this.SUBRULE(this.expression)
        return this.ACTION(() => this.lambda([token], body, token.startOffset))
      },
    },
    { ALT: () => this.SUBRULE(this.chain) },
  ])

  readonly chain: Rule<Expr> = this.rule('chain', () => {
    const chain: string[] = []
    const first = this.CONSUME(t.Name)
    this.ACTION(() => chain.push(this.nameText(first)))
    const field = (): Field => ({ kind: 'field', chain, span: this.until(first.startOffset) })
    if (!this.RECORDING_PHASE && !this.is(1, t.Dot)) return field()
    this.MANY({
      GATE: () => !this.is(2, t.NumberLiteral, t.Asterisk),
      DEF: () => {
        this.CONSUME(t.Dot)
        const part = this.CONSUME(t.Word)
        this.ACTION(() => chain.push(this.nameText(part, chain.at(-1))))
      },
    })
    let star: Expr | null = null
    this.OPTION({
      GATE: () => this.is(2, t.Asterisk),
      DEF: () => {
        this.CONSUME2(t.Dot)
        this.CONSUME(t.Asterisk)
        star = this.SUBRULE(this.starOptions, { ARGS: [chain, first.startOffset] })
      },
    })
    return this.ACTION(() => star ?? field())
  })

  readonly starOptions: Rule<Expr, [readonly string[], number]> = this.rule('starOptions', (table: readonly string[], start: number) => {
    let exclude: string[] = []
    const replace: Alias[] = []
    this.OPTION(() => {
      this.CONSUME(t.Exclude)
      exclude = this.OR<string[]>([{ ALT: () => this.SUBRULE(this.nameList) }, { ALT: () => [this.SUBRULE(this.definedName)] }])
    })
    this.OPTION2(() => {
      this.CONSUME(t.Replace)
      const items = this.SUBRULE(this.parenthesised)
      this.ACTION(() => {
        for (const item of items)
          if (item.kind === 'alias') replace.push(item)
          else this.problem('expected AS with the name of the column to replace', item.span)
      })
    })
    return this.ACTION(() => ({ kind: 'star', table, exclude, replace, span: this.until(start) }) satisfies Star)
  })
}

/** `IN (5)` is a set of one, but `IN ([1, 2])` and `IN ({names})` already name a set. */
function setOf({ items, isList }: List, span: Span): Expr {
  const only = isList ? undefined : items[0]
  if (only && (only.kind === 'array' || only.kind === 'tuple' || only.kind === 'placeholder' || only.kind === 'subquery')) return only
  return { kind: 'tuple', items, span }
}
