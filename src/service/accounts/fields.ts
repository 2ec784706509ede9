import * as z from 'zod'
import { unknownField } from '../../errors/unknown-field.ts'
import { type Issue, issueToTell, problemOf, readOptions } from '../../errors/validation.ts'
import { own } from '../../lib/own.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { tokenLength, withinJson } from '../../limits/bounds.ts'
import { type FieldLimitName, fieldLimits } from '../../limits/limits.ts'
import { type Choices, invalid } from './refusals.ts'
import type { Json } from './store.ts'

// Field types of requests. Forms and older clients send text for everything, so numbers and Booleans are also parsed from text.

const read = <S extends z.ZodType>(convert: (value: unknown) => unknown, schema: S) => z.preprocess(convert, schema)

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  on: true,
  '1': true,
  false: false,
  f: false,
  no: false,
  off: false,
  '0': false,
}
const asTruth = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? (own(truths, String(value).toLowerCase()) ?? value) : value
const asNumber = (value: unknown) => (typeof value === 'string' && /^\s*-?\d+(\.0*)?\s*$/.test(value) ? Number(value) : value)
const asText = (value: unknown) => (typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : value)

interface TextRules {
  readonly max?: number
  readonly min?: number
  /** '' is a valid value. */
  readonly blank?: boolean
  /** Its row in the table of limits, where it may be longer than other texts. `max` can only lower it. */
  readonly size?: FieldLimitName
}
export const text = ({ max, min, blank = false, size = 'text' }: TextRules = {}) => {
  const most = Math.min(max ?? Number.POSITIVE_INFINITY, fieldLimits[size].most)
  const limited = z
    .string({ error: 'Not a valid string.' })
    .min(min ?? (blank ? 0 : 1))
    .max(most)
  // Not every database can store them.
  const isWhole = (value: string) => !value.includes('\0')
  return read(
    asText,
    limited.refine(isWhole, { params: { rule: 'null_characters_not_allowed' }, error: 'Null characters are not allowed.' }),
  )
}
export const flag = () => read(asTruth, z.boolean({ error: 'Must be a valid boolean.' }))
/** The database column has 32 bits. */
export const integer = (min = -2147483648, max = 2147483647) =>
  read(
    asNumber,
    z
      .number({ error: 'A valid integer is required.' })
      .int({ error: 'A valid integer is required.' })
      .min(min, { error: `Ensure this value is greater than or equal to ${min}.` })
      .max(max, { error: `Ensure this value is less than or equal to ${max}.` }),
  )
export const integerOf = <const V extends readonly number[]>(values: V) => read(asNumber, z.literal(values))
export const choice = <const V extends readonly [string, ...string[]]>(values: V) => read(asText, z.enum(values))
export const uuid = () =>
  z
    .string({ error: 'Must be a valid UUID.' })
    .max(tokenLength, { error: 'Must be a valid UUID.' })
    .toLowerCase()
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { error: 'Must be a valid UUID.' })
export const email = () =>
  read(
    asText,
    z
      .string({ error: 'Not a valid string.' })
      .min(1)
      .max(254)
      .regex(/^[^\s@"(),:;<>[\]\\]+@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$|^[^\s@"(),:;<>[\]\\]+@localhost$/i, {
        error: 'Enter a valid email address.',
      }),
  )
export const newPassword = () =>
  z
    .string({ error: 'Not a valid string.' })
    .min(1)
    .min(8, { error: 'This password is too short. It must contain at least 8 characters.' })
    .max(1024)
/** A password that is compared with the stored one. */
export const givenPassword = () => z.string({ error: 'Not a valid string.' }).min(1).max(1024)
/** `size`: its row in the table of limits, where it may be longer than other lists. */
export const listOf = <S extends z.ZodType>(of: S, size: FieldLimitName = 'list') => {
  const { most } = fieldLimits[size]
  return z.array(of, { error: 'Expected a list of items.' }).max(most, { error: `Ensure this field has no more than ${most} items.` })
}
const isoForm = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i

/** ISO 8601; without an offset it is UTC. Null for any other text. */
export function readTime(given: string): Date | null {
  const written = given.trim()
  if (!isoForm.test(written)) return null
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(written.slice(10))
  const whole = written.length === 10 ? `${written}T00:00:00` : written.replace(/^(.{10})[ t]/, '$1T').replace(' ', '')
  const read = new Date(hasZone ? whole.toUpperCase() : `${whole}Z`)
  return Number.isNaN(read.getTime()) ? null : read
}

const wrongTime = 'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].'
/** A time as text; read by `readTime`. */
export const time = () =>
  z
    .string({ error: wrongTime })
    .max(tokenLength, { error: wrongTime })
    .transform((given, context) => {
      const read = readTime(given)
      if (read) return read
      context.addIssue({ code: 'custom', message: wrongTime, params: { rule: 'invalid_input' } })
      return z.NEVER
    })

/** With these fields and no others. */
export const objectOf = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownField(issue.keys[0]!, Object.keys(shape)) : undefined),
  })
/** Bodies are parsed from JSON, so every value in them is valid JSON. `size`: its row in the table of limits. */
export const anyJson = (size: FieldLimitName = 'json') => withinJson(z.unknown(), size) as z.ZodType<Json>
const jsonValue = z.unknown() as z.ZodType<Json>
export const jsonObject = (size: FieldLimitName = 'json') =>
  withinJson(z.record(z.string(), jsonValue, { error: 'Expected an object.' }), size)
/** A list that is bounded as a whole. */
export const jsonList = (size: FieldLimitName = 'json') => withinJson(z.array(jsonValue, { error: 'Expected a list of items.' }), size)

/** A value that is not one of the choices. */
export const noChoice = (value: string) => ({ rule: 'invalid_choice', message: `"${excerpt(value)}" is not a valid choice.` })

const messageOf = (issue: Issue): { rule: string; message: string; choices?: Choices } => {
  const input = issue.input
  if (issue.code === 'custom' && typeof issue.params?.rule === 'string')
    return { rule: issue.params.rule, message: issue.message, choices: issue.params.choices as Choices | undefined }
  if (issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union') {
    if (input === undefined) return { rule: 'required', message: 'This field is required.' }
    if (input === null) return { rule: 'null', message: 'This field may not be null.' }
  }
  if (issue.code === 'invalid_value') {
    const allowed = issue.values.map(String)
    const candidates = typeof input === 'string' ? nearestSpellings(input, allowed) : []
    return { ...noChoice(String(input)), choices: { allowed, candidates } }
  }
  if (issue.code === 'too_small' && issue.origin === 'string') {
    if (input === '') return { rule: 'blank', message: 'This field may not be blank.' }
    return { rule: 'min_length', message: `Ensure this field has at least ${issue.minimum} characters.` }
  }
  if (issue.code === 'too_big' && issue.origin === 'string')
    return { rule: 'max_length', message: `Ensure this field has no more than ${issue.maximum} characters.` }
  if (issue.code === 'too_small' && issue.origin === 'number') return { rule: 'min_value', message: issue.message }
  if (issue.code === 'too_big' && issue.origin === 'number') return { rule: 'max_value', message: issue.message }
  return { rule: 'invalid_input', message: problemOf(issue).message }
}

/** The value as the schema reads it, or its first error. */
export const check = <T>(schema: z.ZodType<T>, value: unknown): T => {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const result = schema.safeParse(value, readOptions)
    if (result.success) return result.data
    const issue = issueToTell(result.error)
    const { rule, message, choices } = messageOf(issue)
    throw invalid(message, issue.path.length > 0 ? issue.path.map(String).join('__') : null, rule, choices)
  }
  throw invalid(
    `Invalid data. Expected an object, but got ${Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`}.`,
  )
}
