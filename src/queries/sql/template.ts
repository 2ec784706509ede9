import { WaymarkError } from '../../errors/errors.ts'
import { mistakeOfValue, shown } from './values.ts'

const noTemplate =
  "project.sql is a template tag: write project.sql`select …`, without parentheses. Run a statement from a variable with project.query({ kind: 'SqlLikeQuery', query })."

/**
 * A statement from a tagged template: each value becomes a placeholder, so that it travels as a parameter and is never text of the statement.
 *
 * Before: `select count() from events where event = ${name}`. After: `… where event = {v0}` with `{ v0: name }`.
 */
export function statementFrom(texts: readonly string[], values: readonly unknown[]): { query: string; values: Record<string, unknown> } {
  if (!Array.isArray(texts)) throw new WaymarkError('validation-failed', { message: noTemplate, attr: null })
  for (const [i, value] of values.entries()) {
    const mistake = mistakeOfValue(value)
    if (mistake)
      throw new WaymarkError('validation-failed', { message: `Value ${i + 1} of the statement is ${mistake}.`, attr: `values__v${i}` })
  }
  return {
    query: texts.map((text, i) => (i < values.length ? `${text}{v${i}}` : text)).join(''),
    values: Object.fromEntries(values.map((value, i) => [`v${i}`, shown(value)])),
  }
}

/** A name that users never write. */
export const isOfTemplate = (name: string): boolean => /^v\d+$/.test(name)
