export type { QueryStatus } from './asking/query-runs.ts'
export type { RefreshMode } from './asking/refresh.ts'
export { type OpenOptions, open, type Waymark } from './engine.ts'
export { type ErrorCode, type ErrorData, errorTable } from './errors/codes.ts'
export { InternalError, QueryError, UnsupportedError, WaymarkError } from './errors/errors.ts'
export type { Span } from './errors/span.ts'
export { createHandler, type HandlerOptions } from './http/create-handler.ts'
export type {
  ActionService,
  CohortService,
  CohortState,
  IngestAnswer,
  Project,
  QueryOptions,
  StoredAction,
  StoredCohort,
  Warning,
  WarningSummary,
  WarningType,
} from './project.ts'
export type { ActorOptions } from './queries/actor-source.ts'
export type { ActorsResponse } from './queries/actors/index.ts'
export type { ActorsQuery } from './queries/actors/schema.ts'
export type { TrendsResponse } from './queries/trends/index.ts'
export type { TrendsQuery } from './queries/trends/schema.ts'
export type { TrendsRow } from './queries/trends/shape.ts'
export type { LogDamage } from './storage/log/log.ts'
export type { RecoveryReport } from './storage/recovery-report.ts'
