import { WaymarkError } from '../../errors/errors.ts'
import type { Expr, Select, TableSource } from '../../language/ast/nodes.ts'
import { print } from '../../language/ast/print.ts'
import { parseQuery } from '../../language/parser/parse.ts'
import type { ResolveContext } from '../../language/resolver/context.ts'
import { resolve } from '../../language/resolver/resolve.ts'
import { hasAggregate, hasArrayJoin, hasWindow, holdsQuery } from '../../language/resolver/shape.ts'
import { own } from '../../lib/own.ts'
import type { Field } from './ports.ts'
import { throughView, ViewMisfit } from './writing/export-views.ts'
import { type ShownFields, shownFields } from './writing/shown-fields.ts'

// The query of an export: which columns its files have, and which events. One row in, one row out.

export interface ExportQuery {
  readonly fields: readonly Field[]
  readonly shown: ShownFields
  readonly where: string | null
  /** Of the table. */
  readonly alias: string | null
  /** As it is stored and shown. */
  readonly text: string
}

const refused = (message: string, cause?: unknown) =>
  new WaymarkError('invalid-value', { message, rule: 'invalid_input', attr: 'sql_like_query' }, { cause })

/** Clauses that would make other rows than the events themselves. */
const unsupported: readonly (readonly [name: string, isUsed: (query: Select) => boolean])[] = [
  ['WITH', ({ with: ctes }) => ctes.length > 0],
  ['DISTINCT', ({ distinct, distinctOn }) => distinct || distinctOn.length > 0],
  ['ARRAY JOIN', ({ arrayJoin }) => arrayJoin !== null],
  ['PREWHERE', ({ prewhere }) => prewhere !== null],
  ['GROUP BY', ({ groupBy }) => groupBy !== null],
  ['HAVING', ({ having }) => having !== null],
  ['QUALIFY', ({ qualify }) => qualify !== null],
  ['WINDOW', ({ windows }) => windows.length > 0],
  ['ORDER BY', ({ orderBy, orderByAll }) => orderBy.length > 0 || orderByAll],
  ['LIMIT', ({ limit, limitBy }) => limit !== null || limitBy !== null],
  ['SETTINGS', ({ settings }) => settings.length > 0],
]

/** The statements of views, by their names. */
type Views = Readonly<Record<string, string>>

/** A view is replaced by its statement as it is now: what is stored names no views. */
export function readExportQuery(text: string, projectId: number, now: Date, views: Views = {}): ExportQuery {
  const { query, source } = overEvents(text, views, [])
  if (query.columns.some(({ kind }) => kind === 'star')) throw refused('Unsupported * in the query: name the columns.')
  mustBePerEvent(query, projectId, now)
  const columns = query.columns.map(columnOf)
  const twice = columns.find(({ alias }, i) => columns.findIndex((other) => other.alias === alias) < i)
  if (twice) throw refused(`Two columns are named "${twice.alias}". Rename one of them with AS.`)
  const fields = columns.map(({ expr, alias }) => ({ expression: print(expr), alias }))
  return { fields, shown: shownFields(columns), where: query.where && print(query.where), alias: source.alias, text: print(query) }
}

/** The query with the statements of views in their places. `road`: the views that it stands in. */
function overEvents(text: string, views: Views, road: readonly string[]): { readonly query: Select; readonly source: TableSource } {
  const query = parsed(text)
  const where = road.length > 0 ? ` of the view ${road.at(-1)}` : ''
  if (query.kind === 'set') throw refused(`UNIONs are not supported in the query${where}: an export has one query over events.`)
  if (query.kind !== 'select') throw refused('Invalid query: write SELECT … FROM events.')
  for (const [name, isUsed] of unsupported)
    if (isUsed(query))
      throw refused(`Unsupported ${name} in the query${where}: an export has one row per event. Use SELECT … FROM events WHERE ….`)
  const source = tableOf(query)
  const name = source.chain.join('.')
  if (name === 'events') return { query, source }
  const statement = own(views, name)
  if (statement === undefined || road.includes(name)) throw refused('Query must only SELECT FROM events')
  const below = overEvents(statement, views, [...road, name])
  try {
    const whole = throughView(query, source, { name, statement: below.query, source: below.source })
    return { query: whole, source: below.source }
  } catch (error) {
    throw error instanceof ViewMisfit ? refused(error.message, error) : error
  }
}

function parsed(text: string) {
  try {
    return parseQuery(text)
  } catch (error) {
    throw refused(`Failed to parse query: ${messageOf(error)}`, error)
  }
}

function tableOf({ from }: Select): TableSource {
  if (from === null) throw refused('Query must SELECT FROM events')
  if (from.kind === 'join') throw refused('JOINs are not supported: read persons and sessions as fields, such as person.properties.email.')
  if (from.kind !== 'table' || from.args !== null || from.columnAliases.length > 0) throw refused('Query must only SELECT FROM events')
  if (from.sample !== null || from.final) throw refused('Unsupported SAMPLE or FINAL in the query: an export has all events.')
  return from
}

/** Throws unless names and types are known, and each row is computed from one event. */
function mustBePerEvent(query: Select, id: number, now: Date): void {
  const context: ResolveContext = {
    project: { id, timezone: 'UTC', weekStartDay: 0 },
    now,
    propertyType: () => null,
    cohort: (which) => ({ id: Number(which) || 0 }),
  }
  const typed = resolved(query, context)
  if (typed.kind !== 'select') throw refused('Invalid query: write SELECT … FROM events.')
  const parts = [...typed.columns.map(({ expr }) => expr), ...(typed.where ? [typed.where] : [])]
  if (parts.some((expr) => hasAggregate(expr) || hasWindow(expr)))
    throw refused('Unsupported aggregate or window function in the query: an export has one row per event.')
  if (parts.some((expr) => holdsQuery(expr) || hasArrayJoin(expr)))
    throw refused('Unsupported subquery or arrayJoin in the query: an export has one row per event, computed from the event alone.')
}

function resolved(query: Select, context: ResolveContext) {
  try {
    return resolve(query, context, nameOf)
  } catch (error) {
    throw refused(`Invalid query: ${messageOf(error)}`, error)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
const nameOf = (expr: Expr): string => (expr.kind === 'field' ? expr.chain.at(-1)! : print(expr))

const columnOf = (expr: Expr): { readonly expr: Expr; readonly alias: string } =>
  expr.kind === 'alias' ? { expr: expr.expr, alias: expr.name } : { expr, alias: nameOf(expr) }
