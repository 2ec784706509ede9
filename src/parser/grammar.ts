import { EmbeddedActionsParser, EOF, type IToken, type ParserMethod, type TokenType } from 'chevrotain'
import { literal } from '../ast/build.ts'
import type {
  Access,
  Alias,
  ArrayJoin,
  Call,
  Cte,
  DictEntry,
  Expr,
  Field,
  FrameBound,
  GroupBy,
  JoinSource,
  Lambda,
  Limit,
  LimitBy,
  NamedWindow,
  OrderFill,
  OrderItem,
  PivotSource,
  Placeholder,
  Query,
  Sample,
  Select,
  Setting,
  Source,
  Star,
  Tag,
  WindowSpec,
} from '../ast/nodes.ts'
import { QueryError } from '../errors/errors.ts'
import type { Span } from '../errors/span.ts'
import { callNode, ExpressionStack } from './expression-stack.ts'
import { joinOf } from './joins.ts'
import { parseNumber, undoEscapes, unquote } from './literals.ts'
import { caseCall, extractCall, intervalCall, isUnit } from './lowering.ts'
import { wordingOf } from './messages.ts'
import { binaryOperators, isDistinctFrom, isNotDistinctFrom, level, levelOf, noLevel, notIlike, notLike } from './operators.ts'
import { combineSets, type SetOperator, type SetTerm, withCtes, withTail } from './sets.ts'
import * as t from './tokens.ts'
import { endOf } from './tokens.ts'

type Rule<R, A extends unknown[] = []> = ParserMethod<A, R>

/** Deeper statements are refused before they could exhaust the stack, here or in what walks the tree later. */
export const maxDepth = 200

interface SourceAlias {
  readonly alias: string | null
  readonly columnAliases: readonly string[]
}
interface WrittenName {
  readonly text: string
  readonly span: Span
}

/** Aliases that would hide a literal or the project's guard. */
const reservedAliases: ReadonlySet<string> = new Set(['true', 'false', 'null', 'team_id'])
/** What may follow the comma after the last column. */
const afterColumns: ReadonlySet<TokenType> = new Set([
  ...[t.From, t.Where, t.Prewhere, t.Group, t.Having, t.Qualify, t.Order, t.Limit, t.Union, t.Intersect, t.Except],
  ...[t.RParen, t.Semicolon, EOF],
])
const queryStarts: ReadonlySet<TokenType> = new Set([t.Select, t.With])
const setStarts: ReadonlySet<TokenType> = new Set([t.Union, t.Intersect, t.Except])
const tailStarts: ReadonlySet<TokenType> = new Set([t.Order, t.Limit, t.Offset])
/** Operators that are also functions: `and(a, b)`. */
const operatorFunctions: ReadonlySet<TokenType> = new Set([t.And, t.Or, t.Like, t.Ilike])

export class Grammar extends EmbeddedActionsParser {
  /** Problems that do not stop the parse. */
  problems: QueryError[] = []
  #depth = 0

  constructor() {
    super(t.vocabulary, { maxLookahead: 1, recoveryEnabled: false, skipValidations: true, errorMessageProvider: wordingOf })
    this.performSelfAnalysis()
  }

  start(tokens: IToken[]): void {
    this.input = tokens
    this.problems = []
    this.#depth = 0
  }

  // entries

  readonly statement: Rule<Query> = this.rule('statement', () => {
    const query = this.SUBRULE(this.query)
    this.OPTION(() => this.CONSUME(t.Semicolon))
    this.CONSUME(EOF)
    return query
  })
  readonly loneExpression: Rule<Expr> = this.rule('loneExpression', () => {
    const expr = this.SUBRULE(this.column)
    this.CONSUME(EOF)
    return expr
  })
  readonly loneOrder: Rule<OrderItem> = this.rule('loneOrder', () => {
    const item = this.SUBRULE(this.orderItem)
    this.CONSUME(EOF)
    return item
  })

  // queries

  readonly query: Rule<Query> = this.rule('query', () => {
    const start = this.begin()
    this.ACTION(() => this.enter(start))
    let recursive = false
    let ctes: Cte[] = []
    this.OPTION(() => {
      this.CONSUME(t.With)
      this.OPTION2({
        GATE: () => this.is(1, t.Recursive) && !this.is(2, t.As, t.LParen),
        DEF: () => {
          this.CONSUME(t.Recursive)
          recursive = true
        },
      })
      ctes = this.SUBRULE(this.ctes)
    })
    const body = this.SUBRULE(this.setQuery)
    return this.ACTION(() => {
      this.#depth--
      return withCtes(body, ctes, recursive, this.until(start))
    })
  })

  readonly ctes: Rule<Cte[]> = this.rule('ctes', () => {
    const ctes: Cte[] = []
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => ctes.push(this.SUBRULE(this.cte)) })
    return ctes
  })

  readonly cte: Rule<Cte> = this.rule('cte', () => {
    const start = this.begin()
    return this.OR<Cte>([
      {
        GATE: () => this.isNamedCte(),
        ALT: () => {
          const name = this.SUBRULE(this.definedName)
          let columns: string[] = []
          let usingKey: string[] = []
          let materialized: boolean | null = null
          this.OPTION(() => {
            columns = this.SUBRULE(this.nameList)
          })
          this.OPTION2(() => {
            this.CONSUME(t.Using)
            this.CONSUME(t.Key)
            usingKey = this.SUBRULE2(this.nameList)
          })
          this.CONSUME(t.As)
          this.OPTION3(() => {
            materialized = true
            this.OPTION4(() => {
              this.CONSUME(t.Not)
              materialized = false
            })
            this.CONSUME(t.Materialized)
          })
          this.CONSUME(t.LParen)
          const body = this.SUBRULE(this.query)
          this.CONSUME(t.RParen)
          return { kind: 'cte', name, columns, usingKey, materialized, body, span: this.until(start) }
        },
      },
      {
        ALT: () => {
          const body = this.SUBRULE(this.expression)
          this.CONSUME2(t.As)
          const name = this.SUBRULE2(this.definedName)
          return { kind: 'cte', name, columns: [], usingKey: [], materialized: null, body, span: this.until(start) }
        },
      },
    ])
  })

  readonly setQuery: Rule<Query> = this.rule('setQuery', () => {
    const start = this.begin()
    const terms: SetTerm[] = []
    const operators: SetOperator[] = []
    terms.push(this.SUBRULE(this.setTerm))
    this.MANY(() => {
      operators.push(this.SUBRULE(this.setOperator))
      terms.push(this.SUBRULE2(this.setTerm))
    })
    let orderBy: readonly OrderItem[] = []
    let limit: Limit | null = null
    this.OPTION(() => {
      orderBy = this.SUBRULE(this.orderBy)
    })
    this.OPTION2(() => {
      limit = this.SUBRULE(this.limit)
    })
    return this.ACTION(() => {
      const query = combineSets(terms, operators)
      return orderBy.length || limit ? withTail(query, orderBy, limit, this.until(start)) : query
    })
  })

  readonly setTerm: Rule<SetTerm> = this.rule('setTerm', () =>
    this.OR<SetTerm>({
      DEF: [
        { ALT: () => ({ query: this.SUBRULE(this.select), isParenthesised: false }) },
        {
          ALT: () => {
            this.CONSUME(t.LParen)
            const query = this.SUBRULE(this.query)
            this.CONSUME(t.RParen)
            return { query, isParenthesised: true }
          },
        },
      ],
      ERR_MSG: 'SELECT',
    }),
  )

  readonly setOperator: Rule<SetOperator> = this.rule('setOperator', () => {
    const op = this.OR<SetOperator['op']>([
      { ALT: () => (this.CONSUME(t.Union), 'union') },
      { ALT: () => (this.CONSUME(t.Intersect), 'intersect') },
      { ALT: () => (this.CONSUME(t.Except), 'except') },
    ])
    let all = false
    let byName = false
    this.OPTION(() =>
      this.OR2([
        {
          ALT: () => {
            this.CONSUME(t.All)
            all = true
          },
        },
        { ALT: () => this.CONSUME(t.Distinct) },
      ]),
    )
    this.OPTION2(() => {
      this.CONSUME(t.By)
      this.CONSUME(t.NameWord)
      byName = true
    })
    return { op, all, byName }
  })

  readonly select: Rule<Select> = this.rule('select', () => {
    const start = this.begin()
    let distinct = false
    let distinctOn: Expr[] = []
    let top: Limit | null = null
    let from: Source | null = null
    let arrayJoin: ArrayJoin | null = null
    let prewhere: Expr | null = null
    let where: Expr | null = null
    let groupBy: GroupBy | null = null
    let having: Expr | null = null
    let qualify: Expr | null = null
    const windows: NamedWindow[] = []
    let order: { items: readonly OrderItem[]; all: boolean } = { items: [], all: false }
    let limitBy: LimitBy | null = null
    let limit: Limit | null = null
    let settings: readonly Setting[] = []

    this.CONSUME(t.Select)
    this.OPTION(() => {
      this.CONSUME(t.Distinct)
      distinct = true
      this.OPTION2(() => {
        this.CONSUME(t.On)
        this.CONSUME(t.LParen)
        distinctOn = this.SUBRULE(this.expressions)
        this.CONSUME(t.RParen)
      })
    })
    this.OPTION3({
      GATE: () => this.is(1, t.Top) && this.is(2, t.NumberLiteral),
      DEF: () => {
        top = this.SUBRULE(this.top)
      },
    })
    const columns = this.SUBRULE(this.columnList)
    this.OPTION4(() => {
      this.CONSUME(t.From)
      from = this.SUBRULE(this.joinTree)
    })
    this.OPTION5({
      GATE: () => this.isArrayJoin(),
      DEF: () => {
        arrayJoin = this.SUBRULE(this.arrayJoin)
      },
    })
    this.OPTION6(() => {
      this.CONSUME(t.Prewhere)
      prewhere = this.SUBRULE(this.expression)
    })
    this.OPTION7(() => {
      this.CONSUME(t.Where)
      where = this.SUBRULE2(this.expression)
    })
    this.OPTION8(() => {
      groupBy = this.SUBRULE(this.groupBy)
    })
    this.OPTION9(() => {
      this.CONSUME(t.Having)
      having = this.SUBRULE3(this.expression)
    })
    this.option(10, () => {
      this.CONSUME(t.Qualify)
      qualify = this.SUBRULE4(this.expression)
    })
    this.option(11, () => {
      this.CONSUME(t.Window)
      this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => windows.push(this.SUBRULE(this.namedWindow)) })
    })
    this.option(12, () => {
      order = this.SUBRULE(this.selectOrder)
    })
    this.option(13, () => {
      const first = this.SUBRULE(this.limit)
      limit = first
      this.option(14, () => {
        this.CONSUME(t.By)
        const by = this.SUBRULE2(this.expressions)
        this.ACTION(() => {
          limit = null
          limitBy = { kind: 'limitBy', limit: first.limit ?? literal(0), offset: first.offset, by, span: this.until(first.span.start) }
        })
        this.option(15, () => {
          limit = this.SUBRULE2(this.limit)
        })
      })
    })
    this.option(16, () => {
      settings = this.SUBRULE(this.settings)
    })
    return this.ACTION(() => {
      if (top && limit) this.problem('TOP and LIMIT cannot stand together', (limit as Limit).span)
      return {
        kind: 'select',
        with: [],
        recursive: false,
        distinct,
        distinctOn,
        columns,
        from,
        arrayJoin,
        prewhere,
        where,
        groupBy,
        having,
        qualify,
        windows,
        orderBy: order.items,
        orderByAll: order.all,
        limitBy,
        limit: limit ?? top,
        settings,
        span: this.until(start),
      } satisfies Select
    })
  })

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

  readonly columnList: Rule<Expr[]> = this.rule('columnList', () => {
    const columns = [this.SUBRULE(this.column)]
    this.MANY({
      GATE: () => !afterColumns.has(this.LA(2).tokenType),
      DEF: () => {
        this.CONSUME(t.Comma)
        columns.push(this.SUBRULE2(this.column))
      },
    })
    this.OPTION(() => this.CONSUME2(t.Comma))
    return columns
  })

  /** `expr`, `expr AS name`, `expr name`, `name: expr` */
  readonly column: Rule<Expr> = this.rule('column', () => {
    const start = this.begin()
    let before: string | null = null
    this.OPTION({
      GATE: () => this.is(2, t.Colon),
      DEF: () => {
        before = this.SUBRULE(this.definedName)
        this.CONSUME(t.Colon)
      },
    })
    const expr = this.SUBRULE(this.aliased)
    let after: string | null = null
    this.OPTION2(() => {
      const token = this.CONSUME(t.AliasName)
      after = this.ACTION(() => this.aliasText(token))
    })
    return this.ACTION(() => {
      const name = before ?? after
      return name === null ? expr : ({ kind: 'alias', expr, name, span: this.until(start) } satisfies Alias)
    })
  })

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

  readonly groupBy: Rule<GroupBy> = this.rule('groupBy', () => {
    const start = this.begin()
    let mode: GroupBy['mode'] = 'plain'
    let items: Expr[] = []
    const sets: (readonly Expr[])[] = []
    let withTotals = false
    this.CONSUME(t.Group)
    this.CONSUME(t.By)
    this.OR([
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
    ])
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

  readonly groupingSet: Rule<readonly Expr[]> = this.rule('groupingSet', () =>
    this.OR<readonly Expr[]>([
      { ALT: () => this.SUBRULE(this.parenthesised) },
      {
        ALT: () => {
          const expr = this.SUBRULE(this.expression)
          return [expr]
        },
      },
    ]),
  )

  readonly parenthesised: Rule<Expr[]> = this.rule('parenthesised', () => {
    const items: Expr[] = []
    this.CONSUME(t.LParen)
    this.MANY_SEP({ SEP: t.Comma, DEF: () => items.push(this.SUBRULE(this.aliased)) })
    this.CONSUME(t.RParen)
    return items
  })

  readonly selectOrder: Rule<{ items: readonly OrderItem[]; all: boolean }> = this.rule('selectOrder', () =>
    this.OR<{ items: readonly OrderItem[]; all: boolean }>([
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
    ]),
  )

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
      nulls = this.OR2<'first' | 'last'>([{ ALT: () => (this.CONSUME(t.First), 'first') }, { ALT: () => (this.CONSUME(t.Last), 'last') }])
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

  // sources

  readonly joinTree: Rule<Source> = this.rule('joinTree', () => {
    const start = this.begin()
    let left = this.SUBRULE(this.source)
    this.ACTION(() => this.enter(start))
    this.MANY({
      GATE: () => !this.isArrayJoin(),
      DEF: () => {
        left = this.SUBRULE(this.joinTail, { ARGS: [left] })
      },
    })
    this.ACTION(() => this.#depth--)
    return left
  })

  readonly joinTail: Rule<Source, [Source]> = this.rule('joinTail', (left: Source) =>
    this.OR<Source>([
      {
        ALT: () => {
          this.CONSUME(t.Comma)
          const right = this.SUBRULE(this.source)
          return this.ACTION(() => joinNode(left, right, { type: 'cross', strictness: null }, this.until(left.span.start)))
        },
      },
      { ALT: () => this.SUBRULE(this.join, { ARGS: [left] }) },
      { ALT: () => this.SUBRULE(this.pivot, { ARGS: [left] }) },
      { ALT: () => this.SUBRULE(this.unpivot, { ARGS: [left] }) },
    ]),
  )

  readonly join: Rule<Source, [Source]> = this.rule('join', (left: Source) => {
    const words: IToken[] = []
    this.MANY(() => words.push(this.CONSUME(t.JoinWord)))
    this.CONSUME(t.Join)
    const right = this.SUBRULE(this.source)
    let on: Expr | null = null
    let using: Expr[] = []
    this.OPTION(() =>
      this.OR([
        {
          ALT: () => {
            this.CONSUME(t.On)
            on = this.SUBRULE(this.expression)
          },
        },
        {
          ALT: () => {
            this.CONSUME(t.Using)
            using = this.OR2<Expr[]>([{ ALT: () => this.SUBRULE(this.parenthesised) }, { ALT: () => [this.SUBRULE2(this.expression)] }])
          },
        },
      ]),
    )
    return this.ACTION(() => {
      const span = this.until(left.span.start)
      const described = joinOf(words.map((word) => word.image.toLowerCase()))
      if (typeof described === 'string') this.problem(described, { start: words[0]!.startOffset, end: endOf(words.at(-1)!) })
      const { type, strictness } = typeof described === 'string' ? { type: 'inner' as const, strictness: null } : described
      return { kind: 'join', left, right, type, strictness, on, using, span } satisfies JoinSource
    })
  })

  readonly pivot: Rule<Source, [Source]> = this.rule('pivot', (source: Source) => {
    const aggregates: Expr[] = []
    const columns: PivotSource['columns'][number][] = []
    let groupBy: Expr[] = []
    this.CONSUME(t.Pivot)
    this.CONSUME(t.LParen)
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => aggregates.push(this.SUBRULE(this.aliased)) })
    this.CONSUME(t.For)
    this.AT_LEAST_ONE(() => {
      const column = this.SUBRULE(this.expression)
      this.ACTION(() => {
        if (column.kind === 'in' && !column.not && !column.cohort)
          columns.push({ expr: column.expr, values: column.set.kind === 'tuple' ? column.set.items : [column.set] })
        else this.problem('expected IN with the values of the new columns', column.span)
      })
    })
    this.OPTION(() => {
      this.CONSUME(t.Group)
      this.CONSUME(t.By)
      groupBy = this.SUBRULE(this.expressions)
    })
    this.CONSUME(t.RParen)
    const { alias } = this.SUBRULE(this.sourceAlias)
    return this.ACTION(() => ({ kind: 'pivot', source, aggregates, columns, groupBy, alias, span: this.until(source.span.start) }))
  })

  readonly unpivot: Rule<Source, [Source]> = this.rule('unpivot', (source: Source) => {
    let includeNulls = false
    this.CONSUME(t.Unpivot)
    this.OPTION(() => {
      this.CONSUME(t.Include)
      this.CONSUME(t.Nulls)
      includeNulls = true
    })
    this.CONSUME(t.LParen)
    const value = this.SUBRULE(this.expression)
    this.CONSUME(t.For)
    const columns = this.SUBRULE2(this.expression)
    this.CONSUME(t.RParen)
    const { alias } = this.SUBRULE(this.sourceAlias)
    return this.ACTION(() => {
      const span = this.until(source.span.start)
      const named = columns.kind === 'in' && !columns.not && !columns.cohort
      if (!named) this.problem('expected IN with the columns to turn', columns.span)
      const name = named ? columns.expr : columns
      const items = named ? (columns.set.kind === 'tuple' ? columns.set.items : [columns.set]) : []
      return { kind: 'unpivot', source, includeNulls, value, name, columns: items, alias, span }
    })
  })

  readonly source: Rule<Source> = this.rule('source', () => {
    const start = this.begin()
    return this.OR<Source>({
      DEF: [
        {
          GATE: () => this.isQuery(1),
          ALT: () => {
            this.CONSUME(t.LParen)
            const query = this.SUBRULE(this.query)
            this.CONSUME(t.RParen)
            const alias = this.SUBRULE(this.sourceAlias)
            let sample: Sample | null = null
            this.OPTION(() => {
              sample = this.SUBRULE(this.sample)
            })
            return { kind: 'querySource', query, ...alias, sample, span: this.until(start) }
          },
        },
        {
          GATE: () => this.is(2, t.Values),
          ALT: () => {
            this.CONSUME2(t.LParen)
            const rows = this.SUBRULE(this.valuesRows)
            this.CONSUME2(t.RParen)
            const alias = this.SUBRULE2(this.sourceAlias)
            return { kind: 'values', rows, ...alias, span: this.until(start) }
          },
        },
        {
          ALT: () => {
            this.CONSUME3(t.LParen)
            const tree = this.SUBRULE(this.joinTree)
            this.CONSUME3(t.RParen)
            return tree
          },
        },
        {
          GATE: () => this.is(2, t.LParen),
          ALT: () => {
            const rows = this.SUBRULE2(this.valuesRows)
            const alias = this.SUBRULE3(this.sourceAlias)
            return { kind: 'values', rows, ...alias, span: this.until(start) }
          },
        },
        {
          ALT: () => {
            const expr = this.OR2<Expr>([{ ALT: () => this.SUBRULE(this.placeholder) }, { ALT: () => this.SUBRULE(this.tag) }])
            const { alias } = this.SUBRULE4(this.sourceAlias)
            return { kind: 'exprSource', expr, alias, span: this.until(start) }
          },
        },
        { ALT: () => this.SUBRULE(this.table) },
      ],
      ERR_MSG: 'a table',
    })
  })

  readonly table: Rule<Source> = this.rule('table', () => {
    const start = this.begin()
    const chain: string[] = []
    let args: Expr[] | null = null
    let final = false
    let sample: Sample | null = null
    const first = this.CONSUME(t.Name)
    this.ACTION(() => chain.push(this.nameText(first)))
    this.MANY(() => {
      this.CONSUME(t.Dot)
      const part = this.CONSUME(t.Word)
      this.ACTION(() => chain.push(this.nameText(part)))
    })
    this.OPTION(() => {
      args = this.SUBRULE(this.parenthesised)
    })
    const alias = this.SUBRULE(this.sourceAlias)
    this.OPTION2(() => {
      this.CONSUME(t.Final)
      final = true
    })
    this.OPTION3(() => {
      sample = this.SUBRULE(this.sample)
    })
    return { kind: 'table', chain, args, ...alias, final, sample, span: this.until(start) }
  })

  readonly sourceAlias: Rule<SourceAlias> = this.rule('sourceAlias', () => {
    let alias: string | null = null
    let columnAliases: string[] = []
    this.OPTION(() => {
      alias = this.OR<string>([
        {
          ALT: () => {
            this.CONSUME(t.As)
            return this.SUBRULE(this.definedName)
          },
        },
        {
          ALT: () => {
            const token = this.CONSUME(t.AliasName)
            return this.ACTION(() => this.aliasText(token))
          },
        },
      ])
      this.OPTION2(() => {
        columnAliases = this.SUBRULE(this.nameList)
      })
    })
    return { alias, columnAliases }
  })

  readonly sample: Rule<Sample> = this.rule('sample', () => {
    const start = this.begin()
    let percent = false
    let offset: Expr | null = null
    this.CONSUME(t.Sample)
    const size = this.SUBRULE(this.expression)
    this.OPTION(() => {
      this.CONSUME(t.PercentWord)
      percent = true
    })
    this.OPTION2(() => {
      this.CONSUME(t.Offset)
      offset = this.SUBRULE2(this.expression)
    })
    return { kind: 'sample', size, offset, percent, span: this.until(start) }
  })

  readonly valuesRows: Rule<(readonly Expr[])[]> = this.rule('valuesRows', () => {
    const rows: (readonly Expr[])[] = []
    this.CONSUME(t.Values)
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => rows.push(this.SUBRULE(this.groupingSet)) })
    return rows
  })

  readonly arrayJoin: Rule<ArrayJoin> = this.rule('arrayJoin', () => {
    const start = this.begin()
    let left = false
    this.OPTION(() =>
      this.OR([
        {
          ALT: () => {
            this.CONSUME(t.Left)
            left = true
          },
        },
        { ALT: () => this.CONSUME(t.Inner) },
      ]),
    )
    this.CONSUME(t.ArrayWord)
    this.CONSUME(t.Join)
    const items = this.SUBRULE(this.expressions)
    return { kind: 'arrayJoin', left, items, span: this.until(start) }
  })

  // expressions

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
      this.#depth--
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
            this.ACTION(() => this.prefix(stack, 'negate', token))
          },
        },
        { ALT: () => this.CONSUME(t.Plus) },
        {
          ALT: () => {
            const token = this.CONSUME(t.Not)
            this.ACTION(() => this.prefix(stack, 'not', token))
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
    const name = this.CONSUME(t.BinaryOperator)
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
    return this.ACTION(
      () =>
        ({
          kind: 'call',
          name: this.nameText(name),
          params,
          args: list.args,
          distinct: list.distinct,
          orderBy,
          filter,
          ignoreNulls,
          over,
          span: this.until(name.startOffset),
        }) satisfies Call,
    )
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
                this.ACTION(() => args.push(length ?? literal(2 ** 31 - 1)))
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
    return this.ACTION(() => ({ kind: 'tag', name: this.nameText(name), span: this.until(start) }))
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
            { ALT: () => (this.CONSUME(t.Both), 'trim') },
            { ALT: () => (this.CONSUME(t.Leading), 'trimLeft') },
            { ALT: () => (this.CONSUME(t.Trailing), 'trimRight') },
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
    const isTry = this.OR<boolean>([{ ALT: () => (this.CONSUME(t.Cast), false) }, { ALT: () => (this.CONSUME(t.TryCast), true) }])
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
    this.ACTION(() => this.#depth--)
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

  // windows

  readonly namedWindow: Rule<NamedWindow> = this.rule('namedWindow', () => {
    const start = this.begin()
    const name = this.SUBRULE(this.definedName)
    this.CONSUME(t.As)
    const window = this.SUBRULE(this.window)
    return { kind: 'namedWindow', name, window, span: this.until(start) }
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
        { ALT: () => (this.CONSUME(t.Rows), 'rows') },
        { ALT: () => (this.CONSUME(t.Range), 'range') },
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
      { ALT: () => (this.CONSUME(t.Preceding), 'preceding') },
      { ALT: () => (this.CONSUME(t.Following), 'following') },
    ]),
  )

  // names

  /** A name that the statement gives to something. */
  readonly definedName: Rule<string> = this.rule('definedName', () =>
    this.OR<string>({
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
    }),
  )

  readonly nameList: Rule<string[]> = this.rule('nameList', () => {
    const names: string[] = []
    this.CONSUME(t.LParen)
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => names.push(this.SUBRULE(this.definedName)) })
    this.CONSUME(t.RParen)
    return names
  })

  // looking ahead

  private is(distance: number, ...types: TokenType[]): boolean {
    return types.includes(this.LA(distance).tokenType)
  }

  private isWord(distance: number): boolean {
    return this.LA(distance).tokenType === t.Identifier || isA(this.LA(distance).tokenType, t.Word)
  }

  private isName(distance: number): boolean {
    return isA(this.LA(distance).tokenType, t.Name)
  }

  /** The parenthesis here opens a query, and not an expression that starts with one. */
  private isQuery(distance: number): boolean {
    if (!this.is(distance, t.LParen)) return false
    const next = this.LA(distance + 1)
    if (queryStarts.has(next.tokenType)) return true
    if (next.tokenType !== t.LParen || distance > maxDepth || !this.isQuery(distance + 1)) return false
    const after = (next.payload as IToken | undefined)?.tokenType
    return after === t.RParen || (after !== undefined && (setStarts.has(after) || tailStarts.has(after)))
  }

  private isArrayJoin(): boolean {
    return this.is(1, t.ArrayWord) || (this.is(1, t.Left, t.Inner) && this.is(2, t.ArrayWord))
  }

  /** `name AS (`, `name AS [NOT] MATERIALIZED`, `name (columns) AS (`, `name … USING KEY` */
  private isNamedCte(): boolean {
    if (!this.isName(1)) return false
    if (this.is(2, t.Using)) return true
    if (this.is(2, t.As)) return this.is(3, t.LParen, t.Not) || (this.is(3, t.Materialized) && this.is(4, t.LParen))
    if (!this.is(2, t.LParen)) return false
    let distance = 3
    while (this.isName(distance) && this.is(distance + 1, t.Comma)) distance += 2
    if (!this.isName(distance) || !this.is(distance + 1, t.RParen)) return false
    return this.is(distance + 2, t.Using) || (this.is(distance + 2, t.As) && this.is(distance + 3, t.LParen, t.Not, t.Materialized))
  }

  private isPlaceholder(): boolean {
    if (!this.is(1, t.LBrace)) return false
    let distance = 2
    while (this.isWord(distance) && this.is(distance + 1, t.Dot)) distance += 2
    return this.isWord(distance) && this.is(distance + 1, t.RBrace)
  }

  private isWordForm(): boolean {
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

  private isIntervalForm(): boolean {
    const next = this.LA(2)
    if (this.is(2, t.StringLiteral, t.NumberLiteral, t.LBrace)) return true
    if (next.tokenType === t.LParen) return isUnit((next.payload as IToken | undefined)?.image ?? '')
    if (next.tokenType === t.Minus) return this.is(3, t.NumberLiteral, t.StringLiteral) && isUnit(this.LA(4).image)
    return (
      this.isName(2) && !this.is(2, t.Asc, t.Desc, t.Over, t.For) && (isUnit(this.LA(3).image) || this.is(3, t.Dot, t.LParen, t.LBracket))
    )
  }

  // building

  private rule<R, A extends unknown[]>(name: string, build: (...args: A) => R): Rule<R, A> {
    return this.RULE(name, build)
  }

  private begin(): number {
    return this.LA(1).startOffset
  }

  private until(start: number): Span {
    return { start, end: endOf(this.LA(0)) }
  }

  private enter(start: number): void {
    if (++this.#depth > maxDepth) throw new QueryError('too-deep', { limit: maxDepth }, { start, end: start + 1 })
  }

  private prefix(stack: ExpressionStack, name: 'not' | 'negate', token: IToken): void {
    stack.prefix(name, token.startOffset)
  }

  private access(object: Expr, index: Expr, nullish: boolean): Access {
    return { kind: 'access', object, index, nullish, span: this.until(object.span.start) }
  }

  private lambda(params: readonly IToken[], body: Expr, start: number): Lambda {
    return { kind: 'lambda', params: params.map((token) => this.nameText(token)), body, span: this.until(start) }
  }

  private problem(message: string, span: Span): void {
    this.problems.push(new QueryError('syntax-error', { message }, span))
  }

  private nameText(token: IToken, before?: string): string {
    const text = token.tokenType === t.QuotedIdentifier ? unquote(token.image) : token.image
    return token.tokenType === t.QuotedIdentifier ? this.permitted({ text, span: spanOf(token) }, before) : text
  }

  private aliasText(token: IToken): string {
    if (token.tokenType !== t.QuotedIdentifier && reservedAliases.has(token.image.toLowerCase()))
      this.problems.push(new QueryError('reserved-alias', { name: token.image }, spanOf(token)))
    return this.nameText(token)
  }

  /** `%` is refused as in the reference system; a leading `@` is kept for fields that no statement may name. A property may have one. */
  private permitted({ text, span }: WrittenName, before?: string): string {
    const character = text.includes('%') ? '%' : text.startsWith('@') && before !== 'properties' ? '@' : null
    if (character) this.problems.push(new QueryError('illegal-identifier', { name: text, character }, span))
    return text
  }
}

interface List {
  readonly items: readonly Expr[]
  /** There was a comma, or nothing at all: a tuple and not an expression in parentheses. */
  readonly isList: boolean
}

const spanOf = (token: IToken): Span => ({ start: token.startOffset, end: endOf(token) })
const isA = (type: TokenType, category: TokenType): boolean => category.categoryMatchesMap?.[type.tokenTypeIdx!] === true
const stringOf = (token: IToken): Expr => ({ kind: 'literal', type: 'string', value: unquote(token.image), span: spanOf(token) })

const joinNode = (left: Source, right: Source, how: Pick<JoinSource, 'type' | 'strictness'>, span: Span): JoinSource => ({
  kind: 'join',
  left,
  right,
  ...how,
  on: null,
  using: [],
  span,
})

/** `IN (5)` is a set of one, but `IN ([1, 2])` and `IN ({names})` already name a set. */
function setOf({ items, isList }: List, span: Span): Expr {
  const only = isList ? undefined : items[0]
  if (only && (only.kind === 'array' || only.kind === 'tuple' || only.kind === 'placeholder' || only.kind === 'subquery')) return only
  return { kind: 'tuple', items, span }
}
