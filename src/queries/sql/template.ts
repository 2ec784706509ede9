/**
 * A statement from a tagged template: each value becomes a placeholder, so that it travels as a parameter and is never text of the statement.
 *
 * Before: `select count() from events where event = ${name}`. After: `… where event = {v0}` with `{ v0: name }`.
 */
export function statementFrom(texts: readonly string[], values: readonly unknown[]): { query: string; values: Record<string, unknown> } {
  return {
    query: texts.map((text, i) => (i < values.length ? `${text}{v${i}}` : text)).join(''),
    values: Object.fromEntries(values.map((value, i) => [`v${i}`, value instanceof Date ? value.toISOString() : value])),
  }
}
