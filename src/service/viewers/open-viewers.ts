import type { AccountContext } from '../accounts/context.ts'
import type { SavedHome } from '../saved/asked-project.ts'
import type { Saved } from '../saved/open-saved.ts'
import { createViewerAnswers, type ViewerAnswers } from './answers.ts'
import { createViewerKeys, type ViewerKeys } from './keys.ts'

export interface OpenedViewers {
  readonly keys: ViewerKeys
  readonly answers: ViewerAnswers
}

/** Charts in other applications: people who see some events only. */
export const openViewers = (context: AccountContext, saved: Saved, home: SavedHome): OpenedViewers => ({
  keys: createViewerKeys(context),
  answers: createViewerAnswers(saved, home),
})
