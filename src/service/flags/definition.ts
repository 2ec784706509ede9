import * as z from 'zod'
import { linearPattern } from '../../lib/text/linear-pattern.ts'
import { tokenLength, withinJson } from '../../limits/bounds.ts'
import { anyJson, choice, flag, integer, listOf, text } from '../accounts/fields.ts'
import { invalid } from '../accounts/refusals.ts'
import { tagList } from '../accounts/tags.ts'

// What a feature flag is: conditions, each for a share of the people who meet it, variants, and payloads that clients get with them.

export const flagOperators = [
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'lt',
  'lte',
  'is_set',
  'is_not_set',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'in',
  'not_in',
] as const
export type FlagOperator = (typeof flagOperators)[number]

const mostConditions = 50
const mostVariants = 20
const share = () =>
  z
    .number({ error: 'A share is a number from 0 to 100.' })
    .min(0, { error: 'A share is a number from 0 to 100.' })
    .max(100, { error: 'A share is a number from 0 to 100.' })

const property = z.object({
  type: choice(['person', 'group', 'cohort']).default('person'),
  key: text({ max: 400 }),
  value: anyJson('json').optional(),
  operator: choice(flagOperators).nullish(),
  group_type_index: integer(0, 4).nullish(),
  negation: flag().nullish(),
})
const condition = z.object({
  properties: listOf(property).default([]),
  rollout_percentage: share().nullish(),
  variant: text({ max: 400 }).nullish(),
  description: text({ max: 400, blank: true }).nullish(),
})
const variant = z.object({
  key: text({ max: 400 }),
  name: text({ max: 400, blank: true }).nullish(),
  rollout_percentage: share(),
})
export const flagFilters = withinJson(
  z.object({
    groups: listOf(condition).default([]),
    multivariate: z.object({ variants: listOf(variant) }).nullish(),
    payloads: z.record(z.string().max(tokenLength), anyJson('json')).nullish(),
    aggregation_group_type_index: integer(0, 4).nullish(),
  }),
  'definition',
)
export type FlagFilters = z.output<typeof flagFilters>
export type FlagCondition = FlagFilters['groups'][number]
export type FlagProperty = FlagCondition['properties'][number]

const keyForm = /^[a-zA-Z0-9_-]+$/
const flagKey = text({ max: 400 }).refine((key) => keyForm.test(key as string), {
  error: 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.',
})

export const flagInput = z.object({
  key: flagKey.meta({ description: 'The name by which clients ask for it' }),
  name: text({ max: 2_000, blank: true }).optional().meta({ description: 'What it is for' }),
  filters: flagFilters.optional().meta({
    description:
      'Conditions (`groups`), of which one must be met: `properties` of the person, of its group or cohorts, for a share of all who meet them (`rollout_percentage`). `multivariate` has variants whose shares make 100, `payloads` what clients get with `true` or with a variant',
  }),
  tags: tagList().optional(),
  active: flag().optional(),
  deleted: flag().optional(),
  ensure_experience_continuity: flag().nullish().meta({ description: 'Only false: a flag is computed from who is asked for' }),
})
export const flagChange = flagInput.partial()
export type FlagInput = z.input<typeof flagInput>

export const noFilters: FlagFilters = { groups: [{ properties: [], rollout_percentage: 0 }] }

const mistake = (message: string, attr = 'filters') => invalid(message, attr)

/** What a schema cannot say. */
export function checkFlag({ filters, ensure_experience_continuity }: z.output<typeof flagChange>): void {
  if (ensure_experience_continuity)
    throw mistake(
      'A flag cannot keep its value across a login: it is computed from the person that is asked for. Leave this out.',
      'ensure_experience_continuity',
    )
  if (!filters) return
  const { groups, multivariate, payloads } = filters
  if (groups.length > mostConditions) throw mistake(`A flag has at most ${mostConditions} conditions.`)
  const variants = multivariate?.variants ?? []
  if (variants.length > mostVariants) throw mistake(`A flag has at most ${mostVariants} variants.`)
  const keys = variants.map(({ key }) => key as string)
  if (new Set(keys).size < keys.length) throw mistake('Two variants have the same key.')
  const sum = variants.reduce((all, one) => all + one.rollout_percentage, 0)
  if (variants.length > 0 && Math.abs(sum - 100) > 1e-6)
    throw mistake(`The shares of the variants make ${Number(sum.toFixed(4))}, and must make 100.`)
  for (const [i, { variant: named, properties }] of groups.entries()) {
    if (named && !keys.includes(named as string))
      throw mistake(`Condition ${i + 1} names the variant ${String(named)}, which is not there.`)
    for (const one of properties) checkProperty(one, i)
  }
  const unknown = Object.keys(payloads ?? {}).find((key) => key !== 'true' && !keys.includes(key))
  if (unknown !== undefined)
    throw mistake(
      `There is a payload for ${JSON.stringify(unknown)}, which is no variant${keys.length === 0 ? ': without variants its name is "true"' : ''}.`,
    )
}

const withoutValue: ReadonlySet<string> = new Set(['is_set', 'is_not_set'])

function checkProperty({ type, key, value, operator }: FlagProperty, index: number): void {
  const place = `Condition ${index + 1}`
  if (type === 'cohort') {
    if (!Number.isInteger(Number(value)) || value === null || value === '') throw mistake(`${place}: the value of a cohort is its id.`)
    return
  }
  if (!withoutValue.has(operator ?? 'exact') && (value === undefined || value === null))
    throw mistake(`${place}: ${String(key)} needs a value, or the operator is_set.`)
  if (operator !== 'regex' && operator !== 'not_regex') return
  try {
    linearPattern(String(value))
  } catch (error) {
    throw mistake(`${place}: ${String(value)} is not a regular expression: ${(error as Error).message}.`)
  }
}
