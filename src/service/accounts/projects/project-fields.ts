import * as z from 'zod'
import { nearestSpellings } from '../../../lib/text/spelling.ts'
import { tokenLength, withinJson } from '../../../limits/bounds.ts'
import { anyJson, choice, flag, integer, integerOf, jsonList, jsonObject, listOf, noChoice, objectOf, text } from '../fields.ts'
import type { Json } from '../store.ts'

/** Parts of names as the IANA database spells them: `Buenos_Aires`, `US`, `EST5EDT`, `GMT+1`. */
const zonePart = /^(?:[A-Z][a-z][\w+'-]*|[A-Z]{2,3}|[A-Z]{3}\d[A-Z]{3}|GMT[+-]?\d*|NZ-CHAT|W-SU)$/
const zoneCache = new Map<string, string | null>()

/**
 * The name of a time zone in the spelling of the IANA database, as engines know it: `Europe/Berlin` for `EUROPE/BERLIN`. Other names of a zone stay, such as
 * `Asia/Kolkata`. Null: there is no such zone; offsets such as `+02:00` are not names.
 */
const zoneName = (given: string): string | null => {
  const name = given.trim()
  const known = zoneCache.get(name)
  if (known !== undefined) return known
  const found = spelled(name)
  if (zoneCache.size < 2000) zoneCache.set(name, found)
  return found
}
function spelled(name: string): string | null {
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return null
  let canonical: string
  try {
    canonical = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
  const same = [canonical, ...Intl.supportedValuesOf('timeZone')].find((zone) => zone.toLowerCase() === name.toLowerCase())
  return same ?? (name.split('/').every((part) => zonePart.test(part)) ? name : canonical)
}

/** Likely time zones for inputs such as `Berlin` or `europe/berln`. */
const likelyZones = (name: string): string[] => {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const wanted = name.toLowerCase().replaceAll(' ', '_')
  const ofCity = zones.filter((zone) => zone.toLowerCase().endsWith(`/${wanted}`))
  return ofCity.length > 0 ? ofCity : nearestSpellings(wanted, zones)
}

export const timezone = () =>
  z
    .string({ error: 'Not a valid string.' })
    .max(tokenLength)
    .superRefine((value, issues) => {
      if (zoneName(value) !== null) return
      const { rule, message } = noChoice(value)
      issues.addIssue({ code: 'custom', params: { rule, choices: { candidates: likelyZones(value) } }, message })
    })
    .overwrite((value) => zoneName(value) ?? value)
    .meta({ description: 'An IANA time zone name; it is stored in the spelling of the IANA database' })

const notAMap = 'Must provide a dictionary or null.'
const freeMap = () => withinJson(z.record(z.string(), z.unknown() as z.ZodType<Json>, { error: notAMap }), 'json')
const linkedFlag = freeMap().refine((value) => Object.keys(value).sort().join() === 'id,key', {
  error: "Must provide a dictionary with only 'id' and 'key' keys.",
})
const networkCapture = freeMap().refine((value) => Object.keys(value).every((key) => key === 'recordHeaders' || key === 'recordBody'), {
  error: "Must provide a dictionary with only 'recordHeaders' and/or 'recordBody' keys.",
})
const errorsToIgnore = withinJson(z.array(z.unknown() as z.ZodType<Json>, { error: 'Must provide a list of errors to ignore.' }), 'json')
  .refine((value) => value.every((one) => typeof one === 'string'), { error: 'Must provide a list of strings.', abort: true })
  .refine((value) => JSON.stringify(value).length <= 300, {
    error: 'Field must be less than 300 characters. Complex config should be provided in code.',
  })
const sampleRate = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z
    .string({ error: 'A valid number is required.' })
    .max(tokenLength, { error: 'A valid number is required.' })
    .trim()
    .regex(/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/, { error: 'A valid number is required.', abort: true })
    .refine((value) => Number(value) <= 1, {
      params: { rule: 'max_value' },
      error: 'Ensure this value is less than or equal to 1.',
      abort: true,
    })
    .refine((value) => Number(value) >= 0, {
      params: { rule: 'min_value' },
      error: 'Ensure this value is greater than or equal to 0.',
      abort: true,
    })
    .refine((value) => (value.split('.')[1]?.length ?? 0) <= 2, {
      params: { rule: 'max_decimal_places' },
      error: 'Ensure that there are no more than 2 decimal places.',
    })
    .transform((value) => Number(value).toFixed(2)),
)
/** A map with only these keys. */
const mapOf = (keys: readonly string[], refusal: string) =>
  freeMap().refine((value) => Object.keys(value).every((key) => keys.includes(key)), { error: `${refusal} ${keys.join(', ')}.` })
const aiConfig = mapOf(
  ['included_event_properties', 'opt_in', 'preferred_events', 'excluded_events', 'important_user_properties'],
  'Must provide a dictionary with only allowed keys:',
)
const replayConfig = mapOf(['record_canvas', 'ai_config'], 'Must provide a dictionary with only known keys. One of').superRefine(
  ({ ai_config }, issues) => {
    const problem = ai_config === undefined || ai_config === null ? undefined : aiConfig.safeParse(ai_config).error?.issues[0]
    if (problem) issues.addIssue({ code: 'custom', message: problem.message })
  },
)
const pathCleaning = withinJson(
  listOf(objectOf({ regex: text({ max: 1000, blank: true }).nullish(), alias: text({ max: 1000, blank: true }).nullish() })),
  'config',
)

const mostMonths = 1_200
const mostNames = 200
const months = () => integer(1, mostMonths).nullish()
const retention = objectOf({
  events_months: months(),
  event_names: withinJson(
    z.record(text({ max: 200 }), integer(1, mostMonths).nullable(), { error: 'Must provide a dictionary of event names and months.' }),
    'json',
  )
    .refine((names) => Object.keys(names).length <= mostNames, { error: `At most ${mostNames} event names.` })
    .nullish(),
  persons_months: months(),
})

/** Fields with columns of their own. */
const columnFields = {
  name: text({ max: 200 }),
  timezone: timezone(),
  week_start_day: integerOf([0, 1]).nullable(),
  access_control: flag(),
}

interface Setting {
  readonly field: z.ZodType
  readonly default: Json
}
const setting = (field: z.ZodType, fallback: Json): Setting => ({ field, default: fallback })
const onOff = (fallback: boolean | null = null) => setting(flag().nullable(), fallback)
const json = (fallback: Json = null) => setting(anyJson(), fallback)

/** The other settings: stored in one column, each with its default. */
const projectSettings: Readonly<Record<string, Setting>> = {
  product_description: setting(text({ max: 1000, blank: true }).nullable(), null),
  app_urls: setting(listOf(text({ max: 200, blank: true }).nullable()).max(200), []),
  slack_incoming_webhook: setting(text({ max: 500, blank: true }).nullable(), null),
  anonymize_ips: setting(flag(), false),
  completed_snippet_onboarding: setting(flag(), false),
  test_account_filters: setting(jsonList(), []),
  test_account_filters_default_checked: onOff(null),
  path_cleaning_filters: setting(pathCleaning.nullable(), []),
  data_attributes: setting(jsonList(), ['data-attr']),
  person_display_name_properties: setting(
    listOf(text({ max: 400 }))
      .max(100)
      .nullable(),
    null,
  ),
  correlation_config: setting(jsonObject().nullable(), {}),
  autocapture_opt_out: onOff(),
  autocapture_exceptions_opt_in: onOff(),
  autocapture_exceptions_errors_to_ignore: setting(errorsToIgnore.nullable(), null),
  autocapture_web_vitals_opt_in: onOff(),
  capture_console_log_opt_in: onOff(),
  capture_dead_clicks: onOff(),
  capture_performance_opt_in: onOff(),
  session_recording_opt_in: setting(flag(), false),
  session_recording_sample_rate: setting(sampleRate.nullable(), null),
  session_recording_minimum_duration_milliseconds: setting(integer(0, 15_000).nullable(), null),
  session_recording_linked_flag: setting(linkedFlag.nullable(), null),
  session_recording_network_payload_capture_config: setting(networkCapture.nullable(), null),
  session_replay_config: setting(replayConfig.nullable(), null),
  survey_config: setting(jsonObject().nullable(), null),
  primary_dashboard: setting(integer().nullable(), null),
  live_events_columns: setting(withinJson(listOf(text()), 'json').nullable(), null),
  recording_domains: setting(
    listOf(text({ max: 200, blank: true }).nullable())
      .max(200)
      .nullable(),
    null,
  ),
  inject_web_apps: onOff(),
  extra_settings: json(),
  modifiers: json(),
  has_completed_onboarding_for: json({}),
  surveys_opt_in: onOff(),
  heatmaps_opt_in: onOff(),
  flags_persistence_default: onOff(),
  groups_on_events_querying_enabled: onOff(true),
  daily_event_limit: setting(integer(0).nullable(), null),
  data_retention: setting(retention.nullable(), null),
  base_currency: setting(choice(['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CAD', 'AUD', 'CNY', 'INR', 'BRL']), 'USD'),
}

const settingFields: Record<string, z.ZodType> = Object.fromEntries(Object.entries(projectSettings).map(([name, one]) => [name, one.field]))

export const projectInput = z.object({
  ...Object.fromEntries(Object.entries(columnFields).map(([name, field]) => [name, field.optional()])),
  ...Object.fromEntries(Object.entries(settingFields).map(([name, field]) => [name, field.optional()])),
}) as z.ZodObject<{ [K in keyof typeof columnFields]: z.ZodOptional<(typeof columnFields)[K]> }>
export const newProjectInput = projectInput.extend({ is_demo: flag().optional() })

export const projectFieldNames: readonly string[] = [...Object.keys(newProjectInput.shape), 'api_token']

type Flag = boolean | null

export interface DataRetention {
  readonly events_months?: number | null
  readonly event_names?: Readonly<Record<string, number | null>> | null
  readonly persons_months?: number | null
}

/** The fields of a new project. All are optional. */
export interface NewProjectSettings {
  readonly name?: string
  /** The time zone of days, weeks and texts without an offset, such as `Europe/Berlin`. Default: UTC. */
  readonly timezone?: string
  /** 0 Sunday, 1 Monday. */
  readonly week_start_day?: 0 | 1 | null
  /** Filters of `filterTestAccounts`. */
  readonly test_account_filters?: readonly object[]
  readonly path_cleaning_filters?: readonly { readonly regex?: string | null; readonly alias?: string | null }[] | null
  /** The properties that name a person; the first one with a value is used. */
  readonly person_display_name_properties?: readonly string[] | null
  readonly anonymize_ips?: boolean
  readonly base_currency?: string
  readonly is_demo?: boolean
  readonly access_control?: boolean
  /** Used instead of a random key. */
  readonly api_token?: string
  readonly product_description?: string | null
  readonly app_urls?: readonly (string | null)[]
  readonly slack_incoming_webhook?: string | null
  readonly completed_snippet_onboarding?: boolean
  readonly test_account_filters_default_checked?: Flag
  readonly data_attributes?: readonly unknown[]
  readonly correlation_config?: object | null
  readonly autocapture_opt_out?: Flag
  readonly autocapture_exceptions_opt_in?: Flag
  readonly autocapture_exceptions_errors_to_ignore?: unknown
  readonly autocapture_web_vitals_opt_in?: Flag
  readonly capture_console_log_opt_in?: Flag
  /** Clicks after which nothing happens. */
  readonly capture_dead_clicks?: Flag
  readonly capture_performance_opt_in?: Flag
  readonly session_recording_opt_in?: boolean
  readonly session_recording_sample_rate?: string | number | null
  readonly session_recording_minimum_duration_milliseconds?: number | null
  readonly session_recording_linked_flag?: object | null
  readonly session_recording_network_payload_capture_config?: object | null
  readonly session_replay_config?: object | null
  readonly survey_config?: object | null
  readonly primary_dashboard?: number | null
  readonly live_events_columns?: readonly string[] | null
  readonly recording_domains?: readonly (string | null)[] | null
  readonly inject_web_apps?: Flag
  readonly extra_settings?: unknown
  readonly modifiers?: unknown
  readonly has_completed_onboarding_for?: unknown
  readonly surveys_opt_in?: Flag
  readonly heatmaps_opt_in?: Flag
  readonly flags_persistence_default?: Flag
  readonly groups_on_events_querying_enabled?: Flag
  /** How many months events are kept, those of some names differently, and persons who have no events any more. Null: for ever. */
  readonly data_retention?: DataRetention | null
  /** Events of clients that the project takes on one day, at most what the operator allows; null: as many as that. */
  readonly daily_event_limit?: number | null
}

const defaults: Record<string, Json> = Object.fromEntries(Object.entries(projectSettings).map(([name, one]) => [name, one.default]))

export const settingsWithDefaults = (stored: Json): Record<string, Json> => {
  const { views: _, ...settings } = stored as Record<string, Json>
  return { ...defaults, ...settings }
}
/** One of them. */
export const settingWithDefault = (stored: Json, name: string): Json | undefined => {
  const settings = stored as Record<string, Json>
  return Object.hasOwn(settings, name) ? settings[name] : defaults[name]
}
/** How long the project keeps what, in months. */
export function retentionOf(stored: Json) {
  const { events_months, event_names, persons_months } = ((stored as Readonly<Record<string, unknown>>).data_retention ??
    {}) as DataRetention
  return { events: events_months ?? null, names: event_names ?? {}, persons: persons_months ?? null }
}
/** The statements of the project's views, by their names. They are stored with the settings, because every query needs them. */
export const viewsOf = (stored: Json): Readonly<Record<string, string>> =>
  ((stored as Readonly<Record<string, Json>>).views ?? {}) as Readonly<Record<string, string>>
export const isSetting = (name: string): boolean => Object.hasOwn(projectSettings, name)
