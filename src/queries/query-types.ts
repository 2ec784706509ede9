import type * as z from 'zod'
import type { wrapperKinds } from './asked-query.ts'
import type { FunnelsAnswer, FunnelTrend } from './funnels/index.ts'
import type { funnelsSchema } from './funnels/schema.ts'
import type { FunnelStepResult } from './funnels/steps.ts'
import type { TimeToConvert } from './funnels/time-to-convert.ts'
import type { pathsPointSchema } from './paths/actors.ts'
import type { FunnelPathsFilter } from './paths/schema.ts'
import type { actorSources, kinds } from './registry.ts'
import type { SqlAnswer } from './sql/index.ts'
import type { sqlSchema } from './sql/schema.ts'
import type { ViewerKind } from './viewer/kinds.ts'

// The types of requests and answers, by kind, derived from the schemas that validate requests.

/** The caller's objects are not changed, so constants are accepted too. */
type Given<T> = T extends readonly (infer Item)[] ? readonly Given<Item>[] : T extends object ? { readonly [K in keyof T]: Given<T[K]> } : T
type Input<S extends z.ZodType> = Given<z.input<S>>
type Fields<S extends z.ZodType> = Omit<Input<S>, 'kind'>

type Kind = (typeof kinds)[number]
type PointSchema = (typeof actorSources)[number]['schema']
type Wrapper = (typeof wrapperKinds)[number]

/** The persons of a point of a chart. */
export type ActorsSource =
  | Input<Exclude<PointSchema, typeof pathsPointSchema>>
  | (Omit<Input<typeof pathsPointSchema>, 'source'> & { readonly source: { readonly kind: 'PathsQuery' } & FieldsByKind['PathsQuery'] })
/** A chart's point, or a statement whose rows identify persons. */
type AnySource = ActorsSource | ({ readonly kind: 'HogQLQuery' | 'SqlLikeQuery' } & Fields<typeof sqlSchema>)

/** Fields with a query of another kind, which the schema of that kind checks later. */
interface Nested {
  /** Around a step of a funnel. */
  PathsQuery: {
    readonly funnelPathsFilter?:
      | (Omit<Given<FunnelPathsFilter>, 'funnelSource'> & {
          readonly funnelSource: { readonly kind: 'FunnelsQuery' } & Fields<typeof funnelsSchema>
        })
      | null
  }
  ActorsQuery: { readonly source?: AnySource | null }
  EventsQuery: { readonly source?: ActorsSource | null }
  InsightActorsQueryOptions: { readonly source: ActorsSource }
  ViewerQuery: { readonly source: Query<ViewerKind> }
}
type FieldsOf<K extends string, S extends z.ZodType> = K extends keyof Nested ? Omit<Fields<S>, keyof Nested[K]> & Nested[K] : Fields<S>
type AnswerOf<K> = K extends { run(...args: never): Generator<unknown, infer R, never> } ? R : never

/** The fields of each kind of query, less its `kind`. */
export type FieldsByKind = { [K in Kind as K['kind']]: FieldsOf<K['kind'], K['schema']> } & { [K in Wrapper]: Shown }
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
export type AnswerWarning = UnreadValues | OrderedAsTexts | UnknownProperty | UnknownEvent | UnknownAction | UnusedFilters | OldCopy

/** A table beside the events is a copy that could not be made again when it was time to. */
export interface OldCopy {
  readonly code: 'old-copy'
  readonly table: string
  readonly as_of: string
  readonly message: string
}

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
  /** The tables beside the events that it reads, and from when their rows are. */
  readonly attached?: readonly { readonly table: string; readonly as_of: string }[]
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

export type AnswersByKind = { [K in Kind as K['kind']]: AnswerOf<K> } & { [K in Wrapper]: AnswerOf<Exclude<Kind, { kind: Unshown }>> }
/** Of editors, which no visualization shows. */
type Unshown =
  | 'HogQLMetadata'
  | 'HogQLAutocomplete'
  | 'DatabaseSchemaQuery'
  | 'TeamTaxonomyQuery'
  | 'EventTaxonomyQuery'
  | 'ActorsPropertyTaxonomyQuery'
/** The answer to a query of one kind. */
export type QueryAnswer<K extends QueryKindName = QueryKindName> = { [Kind in K]: AnswersByKind[Kind] & AnswerFacts }[K]

/** The answer to a statement, with the row type that the caller sets. */
export type SqlAnswerOf<Row extends readonly unknown[]> = Omit<SqlAnswer, 'results'> & { readonly results: readonly Row[] } & AnswerFacts
