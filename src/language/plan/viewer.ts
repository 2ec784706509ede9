import { InternalError, QueryError } from '../../errors/errors.ts'
import { literal, select, table } from '../ast/build.ts'
import { columnName } from '../ast/column-name.ts'
import type { Expr } from '../ast/nodes.ts'
import type { ResolveContext } from '../resolver/context.ts'
import { resolve } from '../resolver/resolve.ts'
import type { Planning } from '../resolver/session.ts'
import {
  type ColumnNode,
  emptySelect,
  type Read,
  type ScanSource,
  type TypedQuery,
  type TypedSelect,
  type TypedSource,
} from '../resolver/typed.ts'
import { rewrite, walk } from '../resolver/typed-walk.ts'

// What a viewer may read: the events of its filter, and from there no further than its rules say (docs/decisions/viewers-of-a-project.md).

export interface ViewerRules {
  /** Of events. Every scan of events in a statement of the viewer has it. */
  readonly condition: Expr
  /** What the condition may name. */
  readonly context: ResolveContext
  /** Properties of persons that may be read. */
  readonly personProperties: ReadonlySet<string>
  /** The statement was written by somebody whom the project trusts: it reads the persons, groups and cohorts of its events. */
  readonly mayJoin: boolean
}

const cohortTables: ReadonlySet<string> = new Set(['cohort_people', 'static_cohort_people'])
/** Tables of the project that a statement can have in FROM. The others of this list are made of the statement itself. */
const readable: ReadonlySet<string> = new Set(['events', 'sessions'])
const ofThePerson: ReadonlySet<string> = new Set(['person', 'poe'])
const identity: ReadonlySet<string> = new Set(['id', '@person_no'])

/** The statement with events as the viewer sees them. Anything else that it reads and may not is an error. */
export function seenBy(query: TypedQuery, rules: ViewerRules, planning: Planning, fresh: (wanted: string) => string): TypedQuery {
  const read = withoutUnused(query)
  checkReads(read, rules)
  return rewrite(read, {
    source: (source) => (source.kind === 'scan' && source.table === 'events' ? filtered(source, rules, planning, fresh) : source),
  })
}

/** A name that leads to another one leaves the whole field among the reads. */
function withoutUnused(query: TypedQuery): TypedQuery {
  const used = new Set<string>()
  walk(query, {
    expr(expr) {
      if (expr.kind === 'column') used.add(keyOf(expr.source, expr.name))
    },
  })
  return rewrite(query, {
    source: (source) =>
      source.kind === 'scan' ? { ...source, reads: source.reads.filter(({ name }) => used.has(keyOf(source.alias, name))) } : source,
  })
}
const keyOf = (source: string, name: string) => JSON.stringify([source, name])

function checkReads(query: TypedQuery, rules: ViewerRules): void {
  const members = rules.mayJoin ? setsOfMembers(query) : new Set<TypedSource>()
  walk(query, {
    source(source) {
      if (source.kind === 'attached') throw refused(`the table ${source.table.name}`, source)
      if (source.kind !== 'scan' || members.has(source)) return
      if (!readable.has(source.table)) throw refused(`the table ${shownTable(source.table)}`, source)
      for (const read of source.reads) if (!isAllowed(read, rules)) throw refused(shownRead(read), source)
    },
  })
}

/** The scans of cohorts that conditions look a person up in: none of their rows is shown. */
function setsOfMembers(query: TypedQuery): ReadonlySet<TypedSource> {
  const found = new Set<TypedSource>()
  walk(query, {
    expr(expr) {
      if (expr.kind !== 'in' || !('query' in expr.set) || expr.set.query.kind !== 'select') return
      const { from } = expr.set.query
      if (from?.kind === 'scan' && cohortTables.has(from.table)) found.add(from)
    },
  })
  return found
}

function isAllowed({ via, field, json }: Read, { personProperties, mayJoin }: ViewerRules): boolean {
  const [first] = via
  if (first === undefined || first === 'session' || mayJoin) return true
  if (via.length > 1 || !ofThePerson.has(first)) return false
  return identity.has(field) || (field === 'properties' && json !== undefined && personProperties.has(String(json.path[0])))
}

const shownTable = (name: string) => name.replace(/^@/, '')
const shownRead = ({ via, field, json }: Read) => [...via, field, ...(json?.path ?? [])].join('.')
const refused = (what: string, { span }: Pick<ScanSource, 'span'>) => new QueryError('not-for-viewers', { what }, span)

/**
 * Before: a scan of `events`. After: `(WITH seen AS MATERIALIZED (SELECT … FROM events WHERE <filter>) SELECT … FROM seen)`.
 * The engine computes nothing of the statement for other rows: a conversion that fails for one of them would tell of it.
 */
function filtered(
  scan: ScanSource,
  { condition, context }: ViewerRules,
  planning: Planning,
  fresh: (wanted: string) => string,
): TypedSource {
  const { span } = scan
  const asked = select({ columns: [literal(1)], from: table('events', 'seen'), where: condition })
  const template = resolve(asked, context, columnName, planning, fresh) as TypedSelect
  const { from, where } = template
  if (from?.kind !== 'scan' || where === null) throw new InternalError('The filter of a viewer does not read events')
  if (from.reads.some(({ via }) => via[0] === 'session'))
    throw new QueryError('validation-failed', {
      message: 'The filter of a viewer cannot read sessions, which are made of events.',
      attr: 'filter',
    })
  const own = new Map(from.reads.map((read) => [read.name, read]))
  for (const read of scan.reads) if (!own.has(read.name)) own.set(read.name, read)
  const inner: ScanSource = { ...from, reads: [...own.values()], sample: scan.sample, span }
  const columnOf = (source: string, { name, type }: Read): ColumnNode => ({ kind: 'column', source, name, type, span })
  // Rows can be counted without reading any column.
  const shown = scan.reads.length > 0 ? scan.reads : [inner.reads[0]!]
  const columns = (source: string) => shown.map((read) => ({ name: read.name, alias: read.name, expr: columnOf(source, read) }))
  const name = fresh('seen')
  const rows = fresh('rows')
  const seen: TypedSelect = { ...emptySelect, columns: columns(inner.alias), from: inner, where, span }
  const query: TypedSelect = {
    ...emptySelect,
    ctes: [{ name, recursive: false, materialized: true, query: seen }],
    columns: columns(rows),
    from: { kind: 'cteRef', alias: rows, name },
    span,
  }
  return { kind: 'derived', alias: scan.alias, query }
}
