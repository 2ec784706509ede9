import * as z from 'zod'
import { alertStates, deliveryStates } from '../../service/notifications/records.ts'
import { timeSchema, uuidSchema } from './fields.ts'
import { storedQuerySchema } from './insights.ts'
import { userSchema } from './users.ts'

export const checkSchema = z.object({
  id: uuidSchema,
  created_at: timeSchema,
  due_at: timeSchema,
  calculated_value: z.number().nullable(),
  state: z.enum(alertStates),
  error: z.string().nullable(),
  targets_notified: z.boolean().meta({ description: 'At least one receiver was notified. False while all deliveries wait or have failed' }),
})
export type AlertCheckAnswer = z.output<typeof checkSchema>
const shortInsightSchema = z.object({
  id: z.int(),
  short_id: z.string(),
  name: z.string().nullable(),
  derived_name: z.string().nullable(),
  query: storedQuerySchema,
})
const lastDeliverySchema = z
  .object({
    created_at: timeSchema,
    status: z.enum(deliveryStates).meta({ description: '`failed` if one receiver did not get it, `waiting` if one has not got it yet' }),
    delivered: z.int(),
    waiting: z.int(),
    failed: z.int(),
    target_type: z.string(),
    target: z.string().meta({ description: 'The receiver that decides `status`' }),
    error: z.string().nullable().meta({ description: 'Of the last attempt to reach it' }),
    next_attempt_at: timeSchema.nullable(),
  })
  .nullable()
  .meta({ description: 'Outcome of the newest notice, without tests; null: none in the last 30 days' })
export type LastDeliveryAnswer = z.output<typeof lastDeliverySchema>
const secretField = z.string().nullable().meta({ description: 'Only in the answer to the request that created it' })
export const alertSchema = z.object({
  id: uuidSchema,
  created_by: userSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  insight: shortInsightSchema.nullable(),
  name: z.string(),
  subscribed_users: z.array(userSchema),
  condition: z.object({ type: z.string() }),
  threshold: z.object({
    name: z.string(),
    configuration: z.object({ type: z.string(), bounds: z.object({ lower: z.number().nullable(), upper: z.number().nullable() }) }),
  }),
  config: z.object({ type: z.literal('TrendsAlertConfig'), series_index: z.int(), check_ongoing_interval: z.boolean() }),
  state: z.enum(alertStates),
  enabled: z.boolean(),
  calculation_interval: z.string(),
  skip_weekend: z.boolean(),
  snoozed_until: timeSchema.nullable(),
  last_value: z.number().nullable(),
  last_checked_at: timeSchema.nullable(),
  last_notified_at: timeSchema.nullable().meta({ description: 'When a notice was last delivered' }),
  last_delivery: lastDeliverySchema,
  next_check_at: timeSchema.nullable(),
  last_error: z.string().nullable().meta({ description: 'Why the last check failed; null: it succeeded' }),
  checks: z.array(checkSchema),
  webhook_url: z.string().nullable(),
  webhook_secret: secretField,
})
export type AlertAnswer = z.output<typeof alertSchema>
export const subscriptionSchema = z.object({
  id: z.int(),
  dashboard: z.int().nullable(),
  insight: z.int().nullable(),
  target_type: z.string(),
  target_value: z.string(),
  webhook_secret: secretField,
  frequency: z.string(),
  interval: z.int(),
  byweekday: z.array(z.string()).nullable(),
  bysetpos: z.int().nullable(),
  count: z.int().nullable(),
  start_date: timeSchema,
  until_date: timeSchema.nullable(),
  created_at: timeSchema,
  created_by: userSchema.nullable(),
  enabled: z.boolean(),
  deleted: z.boolean(),
  title: z.string().nullable(),
  resource_name: z.string().nullable().meta({ description: 'The name of its insight or dashboard; null: it was deleted' }),
  insight_short_id: z.string().nullable(),
  summary: z.string(),
  next_delivery_date: timeSchema.nullable(),
  last_delivery: lastDeliverySchema,
})
export type SubscriptionAnswer = z.output<typeof subscriptionSchema>
export const deliverySchema = z.object({
  id: uuidSchema,
  target_type: z.string(),
  target: z.string(),
  status: z.enum(deliveryStates),
  attempts: z.int(),
  next_attempt_at: timeSchema.nullable(),
  error: z.string().nullable(),
  created_at: timeSchema,
  last_attempt_at: timeSchema.nullable(),
  delivered_at: timeSchema.nullable(),
  is_test: z.boolean(),
})
export type DeliveryAnswer = z.output<typeof deliverySchema>
/** What became of a test. */
export const testSchema = z.object({ deliveries: z.array(deliverySchema) })
export type TestAnswer = z.output<typeof testSchema>

// What owners are notified of without having asked.

const problemSchema = z.object({
  subject: z.string().meta({ description: 'The name of the export or the plugin; empty: it is about the project, or the server' }),
  began_at: timeSchema,
  ended_at: timeSchema.nullable().meta({ description: 'null: it goes on' }),
  mailed_at: timeSchema.nullable().meta({ description: 'When the owners were sent a mail; null: they were not' }),
  lines: z.array(z.string()).meta({ description: 'What the mail says' }),
})
export const watchSchema = z.object({
  name: z.string(),
  of: z.enum(['project', 'server']).meta({ description: 'A watch of the server has the same switch in all projects of the organization' }),
  title: z.string(),
  summary: z.string().meta({ description: 'When it begins' }),
  enabled: z.boolean().meta({ description: 'Whether the owners of the organization get a mail when it begins, and one when it is over' }),
  problems: z
    .array(problemSchema)
    .meta({ description: 'Those of the last 30 days, each with its latest beginning; those that go on first' }),
})
export type WatchAnswer = z.output<typeof watchSchema>
export const watchesSchema = z.object({
  mails: z.boolean().meta({ description: 'Whether this server has a mail server' }),
  results: z.array(watchSchema),
})
export type WatchesAnswer = z.output<typeof watchesSchema>
