import type { IToken } from 'chevrotain'
import type { DictEntry, Expr, Placeholder, Tag } from '../ast/nodes.ts'
import { CallGrammar } from './call-grammar.ts'
import { callNode } from './expression-stack.ts'
import { type Rule, spanOf } from './grammar-base.ts'
import { undoEscapes, unquote } from './literals.ts'
import { caseCall } from './lowering.ts'
import * as t from './tokens.ts'

/** Values in brackets, quotes and braces. */
export abstract class ValueGrammar extends CallGrammar {
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
      // `concat` requires at least two texts, and converts other values to text.
      const args = parts.length === 1 ? [...parts, { kind: 'literal', type: 'string', value: '', span } as const] : parts
      return callNode('concat', args, span)
    })
  })

  readonly tag: Rule<Tag> = this.rule('tag', () => {
    const start = this.begin()
    this.ACTION(() => this.enter(start))
    this.CONSUME(t.Less)
    const name = this.CONSUME(t.Word)
    const attributes: string[] = []
    const values: Expr[] = []
    this.MANY(() => {
      const attribute = this.CONSUME2(t.Word)
      let value: Expr | undefined
      this.OPTION(() => {
        this.CONSUME(t.Equals)
        value = this.OR<Expr>([
          { ALT: () => this.attributeText(this.CONSUME(t.StringLiteral)) },
          { ALT: () => this.attributeText(this.CONSUME(t.QuotedIdentifier)) },
          {
            ALT: () => {
              this.CONSUME(t.LBrace)
              const inner = this.SUBRULE(this.expression)
              this.CONSUME(t.RBrace)
              return inner
            },
          },
        ])
      })
      this.ACTION(() => {
        attributes.push(this.nameText(attribute))
        values.push(value ?? { kind: 'literal', type: 'bool', value: true, span: spanOf(attribute) })
      })
    })
    let hasChildren = false
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
          hasChildren = true
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
      return { kind: 'tag', name: this.nameText(name), attributes, values, hasChildren, span: this.until(start) }
    })
  })

  private attributeText(token: IToken): Expr {
    return this.ACTION(() => ({ kind: 'literal', type: 'string', value: unquote(token.image), span: spanOf(token) }))
  }

  // looking ahead

  protected isPlaceholder(): boolean {
    if (!this.is(1, t.LBrace)) return false
    let distance = 2
    while (this.isWord(distance) && this.is(distance + 1, t.Dot)) distance += 2
    return this.isWord(distance) && this.is(distance + 1, t.RBrace)
  }
}

export interface List {
  readonly items: readonly Expr[]
  /** True after a comma, or for empty parentheses: a tuple, not an expression in parentheses. */
  readonly isList: boolean
}
