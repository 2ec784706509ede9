export { open } from './doors/connected/open.ts'
export { createHandler, type Handler, type HandlerOptions } from './doors/http/server/create-handler.ts'
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from './doors/http/server/node-handler.ts'
export {
  type BatchExportCalls,
  type Bounds,
  type ByteStream,
  type Client,
  createClient,
  type DashboardCalls,
  type DeletedPersons,
  type DeletionOptions,
  type InsightCalls,
  type ListPage,
  type PersonCalls,
  type PersonSelection,
  type ProjectCalls,
  type ProjectOrId,
  type SavedFilterCalls,
} from './doors/library/client.ts'
export { ClientError } from './doors/library/client-error.ts'
export type { FileImportOptions, FileImportSummary } from './doors/library/import-files.ts'
export type { CohortInput } from './engine/definitions/cohorts.ts'
export type { LogDamage } from './engine/storage/log/log.ts'
export type { RecoveryReport } from './engine/storage/recovery/recovery-report.ts'
export type { EngineChoice, OpenOptions } from './engine.ts'
export { type ErrorCode, type ErrorData, errorTable } from './errors/codes.ts'
export { InternalError, QueryError, UnsupportedError, WaymarkError } from './errors/errors.ts'
export type { Span } from './errors/span.ts'
export type {
  BatchInput,
  EventInput,
  GroupImportOptions,
  GroupInput,
  IngestInput,
  PersonInput,
  PropertyTypeInput,
} from './events/ingestion/decoding/inputs.ts'
export type { KnownEvent, KnownProperty } from './language/catalog/known-names.ts'
export type {
  ActionService,
  CohortService,
  CohortState,
  IngestAnswer,
  StoredAction,
  StoredCohort,
  Warning,
  WarningSummary,
  WarningType,
} from './project.ts'
export type { ActorOptions } from './queries/actor-source.ts'
export type { ActorsResponse } from './queries/actors/index.ts'
export type { EventsAnswer as EventsResponse } from './queries/events/index.ts'
export type { ActionInput } from './queries/filters/action-definition.ts'
export type { FilterGroupInput, FilterInput, FiltersInput, Operator } from './queries/filters/schema.ts'
export type { CorrelationAnswer as FunnelCorrelationResponse, OddsRatio } from './queries/funnels/correlation/index.ts'
export type { FunnelsAnswer as FunnelsResponse, FunnelTrend } from './queries/funnels/index.ts'
export type { FunnelStepResult } from './queries/funnels/steps.ts'
export type { TimeToConvert } from './queries/funnels/time-to-convert.ts'
export type { LifecycleAnswer as LifecycleResponse, LifecycleRow } from './queries/lifecycle/index.ts'
export type { PathEdge, PathsAnswer as PathsResponse } from './queries/paths/index.ts'
export type {
  ActorsSource,
  AnswerFacts,
  AnswersByKind,
  AnswerWarning,
  FieldsByKind,
  FunnelResultsByView,
  FunnelView,
  PlainFunnel,
  PlainFunnelAnswer,
  Query,
  QueryAnswer,
  QueryKindName,
  SplitFunnel,
  SplitFunnelAnswer,
  SqlAnswerOf,
} from './queries/query-types.ts'
export type { RetentionAnswer as RetentionResponse, RetentionRow, RetentionValue } from './queries/retention/index.ts'
export type { RetentionMean } from './queries/retention/mean.ts'
export type { AutocompleteItem, HogQLAutocompleteAnswer as HogQLAutocompleteResponse } from './queries/sql/editor/autocomplete.ts'
export type {
  DatabaseSchemaAnswer as DatabaseSchemaResponse,
  DatabaseSchemaField,
  DatabaseSchemaTable,
} from './queries/sql/editor/database-schema.ts'
export type { EditorNotice, HogQLMetadataAnswer as HogQLMetadataResponse } from './queries/sql/editor/metadata.ts'
export type { SqlAnswer as SqlResponse } from './queries/sql/index.ts'
export type { StickinessAnswer as StickinessResponse, StickinessRow } from './queries/stickiness/index.ts'
export type {
  ActorsPropertyTaxonomyAnswer as ActorsPropertyTaxonomyResponse,
  EventTaxonomyAnswer as EventTaxonomyResponse,
  TeamTaxonomyAnswer as TeamTaxonomyResponse,
} from './queries/taxonomy/index.ts'
export type { PeriodLabel, ShownRange, ShownRanges } from './queries/time/comparison.ts'
export type { BoxPlotDatum } from './queries/trends/box-plot.ts'
export type { CalendarHeatmap } from './queries/trends/heatmap.ts'
export type { TrendsResponse } from './queries/trends/index.ts'
export type { TrendsRow } from './queries/trends/shape.ts'
export type { WebGoalsAnswer as WebGoalsResponse } from './queries/web/goals.ts'
export type { WebOverviewAnswer as WebOverviewResponse, WebOverviewItem } from './queries/web/overview.ts'
export type { WebTableAnswer as WebTableResponse } from './queries/web/stats-table.ts'
export type { WebPageURLSearchAnswer as WebPageURLSearchResponse } from './queries/web/url-search.ts'
export type { WebVitalsPathsAnswer as WebVitalsPathsResponse } from './queries/web/vitals.ts'
export type { HostUser } from './service/accounts/organizations/host-users.ts'
export type { NewProjectSettings } from './service/accounts/projects/project-fields.ts'
export type { PersonalKeyOptions } from './service/accounts/users/personal-keys.ts'
export type { QueryStatus } from './service/asking/query-runs.ts'
export type { RefreshMode } from './service/asking/refresh.ts'
export type { BackupOptions, BackupSummary } from './service/backups/directory-backups.ts'
export { type RestoredDirectory, type RestoreSettings, restore } from './service/backups/restore-directory.ts'
export type { CompactedProject, CompactOptions, CompactProgress, CompactSummary } from './service/directory/compact-projects.ts'
export type { ViewerTokenInput } from './service/viewers/grant.ts'
export type { OrganizationSummary, Project, ProjectSummary, QueryOptions, Refresh, Waiting, Waymark } from './waymark.ts'
