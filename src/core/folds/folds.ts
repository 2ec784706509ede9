import { activityFold } from './activity.ts'
import { countDaysFold } from './days/count-days.ts'
import { eventCountsFold } from './event-counts.ts'
import { extentsFold } from './extents.ts'
import type { Fold } from './fold.ts'
import { funnelFold } from './funnel.ts'
import { lifecycleFold } from './lifecycle.ts'
import { pathsFold } from './paths.ts'
import { retentionFold } from './retention.ts'
import { selectionFold } from './selection.ts'
import { entriesFold, seriesFold } from './series/fold.ts'
import { stickinessFold } from './stickiness.ts'
import { visitsFold } from './visits.ts'

/** What worker threads can run, by name. */
export const folds: ReadonlyMap<string, Fold<unknown, unknown>> = new Map(
  [
    seriesFold,
    entriesFold,
    funnelFold,
    activityFold,
    retentionFold,
    stickinessFold,
    lifecycleFold,
    selectionFold,
    countDaysFold,
    pathsFold,
    eventCountsFold,
    extentsFold,
    visitsFold,
  ].map((fold) => [fold.name, fold as Fold<unknown, unknown>]),
)
