import type { AccountContext } from '../accounts/context.ts'
import { type Answers, createAnswers } from './answers.ts'
import type { SavedHome } from './asked-project.ts'
import { createDashboards, type Dashboards } from './dashboards.ts'
import { createInsights, type Insights } from './insights.ts'

/** The records that people keep: insights, and dashboards of them. */
export interface Saved {
  readonly insights: Insights
  readonly dashboards: Dashboards
  readonly answers: Answers
}

export const openSaved = ({ context, ...home }: SavedHome & { readonly context: AccountContext }): Saved => ({
  insights: createInsights(context),
  dashboards: createDashboards(context),
  answers: createAnswers(home),
})
