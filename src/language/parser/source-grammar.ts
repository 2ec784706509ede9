import type { IToken } from 'chevrotain'
import type { Span } from '../../errors/span.ts'
import type { ArrayJoin, CatalogSource, Expr, JoinSource, PivotSource, QuerySource, Sample, Source, TableSource } from '../ast/nodes.ts'
import { ClauseGrammar } from './clause-grammar.ts'
import type { Rule } from './grammar-base.ts'
import { joinOf } from './joins.ts'
import * as t from './tokens.ts'
import { endOf } from './tokens.ts'

interface SourceAlias {
  readonly alias: string | null
  readonly columnAliases: readonly string[]
}

/** The sources in FROM. */
export abstract class SourceGrammar extends ClauseGrammar {
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
      if (!named) this.problem('expected IN with the columns to unpivot', columns.span)
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
          GATE: () => this.isQuery(1) || (this.is(1, t.Lateral) && this.isQuery(2)),
          ALT: () => this.SUBRULE(this.querySource),
        },
        {
          GATE: () => this.isCatalog(2),
          ALT: () => {
            this.CONSUME4(t.LParen)
            const catalog = this.SUBRULE(this.catalog)
            this.CONSUME4(t.RParen)
            const { alias } = this.SUBRULE5(this.sourceAlias)
            return { ...catalog, alias, span: this.until(start) }
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

  /** `DESCRIBE …`, `SHOW TABLES`, `SHOW COLUMNS FROM …` */
  readonly catalog: Rule<CatalogSource> = this.rule('catalog', () => {
    const start = this.begin()
    let described: CatalogSource['described'] = null
    this.OR([
      {
        ALT: () => {
          this.OR2([{ ALT: () => this.CONSUME(t.Describe) }, { ALT: () => this.CONSUME(t.Desc) }])
          this.OPTION({ GATE: () => this.isWord(2) || this.is(2, t.LParen), DEF: () => this.CONSUME(t.Table) })
          described = this.SUBRULE(this.describedSource)
        },
      },
      {
        ALT: () => {
          this.CONSUME(t.Show)
          this.OR3([
            { ALT: () => this.CONSUME(t.Tables) },
            {
              ALT: () => {
                this.CONSUME(t.ColumnsWord)
                this.CONSUME(t.From)
                described = this.SUBRULE2(this.describedSource)
              },
            },
          ])
        },
      },
    ])
    return { kind: 'catalog', described, alias: null, span: this.until(start) }
  })

  readonly describedSource: Rule<TableSource | QuerySource> = this.choice<TableSource | QuerySource>('describedSource', {
    DEF: [{ GATE: () => this.isQuery(1), ALT: () => this.SUBRULE(this.querySource) }, { ALT: () => this.SUBRULE(this.table) }],
    ERR_MSG: 'a table',
  })

  readonly querySource: Rule<QuerySource> = this.rule('querySource', () => {
    const start = this.begin()
    let lateral = false
    this.OPTION(() => {
      this.CONSUME(t.Lateral)
      lateral = true
    })
    this.CONSUME(t.LParen)
    const query = this.SUBRULE(this.query)
    this.CONSUME(t.RParen)
    const alias = this.SUBRULE(this.sourceAlias)
    let sample: Sample | null = null
    this.OPTION2(() => {
      sample = this.SUBRULE(this.sample)
    })
    return { kind: 'querySource', query, lateral, ...alias, sample, span: this.until(start) }
  })

  readonly table: Rule<TableSource> = this.rule('table', () => {
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

  protected isCatalog(distance: number): boolean {
    if (this.is(distance, t.Show)) return this.is(distance + 1, t.Tables, t.ColumnsWord)
    return this.is(distance, t.Describe, t.Desc) && (this.isName(distance + 1) || this.is(distance + 1, t.LParen))
  }

  protected isArrayJoin(): boolean {
    return this.is(1, t.ArrayWord) || (this.is(1, t.Left, t.Inner) && this.is(2, t.ArrayWord))
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
