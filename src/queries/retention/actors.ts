import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import { alias, call, equals, field, from, groupBy, literal, not, or, select, unionAll } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { ActorList, ActorSource, Asking, Choice } from '../actor-source.ts'
import { fields } from '../fields.ts'
import { along, given, type QueryContext } from '../kind.ts'
import { refuse } from '../refusals.ts'
import { everyQuery } from '../schemas.ts'
import { isBrokenDown } from '../series/breakdown.ts'
import { otherLabel, otherValue } from '../series/breakdown-values.ts'
import { allOf } from '../series/series-condition.ts'
import { noComparison, periodChoices, periods } from '../time/comparison.ts'
import { cohortsOf, cohortText, groupsOf, limitedGroups } from './groups.ts'
import { periodOf, planRetention, type RetentionGroup, type RetentionPlan } from './plan.ts'
import { retentionSchema } from './schema.ts'
import { type CohortSplit, partColumn, retentionCells } from './statement.ts'

const value = z.union([z.string(), z.number()])

export const retentionPointSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('InsightActorsQuery'),
    source: retentionSchema,
    /** The row. */
    interval: z.number().int().min(0).nullish(),
    /** The value in the row; 0 are all actors of the row. */
    day: z.number({ error: 'The day must be the index of a value in the row, from 0.' }).int().min(0).nullish(),
    breakdown: z.union([value, z.array(value)]).nullish(),
    compare: z.enum(periods).nullish(),
    includeRecordings: z.boolean().nullish(),
  },
  'query',
  ['point'],
)
type RetentionPoint = z.infer<typeof retentionPointSchema>

const wrong = (message: string, attr: string) => new QueryError('validation-failed', { message, attr: `source__${attr}` })

export const retentionActors: ActorSource<typeof retentionPointSchema> = {
  wrapper: 'InsightActorsQuery',
  kind: 'RetentionQuery',
  schema: retentionPointSchema,
  actors: actorsBehind,
  *options(point, env) {
    const plans = yield* planRetention(point.source, env)
    const { breakdown, rows, parts } = plans[0]!
    const period = periodOf(point.source.retentionFilter)
    const interval = Array.from({ length: rows }, (_, row) => ({ label: `${period} ${row}`, value: row }))
    const common = { interval, ...(plans.length > 1 && { compare: periodChoices }) }
    if (!isBrokenDown(breakdown)) return common
    const groups: RetentionGroup[] = []
    for (const plan of plans) groups.push(...limitedGroups(yield* groupsOf(plan, env), plan))
    const choices = (i: number) => [...new Set(groups.map((group) => group.parts[i]!))].map(choiceOf)
    if (parts.length < 2) return { ...common, breakdown: choices(0) }
    return { ...common, breakdowns: parts.map((_, i) => ({ values: choices(i) })) }
  },
}

const choiceOf = (text: string): Choice => ({ label: text === otherValue ? otherLabel : text, value: text })

/** The actors of a row, or of a value in it, with the values in which they appear: as a list, and each as a column that is 1 or 0. */
function* actorsBehind(point: RetentionPoint, env: QueryContext, mayRead: (column: string) => boolean): Asking<ActorList> {
  const plans = yield* planRetention(point.source, env)
  const plan = plans.find(({ period }) => period === (point.compare ?? 'current'))
  if (!plan) throw wrong(noComparison, 'compare')
  const { interval } = point
  const day = point.day ?? 0
  if (interval != null && interval >= plan.rows)
    throw wrong(`The retention has ${plan.rows} rows, counted from 0: there is no interval ${interval}.`, 'interval')
  if (day >= plan.columns) throw wrong(`A row of the retention has ${plan.columns} values, counted from 0: there is no day ${day}.`, 'day')
  const { cohorts, condition } = yield* splitOf(point.breakdown, plan, env)
  const isOfRow = interval == null ? literal(true) : equals(field('row'), literal(interval))
  const [first, ...others] = (cohorts.length > 0 ? cohorts : cohortsOf(plan)).map((cohort) =>
    select({
      columns: [field('actor'), field('value')],
      from: from(retentionCells(plan, cohort), 'cells'),
      where: cohorts.length > 0 && plan.rows > 0 ? allOf(isOfRow, condition) : literal(false),
    }),
  )
  const value = field('value')
  const hasValue = plan.isCumulative
    ? call('greaterOrEquals', call('max', value), literal(day))
    : call('greater', call('countIf', equals(value, literal(day))), literal(0))
  // Named by the period, and `day_0` whatever it is.
  const units = new Set(['day', periodOf(point.source.retentionFilter).toLowerCase()])
  const days = [...units]
    .flatMap((unit) => Array.from({ length: plan.columns }, (_, i) => ({ name: `${unit}_${i}`, i })))
    .filter(({ name }) => mayRead(name))
  const appearsOn = (i: number) =>
    call('if', call('greater', call('countIf', equals(value, literal(i))), literal(0)), literal(1), literal(0))
  const appeared = select({
    columns: [
      field('actor'),
      alias(call('arraySort', call('groupUniqArray', value)), 'appearances'),
      ...days.map(({ name, i }) => alias(appearsOn(i), name)),
    ],
    from: from(unionAll(first!, ...others), 'appeared'),
    groupBy: groupBy(field('actor')),
    having: hasValue,
  })
  const query = yield* along({
    label: 'actors of a retention',
    lists: () => refuse('no-fold', 'the actors of a retention'),
    statement: () => given(appeared),
  })
  return { query, group: plan.group, columns: ['appearances', ...days.map(({ name }) => name)] }
}

interface Split {
  readonly cohorts: readonly CohortSplit[]
  readonly condition: Expr
}

/** The selected value of the breakdown. Other has all values without a row of their own. */
function* splitOf(asked: RetentionPoint['breakdown'], plan: RetentionPlan, env: QueryContext): Asking<Split> {
  const cohorts = cohortsOf(plan)
  if (asked == null || !isBrokenDown(plan.breakdown)) return { cohorts, condition: literal(true) }
  const texts = [asked].flat().map(String)
  const named = (cohort: CohortSplit) => (cohort === null ? '' : cohortText(cohort))
  if (!texts.includes(otherValue)) {
    if (plan.parts.length === 0)
      return {
        cohorts: cohorts.filter((cohort) => texts.includes(named(cohort)) || texts.includes(String(cohort))),
        condition: literal(true),
      }
    return { cohorts, condition: isValue(texts) }
  }
  const groups = yield* groupsOf(plan, env)
  const shown = limitedGroups(groups, plan).filter(({ parts }) => !parts.includes(otherValue))
  if (plan.parts.length > 0) return { cohorts, condition: not(or(...shown.map(({ parts }) => isValue(parts)))) }
  const isShown = new Set(shown.map(({ parts }) => parts[0]))
  return { cohorts: cohorts.filter((cohort) => !isShown.has(named(cohort))), condition: literal(true) }
}

const isValue = (texts: readonly string[]): Expr => allOf(...texts.map((text, i) => equals(field(partColumn(i)), literal(text))))
