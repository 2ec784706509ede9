import { QueryError } from '../../../errors/errors.ts'
import { isSpanned } from '../../../errors/span.ts'
import { select, table } from '../../../language/ast/build.ts'
import { columnName } from '../../../language/ast/column-name.ts'
import { identities } from '../../../language/ast/identity.ts'
import type { Expr, Query } from '../../../language/ast/nodes.ts'
import { PlanningBudget } from '../../../language/ast/planning-budget.ts'
import { walk } from '../../../language/ast/walk.ts'
import type { PropertyScope } from '../../../language/catalog/tables.ts'
import { tables } from '../../../language/catalog/tables.ts'
import { collectExpr, collectQuery, type Parsed } from '../../../language/parser/parse.ts'
import { resolve } from '../../../language/resolver/resolve.ts'
import { outputColumns } from '../../../language/resolver/typed.ts'
import { shownTypeName } from '../../../language/types/types.ts'
import { nearestSpellings } from '../../../lib/text/spelling.ts'
import type { QueryContext, QueryKind } from '../../kind.ts'
import { fillPlaceholders } from '../placeholders.ts'
import { type HogQLMetadataQuery, metadataSchema } from './schema.ts'
import { sourceTable } from './source-query.ts'

/** A remark about a part of the text. */
export interface EditorNotice {
  readonly message: string
  /** UTF-16 units from the start of the text; null: about the whole of it, or about the filters. */
  readonly start: number | null
  readonly end: number | null
  /** What to write instead of that part. */
  readonly fix: string | null
}

export interface HogQLMetadataAnswer {
  readonly query: string
  readonly isValid: boolean
  readonly errors: readonly EditorNotice[]
  readonly warnings: readonly EditorNotice[]
  readonly notices: readonly EditorNotice[]
  /** The tables that it reads. */
  readonly table_names: readonly string[]
  readonly ch_table_names: readonly string[]
  /** Name and type of each column of a statement that is valid. */
  readonly types: readonly (readonly [name: string, type: string])[]
}

export const hogQlMetadata: QueryKind<'HogQLMetadata', typeof metadataSchema, HogQLMetadataAnswer> = {
  kind: 'HogQLMetadata',
  schema: metadataSchema,
  // biome-ignore lint/correctness/useYield: it reads nothing
  *run(query, env) {
    const budget = new PlanningBudget(env.checkpoint)
    const isExpression = query.language === 'hogQLExpr'
    const parsed: Parsed<Query | Expr> = isExpression ? collectExpr(query.query, budget) : collectQuery(query.query, budget)
    const found = { query: query.query, notices: [], ch_table_names: [] }
    if (!parsed.ast || parsed.errors.length > 0) {
      return { ...found, isValid: false, errors: parsed.errors.map(noticeOf), warnings: [], table_names: [], types: [] }
    }
    const statement = isExpression
      ? select({ columns: [parsed.ast as Expr], from: table(sourceTable(query.sourceQuery)) })
      : (parsed.ast as Query)
    const { errors, types } = checked(statement, query, env, budget)
    return {
      ...found,
      isValid: errors.length === 0,
      errors,
      warnings: warningsOf(statement, env),
      table_names: tableNames(statement, env),
      types,
    }
  },
}

/** Binds its names, as if it were to run. */
function checked(
  statement: Query,
  { filters, variables, globals }: HogQLMetadataQuery,
  env: QueryContext,
  budget: PlanningBudget,
): Pick<HogQLMetadataAnswer, 'errors' | 'types'> {
  try {
    const given = { kind: 'HogQLQuery' as const, query: '', values: globals, variables, filters }
    const whole = fillPlaceholders(statement, given, env, budget)
    const typed = resolve(whole, env, columnName, { budget, idOf: identities() })
    return { errors: [], types: outputColumns(typed).map(({ name, type }) => [name, shownTypeName(type, env.project.timezone)] as const) }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return { errors: [error, ...error.others].map(noticeOf), types: [] }
  }
}

function noticeOf(error: QueryError['others'][number]): EditorNotice {
  const { message, span, suggestions } = error
  const isInText = span !== null && isSpanned(span) && !span.origin
  return { message, start: isInText ? span.start : null, end: isInText ? span.end : null, fix: suggestions[0] ?? null }
}

function tableNames(statement: Query, { viewNames = [], project: { attached } }: QueryContext): string[] {
  const found = new Set<string>()
  const own = new Set<string>()
  walk(statement, (node) => {
    if (node.kind === 'cte') own.add(node.name)
    if (node.kind === 'table') found.add(node.chain.join('.'))
  })
  const isKnown = (name: string) => Object.hasOwn(tables, name) || viewNames.includes(name) || Object.hasOwn(attached?.tables ?? {}, name)
  return [...found].filter((name) => !own.has(name) && isKnown(name)).sort()
}

/** Comparing a name with all known ones takes time. */
const mostCompared = 10

/** Properties that were never received, where a similar name was. */
function warningsOf(statement: Query, env: QueryContext): EditorNotice[] {
  const names = tableNames(statement, env)
  const usual: PropertyScope | null = names.includes('events') ? 'event' : names.includes('persons') ? 'person' : null
  const warnings: EditorNotice[] = []
  const looked = new Set<string>()
  walk(statement, (node) => {
    if (node.kind !== 'field') return
    const at = node.chain.indexOf('properties')
    const name = node.chain[at + 1]
    if (at < 0 || name === undefined) return
    const owner = node.chain[at - 1]
    const scope = owner === 'person' ? 'person' : owner && /^group_[0-4]$/.test(owner) ? (owner as PropertyScope) : usual
    const key = `${scope} ${name}`
    if (scope === null || looked.has(key) || looked.size >= mostCompared) return
    const known = env.knownProperties?.(scope) ?? []
    if (known.includes(name)) return
    looked.add(key)
    const [likely] = nearestSpellings(name, known)
    if (likely === undefined) return
    const message = `No ${scope} has ever had the property ${JSON.stringify(name)}. Did you mean ${JSON.stringify(likely)}?`
    warnings.push({
      message,
      start: node.span.start,
      end: node.span.end,
      fix: [...node.chain.slice(0, at + 1), likely, ...node.chain.slice(at + 2)].join('.'),
    })
  })
  return warnings
}
