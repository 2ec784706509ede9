import { InternalError } from './errors.ts'

// Where positions and sums pass from one part to the next, something must hold. It is checked there, in production too: the engine of a project ends with a report
// rather than going on with what is wrong. docs/invariants.md has a row for each name.

const invariants = {
  'records in order': 'A record is applied after all records before it, and once',
  'applied within the log': 'The log has every record that the store has',
  'applied never back': 'Later transactions have later records',
  'recent in order': 'Events that queries read before the store has them are in the order of the log',
  'lists have every event': 'The lists of events have as many events as the store',
  'pages have every event': 'Rewritten pages and the events left in memory are as many events as before',
  'counts within lists': 'No condition counts more events than there are',
  'export ranges follow': 'The rows of a run begin where those of the run before ended, or later',
  'export rows within range': 'A run writes no more events than its range has',
} as const
export type Invariant = keyof typeof invariants

/** A fault of this program, found before it did harm. */
export class BrokenInvariant extends InternalError {
  readonly invariant: Invariant

  constructor(invariant: Invariant, found: Readonly<Record<string, unknown>>) {
    super(`Internal check "${invariant}" failed: ${invariants[invariant]}, but found ${JSON.stringify(found)}. Please report it.`)
    this.invariant = invariant
  }
}

/** `found`: the numbers, for the report. */
export function mustHold(invariant: Invariant, holds: boolean, found: () => Readonly<Record<string, unknown>>): void {
  if (!holds) throw new BrokenInvariant(invariant, found())
}
