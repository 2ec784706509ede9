import type { ThreadPool } from '../../core/folds/thread-pool.ts'
import type { ColumnSource } from '../../core/lists/ports.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import { QueryError, type WaymarkError } from '../../errors/errors.ts'
import type { PlanningBudget } from '../../language/ast/planning-budget.ts'
import { attachedProperty, attachedPropertyNames, attachedType } from '../../language/catalog/attached.ts'
import { countAll, longestKey, numbersOf } from '../../language/catalog/property-counts.ts'
import type { SessionSettings } from '../../language/catalog/sessions.ts'
import { type PropertyKey, propertyKey, type StoreFacts } from '../../language/catalog/store-facts.ts'
import type { PropertyScope } from '../../language/catalog/tables.ts'
import type { JsonRead, Slot } from '../../language/resolver/typed.ts'
import { actionCondition } from '../../queries/filters/property-filters.ts'
import type { Action, CohortInfo, ProjectSettings, QueryContext } from '../../queries/kind.ts'
import type { Refusal } from '../../queries/refusals.ts'
import type { Road } from '../../queries/schemas.ts'
import { viewerRules } from '../../queries/viewer/index.ts'
import type { ViewerQuery } from '../../queries/viewer/schema.ts'
import { viewTree } from '../../queries/views.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Engine, Statements } from './ports.ts'

/** Values that the lists lack. */
export interface Lacking {
  /** The query has been answered without them, or has failed: they are loaded in the background. */
  load(
    answered: { readonly seconds: number; readonly isWhole: boolean },
    again: (project: QueryProject, signal: AbortSignal) => Promise<ColumnSource | Refusal>,
  ): void
}

/** What queries need of a project. */
export interface QueryProject extends Statements, Pick<Engine, 'dialect' | 'limits'> {
  readonly settings: ProjectSettings
  readonly now: Date
  /** Read once per query, after everything acknowledged is applied. */
  facts(): Promise<StoreFacts>
  /** Runs a loop over the lists of the core, which include everything up to a record of the log. False if they do not fit into memory. */
  fold?(seq: number, columns: ColumnSource, loop: (listed: Listed) => Promise<void>): Promise<boolean>
  /** What the lists lack, if the query is to be answered without it. Null: it waits for them. `isRare`: it is loaded only when it is lacking the second time. */
  lacks?(seq: number, columns: ColumnSource, ask: { readonly label: string; readonly isRare: boolean }): Lacking | null
  /** Absent: as all others. Runs statements that read no table while others are refused. */
  readonly runOfRows?: Statements['run']
  /** Runs folds over large lists; absent: they run in this thread. */
  readonly threads?: Pick<ThreadPool, 'run' | 'isUsable'>
  /** As in `StatementScheduler`. */
  isAlone(): boolean
  /** Limits of the rows of an answer, if they are not the usual ones. */
  readonly rowLimits?: QueryContext['limits']
  /** Cohorts that cannot be refreshed, by id. They fail only the queries that use them. */
  readonly failedCohorts?: ReadonlyMap<number, WaymarkError>
  /** Called after each slice of planning a statement. May throw `PlannedElsewhere`. */
  planned?(budget: PlanningBudget): void
}

/** Settings of one request that change the meaning of statements. */
export interface StatementSettings {
  /** Return times in UTC. */
  readonly isUtc?: boolean
  /** As in `CompileOptions`. */
  readonly showsJson?: boolean
  readonly sessions?: SessionSettings
  /** Only this road, or an error with the reason. */
  readonly road?: Road
  readonly viewer?: ViewerQuery
}

const scopeOfTable: Readonly<Record<string, string>> = { events: 'event', persons: 'person', '@people': 'person' }

/** The part of the store's facts that a query may use. */
export function queryContext(
  { settings, now, limits, rowLimits, failedCohorts }: QueryProject,
  facts: StoreFacts,
  { isUtc, sessions, viewer }: StatementSettings = {},
  checkpoint?: Checkpoint,
): QueryContext {
  const action = actionsOf(facts)
  const { views = {} } = settings
  const attached = (scope: PropertyScope, name: string) => attachedProperty(settings.attached, facts.groupTypes, scope, name)
  const context: QueryContext = {
    now,
    project: isUtc ? { ...settings, timezone: 'UTC' } : settings,
    sessions,
    checkpoint,
    memoryLimit: limits.memoryLimit,
    action,
    actions: () => [...facts.actions.keys()].sort((a, b) => a - b).map((id) => action(id)!),
    cohort: cohortsOf(facts, failedCohorts),
    ...(rowLimits ? { limits: rowLimits } : {}),
    propertyType(scope, name) {
      const found = attached(scope, name)
      return found ? attachedType(found.column) : (facts.propertyKeys.get(propertyKey(scope, name))?.type ?? null)
    },
    propertyNumbers(scope, name) {
      const found = attached(scope, name)
      if (found) return attachedType(found.column) === 'Numeric' ? 'all' : 'none'
      const known = facts.propertyKeys.get(propertyKey(scope, name))
      if (known) return numbersOf(known.counts)
      return name.length > longestKey || facts.fullScopes.has(scope) ? 'marked' : 'none'
    },
    knownProperties: namesOf(facts, settings.attached),
    view: (name) => viewTree(views, name),
    viewNames: Object.keys(views),
    groupTypes: facts.groupTypes,
    lastPersonNo: facts.lastPersonNo,
    hasMerges: facts.hasMerges,
    knownEvents: () => facts.eventIds.keys(),
    eventId: (name) => facts.eventIds.get(name),
    slot(table, field, key, as) {
      const scope = field === 'properties' ? scopeOfTable[table] : undefined
      const known = scope === undefined ? undefined : facts.propertyKeys.get(propertyKey(scope, key))
      return known && slotFor(known, as)
    },
  }
  const whole: QueryContext = {
    ...context,
    actionCondition(which) {
      const found = action(which)
      return found && actionCondition(found, context)
    },
  }
  return viewer ? contextOfViewer(whole, viewer) : whole
}

/** Names that a viewer has not written itself come from events that it may not see. */
function contextOfViewer(context: QueryContext, viewer: ViewerQuery): QueryContext {
  const rules = viewerRules(viewer, context)
  const { knownProperties: _, knownEvents: __, actions: ___, ...known } = context
  if (rules.mayJoin) return { ...known, viewer: rules }
  const closed = (what: string) => () => {
    throw new QueryError('not-for-viewers', { what })
  }
  const [action, cohort] = [closed('actions'), closed('cohorts')]
  const project = { ...known.project, attached: undefined }
  return { ...known, project, viewNames: [], view: () => undefined, action, actionCondition: action, cohort, viewer: rules }
}

/** Computed on demand: needed only for unknown names, which are rare. */
const namesOf = ({ propertyKeys, groupTypes }: StoreFacts, attached: ProjectSettings['attached']) => {
  const found = new Map<string, readonly string[]>()
  return (scope: string): readonly string[] => {
    const known = found.get(scope) ?? [
      ...[...propertyKeys.values()].filter((key) => key.scope === scope).map(({ name }) => name),
      ...attachedPropertyNames(attached, groupTypes, scope),
    ]
    found.set(scope, known)
    return known
  }
}

const actionsOf =
  ({ actions }: StoreFacts) =>
  (idOrName: number | string): Action | undefined => {
    for (const [id, definition] of actions) {
      if (typeof idOrName === 'number' && id !== idOrName) continue
      const action = { ...(JSON.parse(definition) as Omit<Action, 'id'>), id }
      if (id === idOrName || action.name === idOrName) return action
    }
    return undefined
  }

const cohortsOf =
  ({ cohorts }: StoreFacts, failed: QueryProject['failedCohorts']) =>
  (idOrName: number | string): CohortInfo | undefined => {
    for (const [id, definition] of cohorts) {
      if (typeof idOrName === 'number' && id !== idOrName) continue
      const { name, is_static } = JSON.parse(definition) as { name: string; is_static?: boolean }
      if (id !== idOrName && name !== idOrName) continue
      const failure = failed?.get(id)
      if (failure) throw failure
      return { id, name, isStatic: is_static === true }
    }
    return undefined
  }

/** Slot columns are named after the first letter of their reading. */
const prefixes = { text: 's', number: 'n', boolean: 'b' } as const

/** A slot with this reading, or all slots that it can be computed from. */
function slotFor({ slots, counts }: PropertyKey, as: JsonRead): Slot | undefined {
  const holding = (holds: Slot['holds']): Slot | undefined => {
    const column = slots.find((name) => name.startsWith(prefixes[holds]))
    return column === undefined ? undefined : { column, holds }
  }
  if (as === 'value') return undefined
  const own = holding(as)
  if (own || as !== 'text') return own ?? holding('text')
  if (numbersOf(counts) === 'all') return holding('number')
  return counts.Boolean === countAll(counts) ? holding('boolean') : undefined
}
