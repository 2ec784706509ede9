import * as z from 'zod'
import { isWebAddress } from '../../lib/web/web-address.ts'
import { choice, email, flag, integer, listOf, readTime, text } from '../accounts/fields.ts'
import { invalid } from '../accounts/refusals.ts'
import { conditionTypes } from './alert-value.ts'
import { checkIntervals } from './check-times.ts'
import { frequencies, weekdays } from './recurrence.ts'

// The bodies of requests.

const bound = () => z.number({ error: 'A valid number is required.' }).min(-1e300).max(1e300).nullable().optional()
export const wrongWebhook = 'Expected an http or https address without a user name, such as https://example.com/hook.'
const webhookUrl = () => text({ max: 2000 }).refine(isWebhookUrl, { error: wrongWebhook })
const webhookSecret = () =>
  text({ min: 16, max: 200 })
    .nullable()
    .optional()
    .meta({ description: 'The secret that signs requests. Default: a new one, which is returned once' })

export function isWebhookUrl(value: string): boolean {
  if (!isWebAddress(value)) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}

const mostUsers = 50

export const alertInput = z.object({
  name: text({ max: 255, blank: true }).optional(),
  insight: integer(1).meta({
    description: 'The id of an insight whose answer has numbers: a trend, a funnel, a retention, a stickiness, a lifecycle or a statement',
  }),
  subscribed_users: listOf(integer(1)).max(mostUsers).optional().meta({ description: 'Ids of members, who get an e-mail' }),
  condition: z.object({ type: choice(conditionTypes) }, { error: 'Expected an object with a type.' }),
  threshold: z.object(
    {
      name: text({ max: 255, blank: true }).optional(),
      configuration: z.object(
        {
          type: choice(['absolute', 'percentage']),
          bounds: z.object({ lower: bound(), upper: bound() }, { error: 'Expected an object.' }),
        },
        { error: 'Expected an object with type and bounds.' },
      ),
    },
    { error: 'Expected an object with a configuration.' },
  ),
  config: z
    .object(
      {
        type: z.literal('TrendsAlertConfig').optional(),
        series_index: integer(0, 1000).optional().meta({
          description:
            'Which number: of a trend the series or formula; of a funnel 0 for all of it, or a step, from the one before; of a retention the interval; of a lifecycle 0 to 3 (new, returning, resurrecting, dormant); of a statement the column of numbers',
        }),
        check_ongoing_interval: flag().nullish(),
      },
      { error: 'Expected an object.' },
    )
    .nullish(),
  enabled: flag().optional(),
  calculation_interval: choice(checkIntervals).optional(),
  skip_weekend: flag().nullish(),
  snoozed_until: text({ max: 100 })
    .nullish()
    .meta({ description: 'Pauses checks until this time: ISO 8601, or a duration from now (`4h`, `2d`, `1w`). Null: not paused' }),
  webhook_url: webhookUrl().nullish(),
  webhook_secret: webhookSecret(),
})
export const alertChange = alertInput.partial()

const targetTypes = ['email', 'webhook'] as const
export type TargetType = (typeof targetTypes)[number]

export const subscriptionInput = z.object({
  title: text({ max: 100, blank: true }).nullish(),
  insight: integer(1).nullish(),
  dashboard: integer(1).nullish(),
  target_type: choice(targetTypes),
  target_value: text({ max: 2000 }).meta({ description: 'Comma-separated addresses, or the URL of a webhook' }),
  webhook_secret: webhookSecret(),
  frequency: choice(frequencies),
  interval: integer(1, 1000).optional(),
  byweekday: listOf(choice(weekdays)).max(7).nullish(),
  bysetpos: integer(-5, 366).nullish(),
  count: integer(1, 10_000).nullish(),
  start_date: text({ max: 100 }),
  until_date: text({ max: 100 }).nullish(),
  enabled: flag().optional().meta({ description: 'False: paused; nothing is sent until it is true again' }),
  deleted: flag().optional(),
})
export const subscriptionChange = subscriptionInput.partial()

const mostAddresses = 20
const address = email()

/** The addresses of a subscription, each once. */
export function addressesOf(value: string): readonly string[] {
  const given = [
    ...new Set(
      value
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean),
    ),
  ]
  const wrong = given.find((one) => !address.safeParse(one).success)
  if (wrong !== undefined) throw invalid(`"${wrong.slice(0, 100)}" is not a valid e-mail address.`, 'target_value')
  if (given.length === 0) throw invalid('At least one e-mail address is needed.', 'target_value')
  if (given.length > mostAddresses) throw invalid(`A subscription has at most ${mostAddresses} addresses.`, 'target_value')
  return given
}

export function mustBeTarget(type: TargetType, value: string): void {
  if (type === 'email') addressesOf(value)
  else if (!isWebhookUrl(value)) throw invalid(wrongWebhook, 'target_value')
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, m: 30 * 86_400_000 }

/** With years that calendars agree about. */
export function timeOf(given: string, attr: string): Date {
  const date = readTime(given)
  if (!date || date.getUTCFullYear() < 2000 || date.getUTCFullYear() > 2200)
    throw invalid('Expected a time in ISO 8601 between the years 2000 and 2200, as in 2026-01-05T09:00:00Z.', attr)
  return date
}

/** The end of a snooze. */
export function snoozeEnd(given: string, now: Date): Date {
  const relative = /^(\d{1,4})([hdwm])$/.exec(given)
  return relative ? new Date(now.getTime() + Number(relative[1]) * units[relative[2]!]!) : timeOf(given, 'snoozed_until')
}
