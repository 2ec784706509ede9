import * as z from 'zod'
import { QueryError } from '../../errors/errors.ts'
import { equals, field, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { fields } from '../fields.ts'
import { actionCondition } from '../filters/property-filters.ts'
import type { Action, QueryContext } from '../kind.ts'

/** What counts as a conversion: an action, or an event by its name. */
export const conversionGoalSchema = fields(
  { actionId: z.number().int().nullish(), customEventName: z.string().nullish() },
  'range',
).superRefine(({ actionId, customEventName }, context) => {
  if ((actionId == null) === (customEventName == null))
    context.addIssue({ code: 'custom', message: 'A conversion goal has either an actionId or a customEventName.', path: [] })
})
export type ConversionGoal = z.infer<typeof conversionGoalSchema>

export function goalAction({ actionId }: ConversionGoal, env: Pick<QueryContext, 'action'>): Action {
  const action = env.action(actionId!)
  if (action) return action
  throw new QueryError('validation-failed', { message: `There is no action ${actionId}.`, attr: 'conversionGoal__actionId' })
}

export const goalCondition = (goal: ConversionGoal, env: QueryContext): Expr =>
  goal.customEventName == null ? actionCondition(goalAction(goal, env), env) : equals(field('event'), literal(goal.customEventName))
