import type { Table } from 'apache-arrow'
import { alias, and, call, callWith, field, from, groupBy, literal, not, order, select, unionAll } from '../../../language/ast/build.ts'
import type { Expr, Query } from '../../../language/ast/nodes.ts'
import { allowFound } from '../../answers/cells.ts'
import { doubles, texts } from '../../answers/vectors.ts'
import type { QueryContext, QueryRun, StatementAsk } from '../../kind.ts'
import { cohortSplit, type SplitBy } from '../collect.ts'
import { PeriodCounts } from '../periods.ts'
import { type FunnelScan, stepsUntil } from '../scan.ts'
import type { StepNumbers } from '../steps.ts'
import { type Bins, type FoundTimes, noTimes, timeToConvert } from '../time-to-convert.ts'
import { listsOf, taken } from './lists.ts'
import { orderedFold } from './ordered.ts'
import { plainOutcomes } from './plain.ts'
import { choose, element, length, list, minus, more, never, over, part, whole } from './terms.ts'
import { unorderedFold } from './unordered.ts'

// Funnels on an engine that folds lists: the engine returns the numbers of the answer.

interface Folding {
  readonly steps: number
  readonly periods: readonly number[] | null
  /** With a column `uuids`: the events of the steps. */
  readonly withEvents?: boolean
}

/** One row per actor, value and period with columns `depth` and `times`, of those who did the first step and are not excluded. */
export function outcomes(
  scan: FunnelScan,
  cohort: number | 'all' | null,
  { steps, periods, withEvents }: Folding,
  env: QueryContext,
): Query {
  const { settings } = scan
  const plain = withEvents ? null : plainOutcomes(scan, cohort, { steps, periods }, env)
  if (plain) return plain
  const fold =
    settings.order === 'unordered'
      ? unorderedFold({ steps, window: settings.window, hasPeriods: periods !== null })
      : orderedFold({
          steps,
          window: settings.window,
          isStrict: settings.order === 'strict',
          optional: settings.optional,
          hasExclusions: (scan.query.funnelsFilter?.exclusions ?? []).length > 0,
        })
  const folded = select({
    columns: [field('actor'), field('value'), field('period'), ...(withEvents ? [field('taken')] : []), alias(fold, 'best')],
    from: from(listsOf(scan, cohort, { steps, periods }, env)),
  })
  const opened = select({
    columns: [
      field('actor'),
      field('value'),
      field('period'),
      alias(part(field('best'), 1), 'depth'),
      alias(part(field('best'), 2), 'uses'),
      ...(withEvents ? [alias(uuidsOf(part(field('best'), 2)), 'uuids')] : []),
    ],
    from: from(folded),
  })
  const timed = select({
    columns: [
      field('actor'),
      field('value'),
      field('period'),
      field('depth'),
      ...(withEvents ? [field('uuids')] : []),
      alias(call('arrayMap', { kind: 'lambda', params: ['u'], body: part(field('u'), 1), span: field('u').span }, field('uses')), 'times'),
    ],
    from: from(opened),
    where: more(field('depth'), literal(0)),
  })
  return timed
}

/** Index 0 is a skipped step. */
const uuidsOf = (uses: Expr): Expr =>
  over(
    'arrayMap',
    ['u'],
    (u) => part(element(field('taken'), part(u, 2)), taken.uuid),
    over('arrayFilter', ['u'], (u) => more(part(u, 2), literal(0)), uses),
  )

const statement = (label: string, query: Query): StatementAsk => ({ kind: 'statement', label, query })
const filtered = (name: string, where: Expr, ...args: readonly Expr[]): Expr => callWith(name, { args, filter: where })

const time = (step: number): Expr => element(field('times'), step + 1)
/** Only optional steps are left out by who gets further. */
export const isReached = (step: number, { settings }: FunnelScan): Expr =>
  settings.optional === 0
    ? more(field('depth'), literal(step))
    : and(more(length(field('times')), literal(step)), more(time(step), whole(never)))
/** The time of the latest previous step that was done. */
const timeBefore = (step: number): Expr =>
  choose(
    Array.from({ length: step - 1 }, (_, i) => step - 1 - i).map((before) => [more(time(before), whole(never)), time(before)] as const),
    time(0),
  )
const seconds = (from: Expr, to: Expr): Expr => call('divide', minus(to, from), literal(1e6))

function stepColumns(scan: FunnelScan): readonly Expr[] {
  const { steps, optional } = scan.settings
  const each = Array.from({ length: steps }, (_, step) => {
    const took = step > 0 && seconds(optional ? timeBefore(step) : time(step - 1), time(step))
    return [
      alias(filtered('count', isReached(step, scan)), `count_${step}`),
      ...(took
        ? [
            alias(filtered('avg', isReached(step, scan), took), `average_${step}`),
            alias(filtered('median', isReached(step, scan), took), `median_${step}`),
          ]
        : []),
    ]
  }).flat()
  return [...each, alias(filtered('median', isReached(steps - 1, scan), seconds(time(0), time(steps - 1))), 'total_median')]
}

/** What one value of the breakdown has. */
export interface ValueRow {
  readonly split: SplitBy | null
  readonly numbers: readonly StepNumbers[]
}
export interface StepRow extends ValueRow {
  /** The seconds from the first step to the last. */
  readonly totalMedian: number | null
}

const cohortsOf = ({ breakdown }: FunnelScan) => (breakdown.cohorts.length ? breakdown.cohorts : [null])
const valueColumns = ({ breakdown }: FunnelScan): readonly Expr[] =>
  breakdown.parts.map((_, i) => alias(element(field('value'), i + 1), `value_${i}`))

function splitsOf(table: Table, scan: FunnelScan, cohort: number | 'all' | null, env: QueryContext): readonly (SplitBy | null)[] {
  const columns = scan.breakdown.parts.map((_, i) => texts(table, `value_${i}`))
  return Array.from({ length: table.numRows }, (_, row) => {
    if (cohort !== null) return cohortSplit(cohort, env)
    if (columns.length === 0) return null
    const parts = columns.map((column) => column[row] ?? '')
    return { breakdown: parts, breakdown_value: parts }
  })
}

const number = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value)

function numbersOf(table: Table, steps: number): readonly (readonly StepNumbers[])[] {
  const column = (name: string) => (table.getChild(name) ? doubles(table, name) : null)
  const columns = Array.from({ length: steps }, (_, step) => ({
    count: doubles(table, `count_${step}`),
    average: column(`average_${step}`),
    median: column(`median_${step}`),
  }))
  return Array.from({ length: table.numRows }, (_, row) =>
    columns.map(({ count, average, median }) => ({
      count: count[row]!,
      average: count[row] === 0 ? null : number(average?.[row]),
      median: count[row] === 0 ? null : number(median?.[row]),
    })),
  )
}

/** A row per value, in no order. */
export function* stepRows(scan: FunnelScan, env: QueryContext): QueryRun<readonly StepRow[]> {
  const { steps } = scan.settings
  const rows: StepRow[] = []
  for (const cohort of cohortsOf(scan)) {
    const counted = select({
      columns: [...valueColumns(scan), ...stepColumns(scan)],
      from: from(outcomes(scan, cohort, { steps, periods: null }, env)),
      groupBy: groupBy(field('value')),
    })
    const table = (yield statement('funnel steps', counted)) as Table
    const splits = splitsOf(table, scan, cohort, env)
    const totals = doubles(table, 'total_median')
    for (const [i, numbers] of numbersOf(table, steps).entries())
      rows.push({ split: splits[i]!, numbers, totalMedian: numbers[steps - 1]!.count === 0 ? null : number(totals[i]) })
  }
  return rows
}

/** The seconds from the first step to the last, of all values together. */
export function* medianOfAll(scan: FunnelScan, env: QueryContext): QueryRun<number | null> {
  const { steps } = scan.settings
  const [first, ...others] = cohortsOf(scan).map((cohort) =>
    select({
      columns: [alias(seconds(time(0), time(steps - 1)), 'seconds')],
      from: from(outcomes(scan, cohort, { steps, periods: null }, env)),
      where: isReached(steps - 1, scan),
    }),
  )
  const all = select({
    columns: [alias(call('count'), 'n'), alias(call('median', field('seconds')), 'middle')],
    from: from(unionAll(first!, ...others)),
  })
  const table = (yield statement('times to the last step', all)) as Table
  return doubles(table, 'n')[0] === 0 ? null : number(doubles(table, 'middle')[0])
}

/** All values without a row of their own, combined. */
export function* restOfSteps(scan: FunnelScan, top: readonly ValueRow[], env: QueryContext): QueryRun<readonly StepNumbers[]> {
  const { steps } = scan.settings
  const shown = top.map(({ split }) => list(...(split!.breakdown as readonly string[]).map((text) => literal(text))))
  const counted = select({
    columns: stepColumns(scan),
    from: from(outcomes(scan, null, { steps, periods: null }, env)),
    where: not(call('has', list(...shown), field('value'))),
  })
  return numbersOf((yield statement('funnel steps of the rest', counted)) as Table, steps)[0]!
}

export function* conversionTimes(scan: FunnelScan, env: QueryContext): QueryRun<FoundTimes> {
  const { steps, from: first, to } = scan.settings
  const took = select({
    columns: [alias(seconds(time(first), time(to)), 'seconds')],
    from: from(outcomes(scan, null, { steps, periods: null }, env)),
    where: isReached(to, scan),
  })
  const value = field('seconds')
  const all = select({
    columns: [
      alias(call('count'), 'n'),
      alias(call('min', value), 'least'),
      alias(call('max', value), 'most'),
      alias(call('avg', value), 'average'),
      alias(call('median', value), 'middle'),
    ],
    from: from(took),
  })
  const table = (yield statement('times to convert', all)) as Table
  const read = (name: string) => doubles(table, name)[0]!
  return {
    spread: { count: read('n'), least: read('least'), most: read('most') },
    *counted(bins) {
      if (read('n') === 0) return noTimes
      return timeToConvert(read('average'), read('middle'), bins, yield* countsInBins(took, bins))
    },
  }
}

/** How many times are in each bin. `took` has a column `seconds`. */
function* countsInBins(took: Query, bins: Bins): QueryRun<readonly number[]> {
  const value = field('seconds')
  const bin = call('least', literal(bins.count), call('floor', call('divide', minus(value, literal(bins.start)), literal(bins.width))))
  const counted = select({
    columns: [alias(bin, 'bin'), alias(call('count'), 'n')],
    from: from(took),
    groupBy: groupBy(bin),
    orderBy: [order(bin)],
  })
  const filled = (yield statement('bins of times', counted)) as Table
  const counts = new Array<number>(bins.count + 1).fill(0)
  const sizes = doubles(filled, 'n')
  for (const [i, at] of doubles(filled, 'bin').entries()) counts[at] = sizes[i]!
  return counts
}

export interface PeriodRow {
  readonly split: SplitBy | null
  readonly counts: PeriodCounts
}

/** Per value the numbers of each period. */
export function* periodRows(scan: FunnelScan, edges: readonly number[], env: QueryContext): QueryRun<readonly PeriodRow[]> {
  const { from: first, to } = scan.settings
  const rows = new Map<string, PeriodRow>()
  for (const cohort of cohortsOf(scan)) {
    const counted = select({
      columns: [
        ...valueColumns(scan),
        alias(field('period'), 'period'),
        alias(call('count'), 'entered'),
        alias(filtered('count', more(field('depth'), literal(to))), 'converted'),
      ],
      from: from(outcomes(scan, cohort, { steps: stepsUntil(scan), periods: edges }, env)),
      where: more(field('depth'), literal(first)),
      groupBy: groupBy(field('value'), field('period')),
    })
    const table = (yield statement('funnel periods', counted)) as Table
    const [period, entered, converted] = ['period', 'entered', 'converted'].map((name) => doubles(table, name))
    for (const [i, split] of splitsOf(table, scan, cohort, env).entries()) {
      const key = JSON.stringify(split)
      if (!rows.has(key)) allowFound(rows.size + 1, 2 * (edges.length - 1))
      const row = rows.get(key) ?? { split, counts: new PeriodCounts(edges.length - 1) }
      rows.set(key, row)
      row.counts.entered[period![i]!] = entered![i]!
      row.counts.converted[period![i]!] = converted![i]!
    }
  }
  return [...rows.values()]
}
