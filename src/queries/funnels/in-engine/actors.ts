import { alias, and, call, equals, field, from, lambda, literal, not, select, unionAll } from '../../../language/ast/build.ts'
import type { Expr, Query } from '../../../language/ast/nodes.ts'
import type { QueryContext } from '../../kind.ts'
import { type FunnelScan, stepsUntil } from '../scan.ts'
import { isReached, outcomes } from './answers.ts'
import { element, list, more, most, never, over, when, whole } from './terms.ts'

// The persons behind a number, as a statement for an engine that folds: who they are and when they did their steps.

/** The selected point of a funnel. Steps, depths and periods are numbered as in the fold. */
export type ActorPoint =
  | { readonly kind: 'step'; readonly reached: number; readonly missed: number | null }
  | { readonly kind: 'depths'; readonly depths: readonly number[] }
  /** `hasDropped` null: all who entered. */
  | { readonly kind: 'period'; readonly edges: readonly number[]; readonly period: number; readonly hasDropped: boolean | null }

/** The selected rows of the breakdown. */
export type ActorSplit =
  | { readonly kind: 'all' }
  | { readonly kind: 'value'; readonly values: readonly string[] }
  | { readonly kind: 'rest'; readonly top: readonly (readonly string[])[] }

export const listColumns = ['timestamp', 'first_timestamp', 'final_timestamp', 'step_timestamps', 'matching_events'] as const

/** One row per actor, and one more for each value or cohort that they count under. */
export function actorsInEngine(scan: FunnelScan, at: ActorPoint, split: ActorSplit, env: QueryContext): Query {
  const steps = at.kind === 'period' ? stepsUntil(scan) : scan.settings.steps
  const options = { steps, periods: at.kind === 'period' ? at.edges : null, withEvents: scan.withEvents }
  const times = field('times')
  const reached = over('arrayFilter', ['t'], (t) => more(t, whole(never)), times)
  const byStep = over(
    'arrayMap',
    ['t'],
    (t) => when(more(t, whole(never)), quoted(instant(t)), literal('null')),
    call('arrayResize', times, literal(steps), whole(never)),
  )
  const columns: Readonly<Record<(typeof listColumns)[number], Expr>> = {
    timestamp: instant(element(reached, -1)),
    first_timestamp: instant(element(reached, 1)),
    final_timestamp: instant(element(reached, -1)),
    step_timestamps: jsonList(byStep),
    matching_events: scan.withEvents ? jsonList(call('arrayMap', lambda(['u'], quoted(field('u'))), field('uuids'))) : literal('[]'),
  }
  const cohorts = scan.breakdown.cohorts.length ? scan.breakdown.cohorts : [null]
  const lists = cohorts.map((cohort) =>
    select({
      columns: [field('actor'), ...listColumns.map((name) => alias(columns[name], name))],
      from: from(outcomes(scan, cohort, options, env)),
      where: and(isAt(at, scan), isOf(split)),
    }),
  )
  const [first, ...others] = lists
  return unionAll(first!, ...others)
}

export function isAt(at: ActorPoint, scan: FunnelScan): Expr {
  const { settings } = scan
  const depth = field('depth')
  switch (at.kind) {
    case 'step':
      return at.missed === null ? isReached(at.reached, scan) : and(isReached(at.reached, scan), not(isReached(at.missed, scan)))
    case 'depths':
      return call('has', list(...at.depths.map(whole)), depth)
    case 'period': {
      const entered = and(equals(field('period'), whole(at.period)), more(depth, literal(settings.from)))
      if (at.hasDropped === null) return entered
      return and(entered, at.hasDropped ? most(depth, literal(settings.to)) : more(depth, literal(settings.to)))
    }
  }
}

function isOf(split: ActorSplit): Expr {
  const texts = (values: readonly string[]) => list(...values.map((text) => literal(text)))
  switch (split.kind) {
    case 'all':
      return literal(true)
    case 'value':
      return equals(field('value'), texts(split.values))
    case 'rest':
      return split.top.length === 0 ? literal(true) : not(call('has', list(...split.top.map(texts)), field('value')))
  }
}

const quoted = (text: Expr): Expr => call('concat', literal('"'), text, literal('"'))
const jsonList = (texts: Expr): Expr => call('concat', literal('['), call('arrayStringConcat', texts, literal(',')), literal(']'))

/** A time in microseconds in JavaScript's format. */
function instant(time: Expr): Expr {
  const millis = call('toString', call('modulo', call('intDiv', time, literal(1000)), literal(1000)))
  const second = call('fromUnixTimestamp', call('intDiv', time, literal(1_000_000)))
  return call(
    'concat',
    call('formatDateTime', second, literal('%Y-%m-%dT%H:%i:%S'), literal('UTC')),
    literal('.'),
    call('leftPad', millis, literal(3), literal('0')),
    literal('Z'),
  )
}
