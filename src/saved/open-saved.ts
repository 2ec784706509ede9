import type { AccountContext } from '../accounts/context.ts'
import { type Annotations, createAnnotations } from './annotations.ts'
import { type Answers, createAnswers } from './answers.ts'
import type { SavedHome } from './asked-project.ts'
import { createDashboards, type Dashboards } from './dashboards.ts'
import { createInsights, type Insights } from './insights.ts'
import { createViews, type Views } from './views.ts'

/** The records that people keep: insights, dashboards of them, annotations and views. */
export interface Saved {
  readonly insights: Insights
  readonly dashboards: Dashboards
  readonly annotations: Annotations
  readonly answers: Answers
  readonly views: Views
}

export const openSaved = ({ context, ...home }: SavedHome & { readonly context: AccountContext }): Saved => ({
  insights: createInsights(context),
  dashboards: createDashboards(context),
  annotations: createAnnotations(context),
  answers: createAnswers(home),
  views: createViews(context, home),
})
