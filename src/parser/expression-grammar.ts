import type { IToken, TokenType } from 'chevrotain'
import { literal } from '../ast/build.ts'
import type {
  Alias,
  Call,
  DictEntry,
  Expr,
  Field,
  FrameBound,
  OrderFill,
  OrderItem,
  Placeholder,
  Query,
  Star,
  Tag,
  WindowSpec,
} from '../ast/nodes.ts'
import type { Span } from '../errors/span.ts'
import { callNode, ExpressionStack } from './expression-stack.ts'
import { GrammarBase, queryStarts, type Rule, spanOf } from './grammar-base.ts'
import { parseNumber, undoEscapes, unquote } from './literals.ts'
import { caseCall, extractCall, intervalCall, isUnit, membershipOf } from './lowering.ts'
import { binaryOperators, isDistinctFrom, isNotDistinctFrom, level, levelOf, noLevel, notIlike, notLike } from './operators.ts'
import * as t from './tokens.ts'
import { endOf } from './tokens.ts'

/** Operators that are also functions: `and(a, b)`. */
const operatorFunctions: ReadonlySet<TokenType> = new Set([t.And, t.Or, t.Like, t.Ilike, t.In])

export abstract class ExpressionGrammar extends GrammarBase {
  abstract readonly query: Rule<Query>

  /** Operators looser than `loosest` are left to whoever asked. */
  readonly expression: Rule<Expr, [loosest?: number]> = this.rule('expression', (loosest: number = noLevel - 1) => {
    const stack = this.ACTION(() => {
      this.enter(this.begin())
      return new ExpressionStack()
    })
    this.SUBRULE(this.operand, { ARGS: [stack] })
    this.MANY({
      GATE: () => levelOf(this.LA(1).tokenType, this.LA(2).tokenType) <= loosest,
      DEF: () => this.SUBRULE(this.operation, { ARGS: [stack] }),
    })
    return this.ACTION(() => {
      this.depth--
      return stack.finish()
    })
  })

  readonly operation: Rule<void, [ExpressionStack]> = this.rule('operation', (stack: ExpressionStack) => {
    this.OR([
      {
        ALT: () => {
          const token = this.CONSUME(t.BinaryOperator)
          this.ACTION(() => stack.binary(binaryOperators.get(token.tokenType)!))
          this.SUBRULE(this.operand, { ARGS: [stack] })
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Not)
          this.OR2([
            {
              ALT: () => {
                this.CONSUME(t.Like)
                this.ACTION(() => stack.binary(notLike))
                this.SUBRULE2(this.operand, { ARGS: [stack] })
              },
            },
            {
              ALT: () => {
                this.CONSUME(t.Ilike)
                this.ACTION(() => stack.binary(notIlike))
                this.SUBRULE3(this.operand, { ARGS: [stack] })
              },
            },
            { ALT: () => this.SUBRULE(this.membership, { ARGS: [stack, true] }) },
            { ALT: () => this.SUBRULE(this.between, { ARGS: [stack, true] }) },
          ])
        },
      },
      { ALT: () => this.SUBRULE2(this.membership, { ARGS: [stack, false] }) },
      { ALT: () => this.SUBRULE2(this.between, { ARGS: [stack, false] }) },
      { ALT: () => this.SUBRULE(this.isTest, { ARGS: [stack] }) },
      {
        ALT: () => {
          this.CONSUME(t.Question)
          const then = this.SUBRULE(this.expression)
          this.CONSUME(t.Colon)
          this.ACTION(() => stack.infix({ kind: 'ternary', then, level: level.ternary }))
          this.SUBRULE4(this.operand, { ARGS: [stack] })
        },
      },
    ])
  })

  readonly membership: Rule<void, [ExpressionStack, boolean]> = this.rule('membership', (stack: ExpressionStack, not: boolean) => {
    let cohort = false
    this.CONSUME(t.In)
    this.OPTION({
      GATE: () => this.is(2, t.NumberLiteral, t.StringLiteral, t.LParen, t.LBrace) || this.isName(2),
      DEF: () => {
        this.CONSUME(t.Cohort)
        cohort = true
      },
    })
    this.ACTION(() => stack.infix({ kind: 'in', not, cohort, level: level.compare }))
    this.OR([
      {
        GATE: () => !cohort && !this.isQuery(1),
        ALT: () => {
          const start = this.begin()
          this.CONSUME(t.LParen)
          const list = this.SUBRULE(this.listItems)
          this.CONSUME(t.RParen)
          this.ACTION(() => stack.operand(setOf(list, this.until(start))))
        },
      },
      { ALT: () => this.SUBRULE(this.operand, { ARGS: [stack] }) },
    ])
  })

  readonly between: Rule<void, [ExpressionStack, boolean]> = this.rule('between', (stack: ExpressionStack, not: boolean) => {
    this.CONSUME(t.Between)
    const low = this.SUBRULE(this.expression, { ARGS: [level.nullish] })
    this.CONSUME(t.And)
    this.ACTION(() => stack.infix({ kind: 'between', not, low, level: level.between }))
    this.SUBRULE(this.operand, { ARGS: [stack] })
  })

  readonly isTest: Rule<void, [ExpressionStack]> = this.rule('isTest', (stack: ExpressionStack) => {
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
          this.ACTION(() => stack.postfix(not ? 'isNotNull' : 'isNull', endOf(token)))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Distinct)
          this.CONSUME(t.From)
          this.ACTION(() => stack.binary(not ? isNotDistinctFrom : isDistinctFrom))
          this.SUBRULE(this.operand, { ARGS: [stack] })
        },
      },
    ])
  })

  readonly operand: Rule<void, [ExpressionStack]> = this.rule('operand', (stack: ExpressionStack) => {
    this.MANY(() =>
      this.OR([
        {
          ALT: () => {
            const token = this.CONSUME(t.Minus)
            this.ACTION(() => stack.prefix('negate', token.startOffset))
          },
        },
        { ALT: () => this.CONSUME(t.Plus) },
        {
          ALT: () => {
            const token = this.CONSUME(t.Not)
            this.ACTION(() => stack.prefix('not', token.startOffset))
          },
        },
      ]),
    )
    let expr = this.SUBRULE(this.primary)
    this.MANY2(() => {
      expr = this.SUBRULE(this.postfix, { ARGS: [expr] })
    })
    this.ACTION(() => stack.operand(expr))
  })

  readonly postfix: Rule<Expr, [Expr]> = this.rule('postfix', (object: Expr) =>
    this.OR<Expr>([
      {
        ALT: () => {
          this.CONSUME(t.Dot)
          const index = this.SUBRULE(this.element)
          return this.ACTION(() => this.access(object, index, false))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.LBracket)
          const index = this.SUBRULE(this.expression)
          this.CONSUME(t.RBracket)
          return this.ACTION(() => this.access(object, index, false))
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.QuestionDot)
          const index = this.OR2<Expr>([
            {
              ALT: () => {
                this.CONSUME2(t.LBracket)
                const inner = this.SUBRULE2(this.expression)
                this.CONSUME2(t.RBracket)
                return inner
              },
            },
            { ALT: () => this.SUBRULE2(this.element) },
          ])
          return this.ACTION(() => this.access(object, index, true))
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
  readonly element: Rule<Expr> = this.rule('element', () =>
    this.OR<Expr>({
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
    }),
  )

  readonly primary: Rule<Expr> = this.rule('primary', () =>
    this.OR<Expr>({
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
    }),
  )

  readonly plainLiteral: Rule<Expr> = this.rule('plainLiteral', () =>
    this.OR<Expr>([
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
    ]),
  )

  /** Everything that starts with a name: columns, calls, and the forms that a word opens. */
  readonly named: Rule<Expr> = this.rule('named', () =>
    this.OR<Expr>([
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
    ]),
  )

  readonly chain: Rule<Expr> = this.rule('chain', () => {
    const chain: string[] = []
    const first = this.CONSUME(t.Name)
    this.ACTION(() => chain.push(this.nameText(first)))
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
    return this.ACTION(() => star ?? ({ kind: 'field', chain, span: this.until(first.startOffset) } satisfies Field))
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
                // Without FOR: to the end. The function wants a length, and no text is longer than this.
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

  readonly argument: Rule<Expr> = this.rule('argument', () =>
    this.OR<Expr>([
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
    ]),
  )

  /** `( … )`: a query, the parameters of a lambda, a tuple, or just an expression. */
  readonly parens: Rule<Expr> = this.rule('parens', () => {
    const start = this.begin()
    return this.OR<Expr>([
      {
        GATE: () => this.isQuery(1),
        ALT: () => {
          this.CONSUME(t.LParen)
          const query = this.SUBRULE(this.query)
          this.CONSUME(t.RParen)
          return { kind: 'subquery', query, span: this.until(start) }
        },
      },
      {
        GATE: () => this.LA(1).payload?.tokenType === t.Arrow,
        ALT: () => {
          const params: IToken[] = []
          this.CONSUME2(t.LParen)
          this.MANY_SEP({ SEP: t.Comma, DEF: () => params.push(this.CONSUME(t.Name)) })
          this.CONSUME2(t.RParen)
          this.CONSUME(t.Arrow)
          const body = this.SUBRULE(this.expression)
          return this.ACTION(() => this.lambda(params, body, start))
        },
      },
      {
        ALT: () => {
          this.CONSUME3(t.LParen)
          const { items, isList } = this.SUBRULE(this.listItems)
          this.CONSUME3(t.RParen)
          return this.ACTION(() => (isList ? { kind: 'tuple', items, span: this.until(start) } : items[0]!))
        },
      },
    ])
  })

  readonly listItems: Rule<List> = this.rule('listItems', () => {
    const items: Expr[] = []
    let commas = 0
    this.OPTION({
      GATE: () => !this.is(1, t.RParen),
      DEF: () => {
        items.push(this.SUBRULE(this.aliased))
        this.MANY({
          GATE: () => !this.is(2, t.RParen),
          DEF: () => {
            this.CONSUME(t.Comma)
            commas++
            items.push(this.SUBRULE2(this.aliased))
          },
        })
        this.OPTION2(() => {
          this.CONSUME2(t.Comma)
          commas++
        })
      },
    })
    return { items, isList: commas > 0 || items.length === 0 }
  })

  readonly array: Rule<Expr> = this.rule('array', () => {
    const start = this.begin()
    const items: Expr[] = []
    this.CONSUME(t.LBracket)
    this.MANY_SEP({ SEP: t.Comma, DEF: () => items.push(this.SUBRULE(this.aliased)) })
    this.CONSUME(t.RBracket)
    return { kind: 'array', items, span: this.until(start) }
  })

  readonly dict: Rule<Expr> = this.rule('dict', () => {
    const start = this.begin()
    const entries: DictEntry[] = []
    this.CONSUME(t.LBrace)
    this.MANY_SEP({
      SEP: t.Comma,
      DEF: () => {
        const at = this.begin()
        const key = this.SUBRULE(this.expression)
        this.CONSUME(t.Colon)
        const value = this.SUBRULE2(this.expression)
        entries.push({ kind: 'dictEntry', key, value, span: this.until(at) })
      },
    })
    this.CONSUME(t.RBrace)
    return { kind: 'dict', entries, span: this.until(start) }
  })

  readonly placeholder: Rule<Placeholder> = this.rule('placeholder', () => {
    const start = this.begin()
    const chain: string[] = []
    this.CONSUME(t.LBrace)
    this.AT_LEAST_ONE_SEP({
      SEP: t.Dot,
      DEF: () => {
        const token = this.CONSUME(t.Word)
        this.ACTION(() => chain.push(this.nameText(token)))
      },
    })
    this.CONSUME(t.RBrace)
    return { kind: 'placeholder', chain, span: this.until(start) }
  })

  readonly caseExpression: Rule<Expr> = this.rule('caseExpression', () => {
    const start = this.begin()
    let subject: Expr | null = null
    const branches: (readonly [Expr, Expr])[] = []
    let otherwise: Expr | null = null
    this.CONSUME(t.Case)
    this.OPTION({
      GATE: () => !this.is(1, t.When),
      DEF: () => {
        subject = this.SUBRULE(this.expression)
      },
    })
    this.AT_LEAST_ONE(() => {
      this.CONSUME(t.When)
      const when = this.SUBRULE2(this.expression)
      this.CONSUME(t.Then)
      const then = this.SUBRULE3(this.expression)
      branches.push([when, then])
    })
    this.OPTION2(() => {
      this.CONSUME(t.Else)
      otherwise = this.SUBRULE4(this.expression)
    })
    this.CONSUME(t.End)
    return this.ACTION(() => caseCall(subject, branches, otherwise, this.until(start)))
  })

  readonly template: Rule<Expr> = this.rule('template', () => {
    const start = this.begin()
    const parts: Expr[] = []
    this.CONSUME(t.TemplateStart)
    this.MANY(() =>
      this.OR([
        {
          ALT: () => {
            const first = this.begin()
            let text = ''
            this.AT_LEAST_ONE(() => {
              text += this.CONSUME(t.TemplateText).image
            })
            this.ACTION(() =>
              parts.push({
                kind: 'literal',
                type: 'string',
                value: undoEscapes(text.replaceAll('\\{', '{'), "'"),
                span: this.until(first),
              }),
            )
          },
        },
        {
          ALT: () => {
            this.CONSUME(t.LBrace)
            parts.push(this.SUBRULE(this.expression))
            this.CONSUME(t.RBrace)
          },
        },
      ]),
    )
    this.CONSUME(t.TemplateEnd)
    return this.ACTION(() => {
      const span = this.until(start)
      if (parts.every((part) => part.kind === 'literal' && part.type === 'string'))
        return { kind: 'literal', type: 'string', value: parts.map((part) => (part as { value: string }).value).join(''), span }
      // `concat` wants two texts at least, and turns what is none into one.
      const args = parts.length === 1 ? [...parts, { kind: 'literal', type: 'string', value: '', span } as const] : parts
      return callNode('concat', args, span)
    })
  })

  readonly tag: Rule<Tag> = this.rule('tag', () => {
    const start = this.begin()
    this.ACTION(() => this.enter(start))
    this.CONSUME(t.Less)
    const name = this.CONSUME(t.Word)
    this.MANY(() => {
      this.CONSUME2(t.Word)
      this.OPTION(() => {
        this.CONSUME(t.Equals)
        this.OR([
          { ALT: () => this.CONSUME(t.StringLiteral) },
          { ALT: () => this.CONSUME(t.QuotedIdentifier) },
          {
            ALT: () => {
              this.CONSUME(t.LBrace)
              this.SUBRULE(this.expression)
              this.CONSUME(t.RBrace)
            },
          },
        ])
      })
    })
    this.OR2([
      {
        ALT: () => {
          this.CONSUME(t.Slash)
          this.CONSUME(t.Greater)
        },
      },
      {
        ALT: () => {
          this.CONSUME2(t.Greater)
          this.MANY2({ GATE: () => !this.is(2, t.Slash), DEF: () => this.SUBRULE(this.tag) })
          this.CONSUME2(t.Less)
          this.CONSUME2(t.Slash)
          this.CONSUME3(t.Word)
          this.CONSUME3(t.Greater)
        },
      },
    ])
    return this.ACTION(() => {
      this.depth--
      return { kind: 'tag', name: this.nameText(name), span: this.until(start) }
    })
  })

  // forms that a word opens

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
      this.problem(call, span)
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

  readonly typeArgument: Rule<string> = this.rule('typeArgument', () =>
    this.OR<string>([
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
    ]),
  )

  // lists, order, windows

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

  readonly frameSide: Rule<'preceding' | 'following'> = this.rule('frameSide', () =>
    this.OR<'preceding' | 'following'>([
      { ALT: () => this.means(this.CONSUME(t.Preceding), 'preceding') },
      { ALT: () => this.means(this.CONSUME(t.Following), 'following') },
    ]),
  )

  // looking ahead

  protected isPlaceholder(): boolean {
    if (!this.is(1, t.LBrace)) return false
    let distance = 2
    while (this.isWord(distance) && this.is(distance + 1, t.Dot)) distance += 2
    return this.isWord(distance) && this.is(distance + 1, t.RBrace)
  }

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

interface List {
  readonly items: readonly Expr[]
  /** There was a comma, or nothing at all: a tuple and not an expression in parentheses. */
  readonly isList: boolean
}

const stringOf = (token: IToken): Expr => ({ kind: 'literal', type: 'string', value: unquote(token.image), span: spanOf(token) })

/** `IN (5)` is a set of one, but `IN ([1, 2])` and `IN ({names})` already name a set. */
function setOf({ items, isList }: List, span: Span): Expr {
  const only = isList ? undefined : items[0]
  if (only && (only.kind === 'array' || only.kind === 'tuple' || only.kind === 'placeholder' || only.kind === 'subquery')) return only
  return { kind: 'tuple', items, span }
}
