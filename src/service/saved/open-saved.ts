import type { AccountContext } from '../accounts/context.ts'
import { type Annotations, createAnnotations } from './annotations.ts'
import { type Answers, createAnswers } from './answers.ts'
import type { SavedHome } from './asked-project.ts'
import { createDashboards, type Dashboards } from './dashboards.ts'
import { createInsights, type Insights } from './insights.ts'
import { createRefresher, type Refresher } from './refresher.ts'
import { createSavedFilters, type SavedFilters } from './saved-filters.ts'
import { createViews, type Views } from './views.ts'

/** Options of `open()`. */
export interface InsightOptions {
  /** Whether this process refreshes the answers of insights that people look at. Default: true. */
  readonly refreshes?: boolean
}

/** The records that people keep: insights, dashboards of them, annotations, views and filters. */
export interface Saved {
  readonly insights: Insights
  readonly dashboards: Dashboards
  readonly annotations: Annotations
  readonly answers: Answers
  readonly views: Views
  readonly filters: SavedFilters
  readonly refresher: Refresher
  close(): Promise<void>
}

interface Parts extends SavedHome {
  readonly context: AccountContext
  readonly options: InsightOptions
  report(error: unknown): void
}

export function openSaved({ context, options, report, ...home }: Parts): Saved {
  const answers = createAnswers(home)
  const refresher = createRefresher({ context, answers, report })
  if (options.refreshes !== false) refresher.begin()
  return {
    insights: createInsights(context),
    dashboards: createDashboards(context),
    annotations: createAnnotations(context),
    answers,
    views: createViews(context, home),
    filters: createSavedFilters(context),
    refresher,
    close: () => refresher.close(),
  }
}
