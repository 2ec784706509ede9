import { WaymarkError } from '../../errors/errors.ts'

const noTemplate =
  "project.sql is the tag of a template: project.sql`select …`, without parentheses. A statement in a variable is asked with project.query({ kind: 'SqlLikeQuery', query })."

/**
 * A statement from a tagged template: each value becomes a placeholder, so that it travels as a parameter and is never text of the statement.
 *
 * Before: `select count() from events where event = ${name}`. After: `… where event = {v0}` with `{ v0: name }`.
 */
export function statementFrom(texts: readonly string[], values: readonly unknown[]): { query: string; values: Record<string, unknown> } {
  if (!Array.isArray(texts)) throw new WaymarkError('validation-failed', { message: noTemplate, attr: null })
  for (const [i, value] of values.entries()) {
    const mistake = mistakeOf(value)
    if (mistake)
      throw new WaymarkError('validation-failed', { message: `Value ${i + 1} of the statement is ${mistake}.`, attr: `values__v${i}` })
  }
  return {
    query: texts.map((text, i) => (i < values.length ? `${text}{v${i}}` : text)).join(''),
    values: Object.fromEntries(values.map((value, i) => [`v${i}`, shown(value)])),
  }
}

/** A name that a user never wrote. */
export const isOfTemplate = (name: string): boolean => /^v\d+$/.test(name)

/** What a statement can be given is what JSON holds, times, and whole numbers of any size. */
function mistakeOf(value: unknown): string | null {
  if (value === undefined) return 'undefined; write null for no value'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}, which no JSON holds`
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'an invalid Date'
  if (value instanceof Map || value instanceof Set) return `a ${value.constructor.name}; give an array or an object`
  return null
}

const shown = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
