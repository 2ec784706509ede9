import type { Place } from './router.ts'

/** What every page gets. */
export interface PageProps {
  readonly place: Place
  /** What follows the name of the page in the address. */
  readonly rest: readonly string[]
}
