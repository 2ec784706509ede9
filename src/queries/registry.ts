import type { AnyActorSource } from './actor-source.ts'
import { actorOptionsKind, actorsKind } from './actors/index.ts'
import { eventsKind } from './events/index.ts'
import { funnelsActors } from './funnels/actors.ts'
import { correlationActors } from './funnels/correlation/actors.ts'
import { correlation } from './funnels/correlation/index.ts'
import { funnels } from './funnels/index.ts'
import { funnelStepTimes } from './funnels/step-times.ts'
import type { AnyQueryKind } from './kind.ts'
import { lifecycleActors } from './lifecycle/actors.ts'
import { lifecycle } from './lifecycle/index.ts'
import { pathsActors } from './paths/actors.ts'
import { pathsKind } from './paths/index.ts'
import { retentionActors } from './retention/actors.ts'
import { retention } from './retention/index.ts'
import { groupsKind } from './rows/groups.ts'
import { sessionsKind } from './rows/sessions.ts'
import { timelineKind } from './rows/timeline.ts'
import { hogQlAutocomplete } from './sql/editor/autocomplete.ts'
import { databaseSchema } from './sql/editor/database-schema.ts'
import { hogQlMetadata } from './sql/editor/metadata.ts'
import { hogQl, sqlLike } from './sql/index.ts'
import { stickinessActors, stickinessInsightActors } from './stickiness/actors.ts'
import { stickiness } from './stickiness/index.ts'
import { actorsTaxonomy, eventTaxonomy, teamTaxonomy } from './taxonomy/index.ts'
import { trendsActors } from './trends/actors.ts'
import { calendarHeatmapKind } from './trends/calendar-heatmap.ts'
import { trends } from './trends/index.ts'
import { viewerKind } from './viewer/index.ts'
import { webExternalClicks } from './web/external-clicks.ts'
import { webGoals } from './web/goals.ts'
import { webOverview } from './web/overview.ts'
import { webStatsTable } from './web/stats-table.ts'
import { webUrlSearch } from './web/url-search.ts'
import { webVitalsPaths } from './web/vitals.ts'

/** Kinds whose points count persons. */
export const actorSources = [
  trendsActors,
  funnelsActors,
  lifecycleActors,
  retentionActors,
  stickinessInsightActors,
  stickinessActors,
  pathsActors(funnelStepTimes),
  correlationActors,
] as const satisfies readonly AnyActorSource[]

const plainKinds = [
  sqlLike,
  hogQl,
  trends,
  funnels,
  lifecycle,
  retention,
  stickiness,
  pathsKind(funnelStepTimes),
  correlation,
  webOverview,
  webStatsTable,
  webGoals,
  webExternalClicks,
  webVitalsPaths,
  webUrlSearch,
  hogQlMetadata,
  hogQlAutocomplete,
  databaseSchema,
  teamTaxonomy,
  eventTaxonomy,
  actorsTaxonomy,
  calendarHeatmapKind,
  groupsKind,
  sessionsKind,
  timelineKind,
  eventsKind(actorSources),
  actorsKind(actorSources),
  actorOptionsKind(actorSources),
] as const satisfies readonly AnyQueryKind[]

/** The types of requests and answers are computed from this list (`query-types.ts`). */
export const kinds = [...plainKinds, viewerKind(plainKinds)] as const satisfies readonly AnyQueryKind[]

/** Every kind of query, by its name. */
export const queryKinds: Readonly<Record<string, AnyQueryKind>> = Object.fromEntries(kinds.map((kind) => [kind.kind, kind]))
