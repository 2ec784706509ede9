import * as z from 'zod'
import { channelFields, channelOperators } from '../language/catalog/channel-rules.ts'
import { fields } from './fields.ts'
import { groupTypeIndex } from './series/series.ts'

// Parts of a request that several kinds share.

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish()

export const dateRangeSchema = fields(
  { date_from: z.string().nullish(), date_to: z.string().nullish(), explicitDate: z.boolean().nullish() },
  'range',
)

const mostChannelRules = 50
const mostChannelValues = 20

/** Where events are counted: in the lists of the core, or by statements of the engine. */
export const roads = ['core', 'sql'] as const
export type Road = (typeof roads)[number]

const channelCondition = fields(
  {
    id: z.string().nullish(),
    key: z.enum(channelFields),
    op: z.enum(channelOperators),
    value: z.union([z.string(), z.array(z.string()).max(mostChannelValues)]).nullish(),
  },
  'range',
)
export const channelRuleSchema = fields(
  {
    id: z.string().nullish(),
    items: z.array(channelCondition).max(mostChannelValues),
    combiner: z.enum(['AND', 'OR']),
    channel_type: z.string(),
  },
  'range',
)

/** Fields of every query besides its own. */
export const everyQuery = {
  modifiers: fields(
    {
      convertToProjectTimezone: z.boolean().nullish(),
      bounceRateDurationSeconds: z.number().nullish(),
      customChannelTypeRules: z.array(channelRuleSchema).max(mostChannelRules).nullish(),
      road: z.enum(roads).nullish(),
    },
    'modifiers',
    ['modifiers'],
  ).nullish(),
  /** Adds the statements sent to the engine to the answer. */
  explain: z.boolean().nullish(),
}

const breakdownTypes = ['event', 'event_metadata', 'person', 'group', 'session', 'cohort', 'hogql'] as const
export type BreakdownType = (typeof breakdownTypes)[number]

const breakdownType = z.enum(breakdownTypes)
const cohortOrName = z.union([z.string(), z.number()], { error: 'A breakdown must be the name of a property, or the id of a cohort.' })
const binCount = z.number().int().min(1).max(10_000)

const maxBreakdowns = 3

const tooMany = (found: number) => `A query supports at most ${maxBreakdowns} breakdowns, but got ${found}.`

const groupNeeded = 'A group breakdown needs a group type index.'

export const breakdownFilterSchema = fields(
  {
    breakdown: nullish(
      z.union([cohortOrName, z.array(cohortOrName)], {
        error: 'A breakdown must be the name of a property, the id of a cohort, or a list of these.',
      }),
    ),
    breakdown_type: nullish(breakdownType),
    breakdown_group_type_index: nullish(groupTypeIndex),
    breakdown_normalize_url: nullish(z.boolean()),
    breakdown_histogram_bin_count: nullish(binCount),
    breakdowns: nullish(
      z
        .array(
          fields(
            {
              property: cohortOrName,
              type: nullish(breakdownType),
              group_type_index: nullish(groupTypeIndex),
              histogram_bin_count: nullish(binCount),
              normalize_url: nullish(z.boolean()),
            },
            'range',
          ),
        )
        .max(maxBreakdowns, {
          error: (issue) => tooMany((issue.input as unknown[]).length),
        }),
    ),
    breakdown_limit: nullish(z.number().int().min(1)),
    breakdown_hide_other_aggregation: nullish(z.boolean()),
    breakdown_path_cleaning: nullish(z.boolean()),
  },
  'range',
).superRefine(({ breakdown, breakdown_type: type, breakdown_group_type_index: group, breakdowns }, context) => {
  const wrong = (message: string, ...path: (string | number)[]) => context.addIssue({ code: 'custom', message, path })
  if (Array.isArray(breakdown) && type !== 'cohort' && breakdown.length > maxBreakdowns) wrong(tooMany(breakdown.length), 'breakdown')
  if (type === 'group' && group == null) wrong(groupNeeded, 'breakdown_group_type_index')
  const list = breakdowns ?? []
  const cohort = list.findIndex((item) => item.type === 'cohort')
  if (list.some((item) => item.type !== 'cohort') && cohort >= 0)
    wrong('Cohorts cannot be mixed with other breakdowns.', 'breakdowns', cohort)
  for (const [i, item] of list.entries())
    if (item.type === 'group' && item.group_type_index == null) wrong(groupNeeded, 'breakdowns', i, 'group_type_index')
})

export const compareFilterSchema = fields({ compare: z.boolean().nullish(), compare_to: z.string().nullish() }, 'range')

export type BreakdownFilter = z.infer<typeof breakdownFilterSchema>
export type CompareFilter = z.infer<typeof compareFilterSchema>
