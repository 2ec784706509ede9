import { tooMuchMark } from '../../../errors/refusal-mark.ts'
import { mostStepsOfRow } from '../../../lib/text/pattern-memory.ts'
import { bytesOf, countingIn } from '../../functions/cells/duckdb-sizes.ts'
import type { Guards } from '../dialect.ts'

// DuckDB computes 2,048 rows at a time on each thread, and does not count their intermediate values in its memory accounting.

/** Longer expressions are not repeated in the text of the error. */
const longestSize = 400

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Everything that is counted in a pattern is multiplied: what stands beside each other costs less than that. */
const stepsOf = (pattern: string, name: string): string => {
  const counts = `list_transform(regexp_extract_all(${pattern}, '(\\d{1,6}),?\\}', 1), lambda ${name}: greatest(1, CAST(${name} AS DOUBLE)))`
  return `strlen(${pattern}) * CASE WHEN contains(lower(${pattern}), '\\p') THEN 800 ELSE 20 END * coalesce(list_product(${counts}), 1)`
}
const small = (pattern: string, refusal: string, name: string): string =>
  `CASE WHEN ${stepsOf(pattern, name)} > ${mostStepsOfRow} THEN ${refusal} ELSE ${pattern} END`

export const guards: Guards = {
  bytesOf: (value, type) => bytesOf(value, type),
  countingIn,
  pattern: (value, refusal, name) =>
    value.length > longestSize ? guards.named([value], `${name}v`, ([one]) => small(one!, refusal, name)) : small(value, refusal, name),
  patterns: (values, refusal, [item, name]) => `list_transform(${values}, lambda ${item}: ${small(item, refusal, name)})`,
  items: (value, type) => `CAST(${type.kind === 'map' ? `cardinality(${value})` : `len(${value})`} AS DOUBLE)`,
  within(bytes, made, { name, most, span }) {
    const mark = literal(tooMuchMark(name, most, span))
    // Not error(): the expression around it would be computed again at each use. Not a cast of a constant, which would fail before any row is read.
    if (bytes.length > longestSize)
      return `CASE WHEN CAST(CASE WHEN ${bytes} > ${most} THEN ${mark} ELSE 'false' END AS BOOLEAN) THEN NULL ELSE ${made} END`
    return `CASE WHEN ${bytes} > ${most} THEN CASE WHEN CAST(${mark} || CAST(${bytes} AS VARCHAR) AS BOOLEAN) THEN NULL END ELSE ${made} END`
  },
  named: (values, name, body) =>
    `list_transform([{${values.map((value, i) => `v${i}: ${value}`).join(', ')}}], lambda ${name}: ${body(values.map((_, i) => `${name}.v${i}`))})[1]`,
  together: (bytes) => `sum(${bytes}) OVER (ROWS BETWEEN 2047 PRECEDING AND CURRENT ROW)`,
  ofRows: (bytes, filter, over) => `coalesce(sum(${bytes})${filter ? ` FILTER (WHERE ${filter})` : ''}${over}, 0)`,
}
