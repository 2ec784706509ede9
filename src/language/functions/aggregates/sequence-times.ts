import { UnsupportedError } from '../../../errors/errors.ts'
import { truth } from '../arrays/lambda.ts'
import { folded } from '../cells/duckdb-values.ts'
import { seconds } from '../cells/seconds.ts'
import type { Arg, CellContext } from '../row.ts'
import { rowsCall, withFilter, withoutDistinct } from './aggregate.ts'
import type { PatternItem } from './sequence-pattern.ts'

// Patterns with times between their steps, on DuckDB: an automaton that reads the rows in order.
//
// Each part of the pattern has a list of times. A part that consumes one row, or any number of rows (`.*`), is active while its list is not empty. A time
// condition keeps the times since which it has been active, as long as they can affect the result.

const mostParts = 24
/** Parts that consume no row are resolved into the part after them. */
const mostInARow = 3

const takesRow = (item: PatternItem): boolean => item === '.' || (typeof item === 'object' && 'step' in item)

export function matchesWithTimes(
  name: string,
  items: readonly PatternItem[],
  [at, ...steps]: readonly Arg[],
  context: CellContext,
): string {
  const refuse = (reason: string) => new UnsupportedError('unsupported-function', { name, engine: 'DuckDB', reason })
  const parts = withoutStarsAround(items)
  if (parts.length > mostParts) throw refuse(`patterns with (?t…) have at most ${mostParts} parts there`)
  if (!takesRow(parts.at(-1) ?? '.*')) throw refuse('a pattern there does not end with (?t…)')
  let inARow = 0
  for (const part of parts) {
    inARow = takesRow(part) ? 0 : inARow + 1
    if (inARow > mostInARow) throw refuse(`a pattern has at most ${mostInARow - 1} of .* and (?t…) in a row there`)
  }
  const [s, e, b] = Array.from({ length: 3 }, () => context.fresh()) as [string, string, string]

  let arrives = 'false'
  let taken: string | null = null
  const lists = parts.map((part, i) => {
    const list = `${s}.s[${i + 1}]`
    const waits = `(len(${list}) > 0 OR ${arrives})`
    const before = taken
    taken = null
    if (part === '.*') {
      arrives = waits
      return `CASE WHEN ${[waits, ...(before ? [before] : [])].join(' OR ')} THEN [${e}.t] ELSE [] END`
    }
    if (part === '.' || 'step' in part) {
      taken = part === '.' ? waits : `(${waits} AND ${e}.k & ${2 ** part.step} <> 0)`
      arrives = 'false'
      return before ? `CASE WHEN ${before} THEN [${e}.t] ELSE [] END` : '[]'
    }
    const { operator, amount } = part
    // The latest starting time decides whether a row is early enough, the first one whether it is late enough.
    const added = (to: string, when: string) =>
      operator === '=='
        ? `CASE WHEN ${when} THEN list_append(${to}, ${e}.t) ELSE ${to} END`
        : operator.startsWith('<')
          ? `CASE WHEN ${when} THEN [${e}.t] ELSE ${to} END`
          : `CASE WHEN ${when} AND len(${to}) = 0 THEN [${e}.t] ELSE ${to} END`
    const from = arrives === 'false' ? list : added(list, arrives)
    arrives = `(len(list_filter(${from}, lambda ${b}: ${e}.t - ${b} ${operator === '==' ? '=' : operator} ${amount})) > 0)`
    const kept = operator === '==' ? `list_filter(${from}, lambda ${b}: ${e}.t - ${b} <= ${amount})` : from
    return before ? added(kept, before) : kept
  })

  const met = steps.map((step, i) => `CASE WHEN ${truth(step.sql, step.type)} THEN ${2 ** i} ELSE 0 END`)
  const found = withFilter(
    withoutDistinct(context),
    `(${steps.map((step) => truth(step.sql, step.type)).join(' OR ')}) AND ${at!.sql} IS NOT NULL`,
  )
  const rows = rowsCall('list', [`{'t': ${seconds(at!)}, 'k': CAST(${met.join(' + ')} AS BIGINT)}`], found)
  const sorted = `list_transform(list_sort(${rows}), lambda ${e}: {'t': ${e}.t, 'k': ${e}.k, 's': CAST(NULL AS BIGINT[][]), 'n': 0})`
  const fresh = `CAST([[0], ${parts
    .slice(1)
    .map(() => '[]')
    .join(', ')}] AS BIGINT[][])`
  const first = `{'t': CAST(0 AS BIGINT), 'k': CAST(0 AS BIGINT), 's': ${fresh}, 'n': 0}`
  const next = `{'t': ${e}.t, 'k': ${e}.k, 's': CASE WHEN ${taken} THEN ${fresh} ELSE CAST([${lists.join(', ')}] AS BIGINT[][]) END, 'n': ${s}.n + CASE WHEN ${taken} THEN 1 ELSE 0 END}`
  return `coalesce(${folded(sorted, [s, e], next, first)}.n, 0)`
}

/** A match may start at any row, and rows after it do not matter. */
function withoutStarsAround(items: readonly PatternItem[]): readonly PatternItem[] {
  const last = items.findLastIndex((item) => item !== '.*')
  const parts: readonly PatternItem[] = ['.*', ...items.slice(0, last + 1)]
  return parts.filter((part, i) => part !== '.*' || parts[i - 1] !== '.*')
}
