import type { AccountContext } from '../accounts/context.ts'
import type { Saved } from '../saved/open-saved.ts'
import { createSharing, type Sharing } from './links.ts'
import { createSharedViews, type SharedViews } from './shared-view.ts'

export interface OpenedSharing {
  readonly links: Sharing
  readonly views: SharedViews
}

/** Public links to insights and dashboards. */
export const openSharing = (context: AccountContext, saved: Saved): OpenedSharing => ({
  links: createSharing(context),
  views: createSharedViews(saved, context.clock),
})
