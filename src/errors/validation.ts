import type * as z from 'zod'
import { isObject } from '../lib/is-object.ts'
import { excerpt } from '../lib/text/excerpt.ts'
import { likelyName } from '../lib/text/likely-name.ts'
import type { ErrorData } from './codes.ts'

// Error messages for invalid requests: the path, what was expected, what came, and the likely name.

export interface ValidationProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** All allowed values. */
  readonly allowed?: readonly string[]
  readonly candidates?: readonly string[]
}

export type Issue = z.core.$ZodIssue

/** Data of `validation-failed`. `before` is the path of the value in the body of an HTTP request; null if it is not part of a query. */
export const validationData = (
  { path, ...said }: ValidationProblem,
  before: readonly PropertyKey[] | null,
): ErrorData['validation-failed'] => ({
  ...said,
  attr: path.join('__') || null,
  ...(before && { place: [...before, ...path].map(String) }),
})

/** An issue without a message of its own gets an empty message. */
export const readOptions = { reportInput: true, error: () => '' }

/** The value as the schema reads it, or as the message describes it. */
export function readAs<T>(schema: z.ZodType<T>, value: unknown): { readonly data: T } | { readonly misfit: ValidationProblem } {
  const read = schema.safeParse(value, readOptions)
  return read.success ? { data: read.data } : { misfit: problemOf(issueToTell(read.error)) }
}

/** The issue to report: an unknown field explains most others. */
export function issueToTell(error: z.core.$ZodError): Issue {
  const issues = error.issues.flatMap(innermost)
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys')
  return unknown?.code === 'unrecognized_keys' ? { ...unknown, path: [...unknown.path, unknown.keys[0]!] } : issues[0]!
}

/** For a union without a message of its own: the issues of the alternative that matches furthest. */
function innermost(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== '') return [issue]
  const inner = issue.errors.map((list) => list.flatMap(innermost))
  const deepest = inner.filter((list) => list.some(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'))[0]
  return deepest ? deepest.map((one) => ({ ...one, path: [...issue.path, ...one.path] }) as Issue) : [issue]
}

/** `series[0].math` */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`),
    '',
  )

/** A value that is not allowed. */
export function noneOf(name: string, given: unknown, allowed: readonly string[]): Omit<ValidationProblem, 'path'> {
  return wrongValue(name, given, oneOf(allowed))
}

function wrongValue(name: string, given: unknown, { needs, allowed }: Expectation): Omit<ValidationProblem, 'path'> {
  const likely = allowed && typeof given === 'string' ? likelyName(given, allowed) : undefined
  return {
    message: `${name} must be ${needs}, but got ${shown(given)}.${likely === undefined ? '' : ` Did you mean "${likely}"?`}`,
    ...(allowed && { allowed }),
    ...(likely !== undefined && { candidates: [likely] }),
  }
}

/** The message of the schema if it has one, else a general one. */
export function problemOf(issue: Issue): ValidationProblem {
  const { path, message } = issue
  if (message !== '') return { path, message }
  const name = pathText(path) || 'The query'
  const expected = expectationOf(issue)
  const { needs, allowed } = expected
  if (issue.input === undefined) return { path, message: `${name} is required: it must be ${needs}.`, ...(allowed && { allowed }) }
  return { path, ...wrongValue(name, issue.input, expected) }
}

interface Expectation {
  readonly needs: string
  readonly allowed?: readonly string[]
}

const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  nonoptional: 'a value',
}

const plural = (count: unknown, noun: string) => `${String(count)} ${noun}${Number(count) === 1 ? '' : 's'}`

/** For a list or a text, the limit applies to the length. */
const sized = (origin: string, bound: string, limit: unknown): string => {
  if (origin === 'array') return `a list of ${bound} ${plural(limit, 'item')}`
  if (origin === 'string') return `text of ${bound} ${plural(limit, 'character')}`
  return `${origin === 'int' ? 'a whole number' : 'a number'} of ${bound} ${String(limit)}`
}

function expectationOf(issue: Issue): Expectation {
  switch (issue.code) {
    case 'invalid_type':
      return { needs: types[issue.expected] ?? issue.expected }
    case 'invalid_value':
      return oneOf(issue.values.map(String))
    case 'invalid_union': {
      const options = (issue as { options?: readonly unknown[] }).options
      if (options) return oneOf(options.map(String))
      const parts = issue.errors.flatMap((list) => list.slice(0, 1).map(expectationOf))
      const allowed = parts.flatMap((part) => part.allowed ?? [])
      return { needs: [...new Set(parts.map(({ needs }) => needs))].join(', or '), ...(allowed.length > 0 && { allowed }) }
    }
    case 'too_small':
      return { needs: sized(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum) }
    case 'too_big':
      return { needs: sized(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum) }
    case 'invalid_format':
      return { needs: `text in the form ${issue.pattern ?? issue.format}` }
    default:
      return { needs: 'something else' }
  }
}

const oneOf = (allowed: readonly string[]): Expectation =>
  allowed.length === 1 ? { needs: JSON.stringify(allowed[0]), allowed } : { needs: `one of ${allowed.join(', ')}`, allowed }

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${plural(value.length, 'item')}`
  if (isObject(value)) return 'an object'
  return typeof value === 'string' ? JSON.stringify(excerpt(value)) : String(value)
}
