import { EOF, type TokenType } from 'chevrotain'
import { literal, select, star } from '../ast/build.ts'
import type {
  Alias,
  ArrayJoin,
  Cte,
  Expr,
  GroupBy,
  Limit,
  LimitBy,
  NamedWindow,
  OrderItem,
  Query,
  Select,
  Setting,
  Source,
} from '../ast/nodes.ts'
import type { Rule } from './grammar-base.ts'
import { combineSets, type SetOperator, type SetTerm, withCtes, withTail } from './sets.ts'
import { SourceGrammar } from './source-grammar.ts'
import * as t from './tokens.ts'

/** Tokens that may follow the comma after the last column. */
const afterColumns: ReadonlySet<TokenType> = new Set([
  ...[t.From, t.Where, t.Prewhere, t.Group, t.Having, t.Qualify, t.Order, t.Limit, t.Union, t.Intersect, t.Except],
  ...[t.RParen, t.Semicolon, EOF],
])

/** Statements; their parts are in the classes below. */
export class Grammar extends SourceGrammar {
  constructor() {
    super()
    this.performSelfAnalysis()
  }

  // entries

  readonly statement: Rule<Query> = this.rule('statement', () => {
    const query = this.OR<Query>({
      DEF: [
        {
          GATE: () => this.isCatalog(1),
          ALT: () => {
            const catalog = this.SUBRULE(this.catalog)
            return this.ACTION(() => ({ ...select({ columns: [star()], from: catalog }), span: catalog.span }))
          },
        },
        { ALT: () => this.SUBRULE(this.query) },
      ],
      ERR_MSG: 'SELECT',
    })
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

  readonly setTerm: Rule<SetTerm> = this.choice<SetTerm>('setTerm', {
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
  })

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
      if (top && limit) this.problem('TOP and LIMIT cannot be used together', (limit as Limit).span)
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

  // looking ahead

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
