import { EOF, type IToken, type TokenType } from 'chevrotain'
import { literal } from '../ast/build.ts'
import type {
  Alias,
  ArrayJoin,
  Cte,
  Expr,
  GroupBy,
  JoinSource,
  Limit,
  LimitBy,
  NamedWindow,
  OrderItem,
  PivotSource,
  Query,
  Sample,
  Select,
  Setting,
  Source,
} from '../ast/nodes.ts'
import type { Span } from '../errors/span.ts'
import { ExpressionGrammar } from './expression-grammar.ts'
import { type Rule, spanOf } from './grammar-base.ts'
import { joinOf } from './joins.ts'
import { parseNumber } from './literals.ts'
import { combineSets, type SetOperator, type SetTerm, withCtes, withTail } from './sets.ts'
import * as t from './tokens.ts'
import { endOf } from './tokens.ts'

/** What may follow the comma after the last column. */
const afterColumns: ReadonlySet<TokenType> = new Set([
  ...[t.From, t.Where, t.Prewhere, t.Group, t.Having, t.Qualify, t.Order, t.Limit, t.Union, t.Intersect, t.Except],
  ...[t.RParen, t.Semicolon, EOF],
])

interface SourceAlias {
  readonly alias: string | null
  readonly columnAliases: readonly string[]
}

/** Queries and sources; expressions are in the class below it. */
export class Grammar extends ExpressionGrammar {
  constructor() {
    super()
    this.performSelfAnalysis()
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
      this.depth--
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
      { ALT: () => this.means(this.CONSUME(t.Union), 'union') },
      { ALT: () => this.means(this.CONSUME(t.Intersect), 'intersect') },
      { ALT: () => this.means(this.CONSUME(t.Except), 'except') },
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
          if (!first.limit) this.problem('expected LIMIT before OFFSET', first.span)
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

  readonly groupingSet: Rule<readonly Expr[]> = this.rule('groupingSet', () =>
    this.OR<readonly Expr[]>([
      { GATE: () => this.is(1, t.LParen), ALT: () => this.SUBRULE(this.parenthesised) },
      {
        ALT: () => {
          const expr = this.SUBRULE(this.expression)
          return [expr]
        },
      },
    ]),
  )

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
    this.ACTION(() => this.depth--)
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
            using = this.OR2<Expr[]>([
              { GATE: () => this.is(1, t.LParen), ALT: () => this.SUBRULE(this.parenthesised) },
              { ALT: () => [this.SUBRULE2(this.expression)] },
            ])
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

  // looking ahead

  protected isArrayJoin(): boolean {
    return this.is(1, t.ArrayWord) || (this.is(1, t.Left, t.Inner) && this.is(2, t.ArrayWord))
  }

  /** `name AS (`, `name AS [NOT] MATERIALIZED`, `name (columns) AS (`, `name … USING KEY` */
  protected isNamedCte(): boolean {
    if (!this.isName(1)) return false
    if (this.is(2, t.Using)) return true
    if (this.is(2, t.As)) return this.is(3, t.LParen, t.Not) || (this.is(3, t.Materialized) && this.is(4, t.LParen))
    if (!this.is(2, t.LParen)) return false
    let distance = 3
    while (this.isName(distance) && this.is(distance + 1, t.Comma)) distance += 2
    if (!this.isName(distance) || !this.is(distance + 1, t.RParen)) return false
    return this.is(distance + 2, t.Using) || (this.is(distance + 2, t.As) && this.is(distance + 3, t.LParen, t.Not, t.Materialized))
  }
}

const joinNode = (left: Source, right: Source, how: Pick<JoinSource, 'type' | 'strictness'>, span: Span): JoinSource => ({
  kind: 'join',
  left,
  right,
  ...how,
  on: null,
  using: [],
  span,
})
