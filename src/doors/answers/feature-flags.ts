import * as z from 'zod'
import { timeSchema } from './fields.ts'
import { userSchema } from './users.ts'

export const featureFlagSchema = z.object({
  id: z.int(),
  key: z.string(),
  name: z.string(),
  filters: z.record(z.string(), z.unknown()).meta({ description: 'Conditions (`groups`), variants (`multivariate`), `payloads`' }),
  active: z.boolean(),
  deleted: z.boolean(),
  version: z.int(),
  ensure_experience_continuity: z.boolean(),
  rollout_percentage: z.number().nullable().meta({ description: 'Of a flag with one condition that asks nothing of the person' }),
  is_simple_flag: z.boolean(),
  tags: z.array(z.string()),
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
})
export type FeatureFlagAnswer = z.output<typeof featureFlagSchema>

/** As client libraries read them that compute the values themselves. */
export const flagDefinitionsSchema = z.object({
  flags: z.array(
    z.object({
      id: z.int(),
      team_id: z.int(),
      key: z.string(),
      name: z.string(),
      filters: z.record(z.string(), z.unknown()),
      active: z.boolean(),
      deleted: z.boolean(),
      version: z.int(),
      ensure_experience_continuity: z.boolean(),
    }),
  ),
  group_type_mapping: z.record(z.string(), z.string()),
  cohorts: z.record(z.string(), z.unknown()),
})
export type FlagDefinitionsAnswer = z.output<typeof flagDefinitionsSchema>

export const flagReasonsSchema = z.record(
  z.string(),
  z.object({
    value: z.union([z.boolean(), z.string()]),
    evaluation: z.object({ reason: z.string(), condition_index: z.int().nullable() }),
  }),
)
export type FlagReasonsAnswer = z.output<typeof flagReasonsSchema>
