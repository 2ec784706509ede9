import { InternalError, QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { field, inQuery, literal, select, table } from '../ast/build.ts'
import { columnName } from '../ast/column-name.ts'
import type { Expr, Query } from '../ast/nodes.ts'
import type { ResolveContext } from '../resolver/context.ts'
import { resolve } from '../resolver/resolve.ts'
import type { Planning } from '../resolver/session.ts'
import {
  type CallNode,
  type ColumnNode,
  emptySelect,
  type Read,
  type ScanSource,
  type TypedExpr,
  type TypedLimit,
  type TypedQuery,
  type TypedSelect,
  type TypedSource,
} from '../resolver/typed.ts'
import { rewrite, walk } from '../resolver/typed-walk.ts'
import { harmlessConditions, withConditions } from './conditions-below.ts'
import type { Capabilities } from './context.ts'

// What a viewer may read: the events of its filter, and from there no further than its rules say (docs/decisions/viewers-of-a-project.md).

export interface ViewerRules {
  /** Of events. Every scan of events in a statement of the viewer has it. */
  readonly condition: Expr
  /** What the condition may name. */
  readonly context: ResolveContext
  /** Properties of persons that may be read. */
  readonly personProperties: ReadonlySet<string>
  /** The statement was written by somebody whom the project trusts: it reads the persons, groups and cohorts of its events. Lists of people show no more of them. */
  readonly mayJoin: boolean
}

const cohortTables: ReadonlySet<string> = new Set(['cohort_people', 'static_cohort_people'])
/** Tables of the project that a statement can have in FROM. The others of this list are made of the statement itself. */
const readable: ReadonlySet<string> = new Set(['events', 'sessions'])
/** In FROM of lists of people only: no statement can name it. */
const people = '@people'
const ofThePerson: ReadonlySet<string> = new Set(['person', 'poe'])
const identity: ReadonlySet<string> = new Set(['id', '@person_no'])

interface ViewerPlanning extends Planning {
  readonly capabilities: Pick<Capabilities, 'materializesCtes'>
}

/** The statement with events as the viewer sees them. Anything else that it reads and may not is an error. */
export function seenBy(query: TypedQuery, rules: ViewerRules, planning: ViewerPlanning, fresh: (wanted: string) => string): TypedQuery {
  const read = withoutUnused(query)
  checkReads(read, rules)
  // Elsewhere the engine moves them by itself.
  const below = planning.capabilities.materializesCtes ? null : harmlessConditions(read)
  return rewrite(read, {
    source(source) {
      if (source.kind !== 'scan' || (source.table !== 'events' && source.table !== people)) return source
      return onlySeen(source, seenPart(source, rules, planning, fresh), below && (below.get(source.alias) ?? []), fresh)
    },
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
      if (!readable.has(source.table) && source.table !== people) throw refused(`the table ${shownTable(source.table)}`, source)
      const isOpen = (read: Read) => (source.table === people ? isOfPerson(read, rules) : isAllowed(read, rules))
      for (const read of source.reads) if (!isOpen(read)) throw refused(shownRead(read), source)
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

function isAllowed({ via, ...read }: Read, rules: ViewerRules): boolean {
  const [first, ...further] = via
  if (first === undefined || first === 'session' || rules.mayJoin) return true
  return ofThePerson.has(first) && isOfPerson({ ...read, via: further }, rules)
}
const isOfPerson = ({ via, field, json }: Read, { personProperties }: ViewerRules): boolean =>
  via.length === 0 && (identity.has(field) || (field === 'properties' && json !== undefined && personProperties.has(String(json.path[0]))))

const shownTable = (name: string) => name.replace(/^@/, '')
const shownRead = ({ via, field, json }: Read) => [...via, field, ...(json?.path ?? [])].join('.')
const refused = (what: string, { span }: Pick<ScanSource, 'span'>) => new QueryError('not-for-viewers', { what }, span)

/** The rows that the viewer sees: the events of its filter, or the persons of these events. */
function seenPart(
  { table: name, span }: ScanSource,
  rules: ViewerRules,
  planning: ViewerPlanning,
  fresh: (wanted: string) => string,
): SeenPart {
  const { condition, context } = rules
  const rows = (of: string, where: Expr): Query => select({ columns: [literal(1)], from: table(of, 'seen'), where })
  const number = field('@person_no')
  const asked =
    name === people
      ? rows(people, inQuery(number, select({ columns: [number], from: table('events'), where: condition })))
      : rows('events', condition)
  const template = resolve(asked, context, columnName, planning, fresh) as TypedSelect
  const { from, where } = template
  if (from?.kind !== 'scan' || where === null) throw new InternalError('The filter of a viewer does not read its table')
  walk(template, {
    source(source) {
      if (source.kind === 'scan' && source.reads.some(({ via }) => via[0] === 'session'))
        throw new QueryError('validation-failed', {
          message: 'The filter of a viewer cannot read sessions, which are made of events.',
          attr: 'filter',
        })
    },
  })
  return { from: { ...from, span }, where }
}
interface SeenPart {
  readonly from: ScanSource
  readonly where: TypedExpr
}

const allRows = (span: Span): TypedLimit => ({ limit: Number.MAX_SAFE_INTEGER, offset: 0, percent: false, withTies: false, span })

/**
 * Before: a scan of `events`. After: `(WITH seen AS MATERIALIZED (SELECT … FROM events WHERE <filter>) SELECT … FROM seen)`.
 * The engine computes nothing of the statement for other rows: a conversion that fails for one of them would tell of it.
 * An engine that does not compute the part by itself gets `LIMIT <all rows>` in it: no condition of the statement can go below that without another meaning.
 * `below`: those that may; null: it computes the part by itself.
 */
function onlySeen(
  scan: ScanSource,
  { from, where }: SeenPart,
  below: readonly CallNode[] | null,
  fresh: (wanted: string) => string,
): TypedSource {
  const { span } = scan
  const own = new Map(from.reads.map((read) => [read.name, read]))
  for (const read of scan.reads) if (!own.has(read.name)) own.set(read.name, read)
  const inner: ScanSource = { ...from, reads: [...own.values()], sample: scan.sample }
  const columnOf = (source: string, { name, type }: Read): ColumnNode => ({ kind: 'column', source, name, type, span })
  // Rows can be counted without reading any column.
  const shown = scan.reads.length > 0 ? scan.reads : [inner.reads[0]!]
  const columns = (source: string) => shown.map((read) => ({ name: read.name, alias: read.name, expr: columnOf(source, read) }))
  const name = fresh('seen')
  const rows = fresh('rows')
  const seen: TypedSelect = {
    ...emptySelect,
    columns: columns(inner.alias),
    from: inner,
    where: withConditions(where, below ?? [], (name) => columnOf(inner.alias, own.get(name)!)),
    limit: below && allRows(span),
    span,
  }
  const query: TypedSelect = {
    ...emptySelect,
    ctes: [{ name, recursive: false, materialized: true, query: seen }],
    columns: columns(rows),
    from: { kind: 'cteRef', alias: rows, name },
    span,
  }
  return { kind: 'derived', alias: scan.alias, query }
}
