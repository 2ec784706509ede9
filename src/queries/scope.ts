import { noSpan } from '../errors/span.ts'
import { call, equals, field, inQuery, literal, select, table } from '../language/ast/build.ts'
import type { Expr, TableSource } from '../language/ast/nodes.ts'
import { samplePlaces } from '../language/catalog/tables.ts'
import { firstMoment, lastMoment } from '../lib/time/calendar.ts'
import { type Micros, zoneOf } from '../lib/time/zone.ts'
import { isoInstant } from './time/dates.ts'

// Conditions on events that several kinds share: time, test accounts, sampling.

export const person: Expr = field('@person_no')
export const at: Expr = field('@micros')

/** The number before the last moment: so far from 1970, microseconds are multiples of 32. */
const lastInstant = lastMoment - 32

/**
 * The text is a constant of the type of `timestamp`, so that the store can skip parts by their times. All events are between the first and the
 * last moment; a range may reach beyond them, such as the last day of the year 9999 west of Greenwich.
 */
export const instant = (micros: Micros): Expr => literal(isoInstant(Math.min(Math.max(micros, firstMoment), lastInstant), zoneOf('UTC')))
export const since = (from: Micros): Expr => call('greaterOrEquals', field('timestamp'), instant(from))
export const until = (to: Micros): Expr => call('lessOrEquals', field('timestamp'), instant(to))

export const memberOf = (cohort: number): Expr =>
  inQuery(person, select({ columns: [person], from: table('cohort_people'), where: equals(field('cohort_id'), literal(cohort)) }))

/** The events of a sample, as a condition on each. */
export const inSample = (samplingFactor: number | null | undefined): Expr =>
  samplingFactor == null || samplingFactor === 1
    ? literal(true)
    : call('less', field('@sample_place'), literal(Math.round(samplingFactor * samplePlaces)))

/** The events, or a share of them: those of the same distinct ids in every query with that factor. */
export function eventsTable(samplingFactor: number | null | undefined): TableSource {
  const events = table('events')
  if (samplingFactor == null || samplingFactor === 1) return events
  return { ...events, sample: { kind: 'sample', size: literal(samplingFactor), offset: null, percent: false, span: noSpan } }
}
