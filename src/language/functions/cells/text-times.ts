import type { CellContext } from '../row.ts'
import { once } from './duckdb-values.ts'
import { momentOf } from './zone-text.ts'

// Parsing times on DuckDB: ClickHouse's "best effort".

const endsInOffset = '\\d{1,2}:\\d{2}(:\\d{2}(\\.\\d*)?)?\\s*(Z|UTC|GMT|[+-]\\d{2}(:?\\d{2})?)$'

/** Date formats that are rewritten to `2024-01-31` before DuckDB reads them; in 1/2/2024 ClickHouse reads the first number as the day. */
const rewrites = (isMonthFirst: boolean): readonly (readonly [from: string, to: string])[] => [
  ['^(\\d{4})(\\d\\d)(\\d\\d)(?:T?(\\d\\d)(\\d\\d)(\\d\\d))$', '\\1-\\2-\\3 \\4:\\5:\\6'],
  ['^(\\d{4})[/.]?(\\d\\d)[/.]?(\\d\\d)\\b', '\\1-\\2-\\3'],
  ['^(\\d{1,2})[/.-](\\d{1,2})[/.-](\\d{4})\\b', isMonthFirst ? '\\3-\\1-\\2' : '\\3-\\2-\\1'],
]
const formats = ['%d %b %Y', '%b %d %Y', '%d %B %Y', '%B %d %Y', '%Y-%m-%d']
  .flatMap((date) => ['', ' %H:%M', ' %H:%M:%S', ' %I:%M %p', ' %I:%M:%S %p'].map((clock) => `'${date}${clock}'`))
  .join(', ')

/**
 * The instant that a text names, or NULL: ISO forms, seconds or milliseconds since 1970, and common date formats. Without an offset
 * it is a local time of the project.
 */
export function instantOfText(text: string, context: CellContext, options: { timezone?: string; isMonthFirst?: boolean } = {}): string {
  return once(context, text, (t) => {
    const plain = rewrites(options.isMonthFirst ?? false).reduce((sql, [from, to]) => `regexp_replace(${sql}, '${from}', '${to}')`, t)
    const named = `regexp_replace(regexp_replace(trim(${t}), '^[A-Za-z]{3,9}, ', ''), ',', '')`
    const local = `coalesce(TRY_CAST(${plain} AS TIMESTAMP), try_strptime(${named}, [${formats}]))`
    return (
      `CASE WHEN regexp_full_match(${t}, '\\d{9,10}(\\.\\d+)?') THEN make_timestamp(CAST(TRY_CAST(${t} AS DOUBLE) * 1000000 AS BIGINT))` +
      ` WHEN regexp_full_match(${t}, '\\d{13}') THEN make_timestamp(TRY_CAST(${t} AS BIGINT) * 1000)` +
      ` WHEN regexp_matches(${t}, '${endsInOffset}', 'i') THEN timezone('UTC', TRY_CAST(regexp_replace(${t}, '\\s*(UTC|GMT)$', 'Z', 'i') AS TIMESTAMPTZ))` +
      ` ELSE ${momentOf(local, options.timezone ?? context.timezone, context)} END`
    )
  })
}
