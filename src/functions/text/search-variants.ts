import { arrayOf, type SqlType, scalar } from '../../types/types.ts'
import { asciiLower } from '../cells/text-bytes.ts'
import type { CellContext } from '../row.ts'
import type { ScalarSpec } from '../scalars.ts'

// What both kinds of search share: spellings of one function, and numbers of what was found.

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
/** One row for each spelling: plain, CaseInsensitive, UTF8, CaseInsensitiveUTF8. */
export const inVariants = (
  name: string,
  suffixes: readonly string[],
  spec: (variant: Variant, name: string) => ScalarSpec,
): Record<string, ScalarSpec> =>
  Object.fromEntries(variants.filter((v) => suffixes.includes(v.suffix)).map((v) => [`${name}${v.suffix}`, spec(v, `${name}${v.suffix}`)]))
export const everySuffix = variants.map((v) => v.suffix)

export const indexed = (list: string, context: CellContext, body: (item: string) => string): string => {
  const [n, i] = [context.fresh(), context.fresh()]
  return `list_filter(list_transform(${list}, lambda ${n}, ${i}: CASE WHEN ${body(n)} THEN ${i} END), lambda ${n}: ${n} IS NOT NULL)`
}
export const first = (list: string): string => `coalesce(${list}[1], 0)`
export const allIndexes = (): SqlType => arrayOf(scalar('UInt64'))
