import { InternalError, QueryError } from '../../errors/errors.ts'
import { columnName } from '../../language/ast/column-name.ts'
import { identities } from '../../language/ast/identity.ts'
import type { Query } from '../../language/ast/nodes.ts'
import { PlanningBudget } from '../../language/ast/planning-budget.ts'
import { assertSize, maxTreeDepth } from '../../language/ast/walk.ts'
import { attachedProperty } from '../../language/catalog/attached.ts'
import { personRevenueQuery } from '../../language/catalog/person-revenue.ts'
import { sessionsQuery } from '../../language/catalog/sessions.ts'
import type { Dialect, PrintedQuery } from '../../language/dialects/dialect.ts'
import { printQuery } from '../../language/dialects/printer.ts'
import type { PlanContext, StoreSnapshot } from '../../language/plan/context.ts'
import { type Budget, footprintOf } from '../../language/plan/footprint.ts'
import { passes } from '../../language/plan/passes.ts'
import { type PropertyUse, propertyUses } from '../../language/plan/property-uses.ts'
import { timeRange } from '../../language/plan/time-range.ts'
import { seenBy, type ViewerRules } from '../../language/plan/viewer.ts'
import type { ResolveContext } from '../../language/resolver/context.ts'
import { resolve } from '../../language/resolver/resolve.ts'
import type { TypedQuery } from '../../language/resolver/typed.ts'
import { freshAliases } from '../../language/resolver/typed-walk.ts'

// From a tree of the language to a statement of an engine. Pure: everything it needs is passed in.

/** What compiling a statement needs: a QueryContext, or a part of it. */
export type StatementContext = ResolveContext & StoreSnapshot & { readonly viewer?: ViewerRules | undefined }

export interface CompileOptions {
  readonly context: StatementContext
  readonly dialect: Dialect
  /** How many bytes statements may produce at a time. */
  readonly budget?: Budget
  /** Limits on the size of a statement during planning. */
  readonly planningBudget?: PlanningBudget
  /** For an answer as JSON: the engine converts numbers that are shown unchanged to JSON. */
  readonly showsJson?: boolean
}

/** For a store with 1 GiB of memory and four threads. */
const usualBudget: Budget = { bytes: 2 ** 29, threads: 4 }

/** The queries of tables that are made of others. */
const views: Readonly<Record<string, (fields: readonly string[], context: StatementContext) => Query>> = {
  sessions: (fields, { sessions = {} }) => sessionsQuery(fields, sessions),
  '@person_revenue': (fields, { project: { baseCurrency = 'USD' } }) => personRevenueQuery(fields, baseCurrency),
}

/** Columns of attached tables behind properties. */
const attachedOf = ({ project: { attached }, groupTypes = [] }: StatementContext): PlanContext['attached'] =>
  attached && ((scope, name) => attachedProperty(attached, groupTypes, scope, name))

export interface Compiled {
  readonly resolved: TypedQuery
  readonly planned: TypedQuery
  readonly printed: PrintedQuery
  /** The properties that the statement reads as numbers or times. */
  readonly uses: readonly PropertyUse[]
}

export function compile(query: Query, options: CompileOptions): Compiled {
  const steps = compiling(query, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same as a generator, in steps. */
export function* compiling(query: Query, options: CompileOptions): Generator<void, Compiled> {
  try {
    return yield* compilingSteps(query, options)
  } catch (error) {
    // Aliases that use each other nest as deep as their number, and the caller may have used most of the stack already.
    if (error instanceof RangeError) throw new QueryError('too-deep', { limit: maxTreeDepth }, query.span, { cause: error })
    throw error
  }
}

function* compilingSteps(
  query: Query,
  { context, dialect, budget = usualBudget, showsJson = false, ...given }: CompileOptions,
): Generator<void, Compiled> {
  const planning = { budget: given.planningBudget ?? new PlanningBudget(), idOf: identities() }
  assertSize(query, planning.budget)
  yield
  const seen = (typed: TypedQuery, fresh = freshAliases(typed)) =>
    context.viewer ? seenBy(typed, context.viewer, { ...planning, capabilities: dialect.capabilities }, fresh) : typed
  const resolved = seen(resolve(query, context, columnName, planning))
  yield
  const planContext: PlanContext = {
    ...planning,
    capabilities: dialect.capabilities,
    projectId: context.project.id,
    store: context,
    showsJson,
    attached: attachedOf(context),
    view: (table, fields, fresh) => {
      const make = views[table]
      if (!make) throw new InternalError(`${table} is not a view`)
      return seen(resolve(make(fields, context), context, columnName, planning, fresh), fresh)
    },
  }
  let planned = resolved
  for (const pass of passes) {
    planned = pass.run(planned, planContext)
    yield
  }
  const { project, now } = context
  const range = project.timezone === 'UTC' ? undefined : timeRange(planned, now, project.timezone)
  const footprint = dialect.guards && footprintOf(planned, budget, planning.budget)
  yield
  const printed = printQuery(planned, dialect, {
    ...project,
    ...planning,
    now: now.getTime(),
    footprint,
    ...(range ? { timeRange: range } : {}),
  })
  yield
  return { resolved, planned, printed, uses: propertyUses(planned) }
}
