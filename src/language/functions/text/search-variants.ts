import { arrayOf, type SqlType, scalar } from '../../types/types.ts'
import { asciiLower } from '../cells/text-bytes.ts'
import type { Arg, CellContext } from '../row.ts'
import type { ScalarSpec } from '../scalars.ts'

// Shared by both kinds of search: variants of a function, and the positions of found items.

export interface Variant {
  readonly suffix: string
  readonly fold: (sql: string, context: CellContext) => string
  readonly countsBytes: boolean
}
export const variants: readonly Variant[] = [
  { suffix: '', fold: (sql) => sql, countsBytes: true },
  { suffix: 'CaseInsensitive', fold: asciiLower, countsBytes: true },
  { suffix: 'UTF8', fold: (sql) => sql, countsBytes: false },
  { suffix: 'CaseInsensitiveUTF8', fold: (sql) => `lower(${sql})`, countsBytes: false },
]
/** One row for each variant: plain, CaseInsensitive, UTF8, CaseInsensitiveUTF8. */
export const inVariants = (
  name: string,
  suffixes: readonly string[],
  spec: (variant: Variant, name: string) => ScalarSpec,
): Record<string, ScalarSpec> =>
  Object.fromEntries(variants.filter((v) => suffixes.includes(v.suffix)).map((v) => [`${name}${v.suffix}`, spec(v, `${name}${v.suffix}`)]))
export const everySuffix = variants.map((v) => v.suffix)

/** Longer lists use the engine's list functions, since every text is printed. */
const mostPrinted = 200
/** The texts of a constant list: each becomes a condition, which the engine prepares once for all rows. */
export const constantsOf = ({ items }: Arg): readonly Arg[] | null =>
  items && items.length <= mostPrinted && items.every(({ constant }) => typeof constant === 'string') ? items : null

const notNull = (list: string, context: CellContext): string => {
  const n = context.fresh()
  return `list_filter(${list}, lambda ${n}: ${n} IS NOT NULL)`
}

/** The positions, from 1, of the matching items, in order. */
export const indexed = (list: Arg, context: CellContext, body: (item: string) => string): string => {
  const constants = constantsOf(list)
  if (constants)
    return constants.length === 0
      ? 'CAST([] AS BIGINT[])'
      : notNull(`[${constants.map(({ sql }, i) => `CASE WHEN ${body(sql)} THEN CAST(${i + 1} AS BIGINT) END`).join(', ')}]`, context)
  const [n, i] = [context.fresh(), context.fresh()]
  return notNull(`list_transform(${list.sql}, lambda ${n}, ${i}: CASE WHEN ${body(n)} THEN ${i} END)`, context)
}

/** The position of the first matching item; 0 if there is none. */
export const firstIndex = (list: Arg, context: CellContext, body: (item: string) => string): string => {
  const constants = constantsOf(list)
  if (!constants) return `coalesce(${indexed(list, context, body)}[1], 0)`
  const branches = constants.map(({ sql }, i) => `WHEN ${body(sql)} THEN ${i + 1} `).join('')
  return branches === '' ? 'CAST(0 AS BIGINT)' : `CASE ${branches}ELSE CAST(0 AS BIGINT) END`
}
export const allIndexes = (): SqlType => arrayOf(scalar('UInt64'))
