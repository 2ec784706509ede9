import type * as z from 'zod'
import type { ActorOptions } from './actor-source.ts'
import type { ActorsResponse } from './actors/index.ts'
import type { actorsSchema, optionsSchema } from './actors/schema.ts'
import type { EventsAnswer } from './events/index.ts'
import type { eventsSchema } from './events/schema.ts'
import type { funnelPointSchema } from './funnels/actors.ts'
import type { CorrelationAnswer } from './funnels/correlation/index.ts'
import type { correlationPointSchema, correlationSchema } from './funnels/correlation/schema.ts'
import type { FunnelsAnswer, FunnelTrend } from './funnels/index.ts'
import type { funnelsSchema } from './funnels/schema.ts'
import type { FunnelStepResult } from './funnels/steps.ts'
import type { TimeToConvert } from './funnels/time-to-convert.ts'
import type { lifecyclePointSchema } from './lifecycle/actors.ts'
import type { LifecycleAnswer } from './lifecycle/index.ts'
import type { lifecycleSchema } from './lifecycle/schema.ts'
import type { pathsPointSchema } from './paths/actors.ts'
import type { PathsAnswer } from './paths/index.ts'
import type { FunnelPathsFilter, pathsSchema } from './paths/schema.ts'
import type { retentionPointSchema } from './retention/actors.ts'
import type { RetentionAnswer } from './retention/index.ts'
import type { retentionSchema } from './retention/schema.ts'
import type { HogQLAutocompleteAnswer } from './sql/editor/autocomplete.ts'
import type { DatabaseSchemaAnswer, databaseSchemaSchema } from './sql/editor/database-schema.ts'
import type { HogQLMetadataAnswer } from './sql/editor/metadata.ts'
import type { autocompleteSchema, metadataSchema } from './sql/editor/schema.ts'
import type { SqlAnswer } from './sql/index.ts'
import type { sqlSchema } from './sql/schema.ts'
import type { stickinessActorsSchema, stickinessPointSchema } from './stickiness/actors.ts'
import type { StickinessAnswer } from './stickiness/index.ts'
import type { stickinessSchema } from './stickiness/schema.ts'
import type { ActorsPropertyTaxonomyAnswer, EventTaxonomyAnswer, TeamTaxonomyAnswer } from './taxonomy/index.ts'
import type { actorsTaxonomySchema, eventTaxonomySchema, teamTaxonomySchema } from './taxonomy/schema.ts'
import type { trendsPointSchema } from './trends/actors.ts'
import type { TrendsResponse } from './trends/index.ts'
import type { trendsSchema } from './trends/schema.ts'
import type { WebGoalsAnswer } from './web/goals.ts'
import type { WebOverviewAnswer } from './web/overview.ts'
import type { externalClicksSchema, goalsSchema, overviewSchema, statsTableSchema, urlSearchSchema, vitalsSchema } from './web/schema.ts'
import type { WebTableAnswer } from './web/stats-table.ts'
import type { WebPageURLSearchAnswer } from './web/url-search.ts'
import type { WebVitalsPathsAnswer } from './web/vitals.ts'

// The types of requests and answers, by kind, derived from the schemas that validate requests.

/** The caller's objects are not changed, so constants are accepted too. */
type Given<T> = T extends readonly (infer Item)[] ? readonly Given<Item>[] : T extends object ? { readonly [K in keyof T]: Given<T[K]> } : T
type Input<S extends z.ZodType> = Given<z.input<S>>
type Fields<S extends z.ZodType> = Omit<Input<S>, 'kind'>

/** The persons of a point of a chart. */
export type ActorsSource =
  | Input<typeof trendsPointSchema>
  | Input<typeof lifecyclePointSchema>
  | Input<typeof retentionPointSchema>
  | Input<typeof stickinessPointSchema>
  | (Omit<Input<typeof pathsPointSchema>, 'source'> & { readonly source: { readonly kind: 'PathsQuery' } & PathsFields })
  | Input<typeof stickinessActorsSchema>
  | Input<typeof funnelPointSchema>
  | Input<typeof correlationPointSchema>
/** A chart's point, or a statement whose rows identify persons. */
type AnySource = ActorsSource | ({ readonly kind: 'HogQLQuery' | 'SqlLikeQuery' } & Fields<typeof sqlSchema>)
/** Paths around a step of a funnel. */
type PathsFields = Omit<Fields<typeof pathsSchema>, 'funnelPathsFilter'> & {
  readonly funnelPathsFilter?:
    | (Omit<Given<FunnelPathsFilter>, 'funnelSource'> & {
        readonly funnelSource: { readonly kind: 'FunnelsQuery' } & Fields<typeof funnelsSchema>
      })
    | null
}
type WithSource<S extends z.ZodType, Source> = Omit<Fields<S>, 'source'> & { readonly source?: Source | null }

/** The fields of each kind of query, less its `kind`. */
export interface FieldsByKind {
  TrendsQuery: Fields<typeof trendsSchema>
  FunnelsQuery: Fields<typeof funnelsSchema>
  LifecycleQuery: Fields<typeof lifecycleSchema>
  RetentionQuery: Fields<typeof retentionSchema>
  StickinessQuery: Fields<typeof stickinessSchema>
  PathsQuery: PathsFields
  FunnelCorrelationQuery: Fields<typeof correlationSchema>
  WebOverviewQuery: Fields<typeof overviewSchema>
  WebStatsTableQuery: Fields<typeof statsTableSchema>
  WebGoalsQuery: Fields<typeof goalsSchema>
  WebExternalClicksTableQuery: Fields<typeof externalClicksSchema>
  WebVitalsPathBreakdownQuery: Fields<typeof vitalsSchema>
  WebPageURLSearchQuery: Fields<typeof urlSearchSchema>
  ActorsQuery: WithSource<typeof actorsSchema, AnySource>
  EventsQuery: WithSource<typeof eventsSchema, ActorsSource>
  SqlLikeQuery: Fields<typeof sqlSchema>
  HogQLQuery: Fields<typeof sqlSchema>
  HogQLMetadata: Fields<typeof metadataSchema>
  HogQLAutocomplete: Fields<typeof autocompleteSchema>
  DatabaseSchemaQuery: Fields<typeof databaseSchemaSchema>
  TeamTaxonomyQuery: Fields<typeof teamTaxonomySchema>
  EventTaxonomyQuery: Fields<typeof eventTaxonomySchema>
  ActorsPropertyTaxonomyQuery: Fields<typeof actorsTaxonomySchema>
  InsightActorsQueryOptions: Omit<Fields<typeof optionsSchema>, 'source'> & { readonly source: ActorsSource }
  DataTableNode: Shown
  DataVisualizationNode: Shown
  InsightVizNode: Shown
  WebVitalsQuery: Shown
}
/** How the answer of the source is shown; ignored. */
interface Shown {
  readonly source: Query
  readonly [name: string]: unknown
}
export type QueryKindName = keyof FieldsByKind

/** A query of one kind; of any kind by default. */
export type Query<K extends QueryKindName = QueryKindName> = { [Kind in K]: { readonly kind: Kind } & FieldsByKind[Kind] }[K]

/** The results of a funnel, by its view. */
export interface FunnelResultsByView {
  steps: readonly FunnelStepResult[]
  flow: readonly FunnelStepResult[]
  time_to_convert: TimeToConvert
  trends: readonly FunnelTrend[]
}
export type FunnelView = keyof FunnelResultsByView

type FunnelFields = FieldsByKind['FunnelsQuery']
type FunnelOf<View extends FunnelView> = { readonly kind: 'FunnelsQuery' } & Omit<FunnelFields, 'funnelsFilter' | 'breakdownFilter'> & {
    readonly funnelsFilter?:
      | (Omit<NonNullable<FunnelFields['funnelsFilter']>, 'funnelVizType'> & { readonly funnelVizType?: View | null })
      | null
  }
/** A funnel of one view. Its steps are one list. */
export type PlainFunnel<View extends FunnelView = 'steps'> = FunnelOf<View> & { readonly breakdownFilter?: null }

type BreakdownFields = NonNullable<FunnelFields['breakdownFilter']>
type ListOf<T> = T extends readonly (infer Item)[] ? readonly [Item, ...Item[]] : T
type SomeBreakdown = Omit<BreakdownFields, 'breakdown' | 'breakdowns'> &
  (
    | { readonly breakdown: ListOf<NonNullable<BreakdownFields['breakdown']>>; readonly breakdowns?: null }
    | { readonly breakdowns: ListOf<NonNullable<BreakdownFields['breakdowns']>>; readonly breakdown?: null }
  )
/** A funnel with a breakdown. Its steps are a list for each value. */
export type SplitFunnel<View extends FunnelView = 'steps'> = FunnelOf<View> & { readonly breakdownFilter: SomeBreakdown }

/** The answer to a funnel whose view is known: `funnelVizType` and `breakdownFilter` are in the query. */
export type PlainFunnelAnswer<View extends FunnelView = 'steps'> = FunnelsAnswer<FunnelResultsByView[View]> & AnswerFacts
export type SplitFunnelAnswer<View extends FunnelView = 'steps'> = FunnelsAnswer<
  View extends 'steps' | 'flow' ? readonly FunnelResultsByView[View][] : FunnelResultsByView[View]
> &
  AnswerFacts

/** Reasons why an answer may not be what the query intended. */
export type AnswerWarning = UnreadValues | OrderedAsTexts | UnknownProperty | UnknownEvent | UnknownAction | UnusedFilters

/** Values that a query read as null, because they have another type. */
export interface UnreadValues {
  readonly code: 'not-numbers' | 'not-times' | 'not-booleans'
  readonly property: string
  /** `event`, `person` or `group_0` … `group_4`. */
  readonly scope: string
  /** The type as which it was read. */
  readonly type: 'Numeric' | 'DateTime' | 'Boolean'
  /** Among all values ever sent, inside the query's range or not. */
  readonly count: number
  readonly message: string
}

/** Numbers of a property that became texts in a list, a map or a tuple, where their order matters. */
export interface OrderedAsTexts {
  readonly code: 'ordered-as-texts'
  readonly property: string
  /** `event`, `person` or the name of a group type. */
  readonly scope: string
  readonly function: string
  /** Numbers among all values that were ever sent. */
  readonly count: number
  readonly message: string
}

/** A property of the query that was never received, with similar names that were. */
export interface UnknownProperty {
  readonly code: 'unknown-property'
  readonly property: string
  readonly scope: string
  readonly suggestions: readonly string[]
  readonly message: string
}

/** An event name of the query that was never received, with similar names that were. */
export interface UnknownEvent {
  readonly code: 'unknown-event'
  readonly event: string
  readonly suggestions: readonly string[]
  readonly message: string
}

/** An action of the query that does not exist: it matches nothing. */
export interface UnknownAction {
  readonly code: 'unknown-action'
  readonly action: number
  readonly message: string
}

/** Filters of a statement that has no `{filters}`. */
export interface UnusedFilters {
  readonly code: 'unused-filters'
  readonly message: string
}

/** Fields of every answer besides its results. */
export interface AnswerFacts {
  /** Seconds that each statement took, and all together as `.`. */
  readonly timings: readonly { readonly k: string; readonly t: number }[]
  /** About properties that were read as numbers or times and have other values, about unknown names, and about filters without a placeholder. */
  readonly warnings?: readonly AnswerWarning[]
  /** With `explain: true`: the statements sent to the engine. */
  readonly explain?: readonly object[]
  /** For charts, whose answers are cached while nothing changes. */
  readonly is_cached?: boolean
  readonly cache_key?: string
  /** When the answer becomes too old; null: never, because its date range has ended. */
  readonly cache_target_age?: string | null
  readonly last_refresh?: string
  readonly next_allowed_client_refresh?: string
  readonly timezone?: string
}

export interface AnswersByKind {
  TrendsQuery: TrendsResponse
  FunnelsQuery: FunnelsAnswer
  LifecycleQuery: LifecycleAnswer
  RetentionQuery: RetentionAnswer
  StickinessQuery: StickinessAnswer
  PathsQuery: PathsAnswer
  FunnelCorrelationQuery: CorrelationAnswer
  WebOverviewQuery: WebOverviewAnswer
  WebStatsTableQuery: WebTableAnswer
  WebGoalsQuery: WebGoalsAnswer
  WebExternalClicksTableQuery: WebTableAnswer
  WebVitalsPathBreakdownQuery: WebVitalsPathsAnswer
  WebPageURLSearchQuery: WebPageURLSearchAnswer
  ActorsQuery: ActorsResponse
  EventsQuery: EventsAnswer
  SqlLikeQuery: SqlAnswer
  HogQLQuery: SqlAnswer
  HogQLMetadata: HogQLMetadataAnswer
  HogQLAutocomplete: HogQLAutocompleteAnswer
  DatabaseSchemaQuery: DatabaseSchemaAnswer
  TeamTaxonomyQuery: TeamTaxonomyAnswer
  EventTaxonomyQuery: EventTaxonomyAnswer
  ActorsPropertyTaxonomyQuery: ActorsPropertyTaxonomyAnswer
  InsightActorsQueryOptions: ActorOptions
  DataTableNode: AnswerOfSource
  DataVisualizationNode: AnswerOfSource
  InsightVizNode: AnswerOfSource
  WebVitalsQuery: AnswerOfSource
}
type AnswerOfSource =
  | TrendsResponse
  | FunnelsAnswer
  | LifecycleAnswer
  | RetentionAnswer
  | StickinessAnswer
  | PathsAnswer
  | CorrelationAnswer
  | WebOverviewAnswer
  | WebTableAnswer
  | WebGoalsAnswer
  | WebVitalsPathsAnswer
  | WebPageURLSearchAnswer
  | ActorsResponse
  | EventsAnswer
  | SqlAnswer
  | ActorOptions
/** The answer to a query of one kind. */
export type QueryAnswer<K extends QueryKindName = QueryKindName> = { [Kind in K]: AnswersByKind[Kind] & AnswerFacts }[K]

/** The answer to a statement, with the row type that the caller sets. */
export type SqlAnswerOf<Row extends readonly unknown[]> = Omit<SqlAnswer, 'results'> & { readonly results: readonly Row[] } & AnswerFacts
