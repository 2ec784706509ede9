import { unequalMark } from '../../../errors/refusal-mark.ts'
import type { Span } from '../../../errors/span.ts'
import { onceAll } from '../../functions/cells/duckdb-values.ts'
import type { Arg } from '../../functions/row.ts'
import type { CallNode } from '../../resolver/typed.ts'

// DuckDB pads shorter lists with NULL or cuts longer ones, so rows with arrays of different lengths are rejected before it sees them.

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** `made`, unless the printed arrays have different lengths. */
export function unlessUnequal(arrays: readonly string[], made: string, name: string, span: Span): string {
  const [first, ...others] = arrays
  const longest = others.length === 1 ? `len(${others[0]})` : `greatest(${others.map((array) => `len(${array})`).join(', ')})`
  const shortest = others.length === 1 ? longest : `least(${others.map((array) => `len(${array})`).join(', ')})`
  const uneven = others.map((array) => `len(${array}) <> len(${first})`).join(' OR ')
  const other = others.length === 1 ? longest : `CASE WHEN ${longest} <> len(${first}) THEN ${longest} ELSE ${shortest} END`
  const mark = `${literal(unequalMark(name, span))} || len(${first}) || '|' || ${other}`
  // Not error(): the expression around it would be computed again at each use.
  return `CASE WHEN CAST(CASE WHEN ${uneven} THEN ${mark} ELSE 'false' END AS BOOLEAN) THEN NULL ELSE ${made} END`
}

/** A call with several parallel arrays, each of them printed once. */
export function withEqualLengths(
  args: readonly Arg[],
  sideBySide: readonly Arg[],
  { name, row, span }: Pick<CallNode, 'name' | 'row' | 'span'>,
  fresh: () => string,
  cell: (args: readonly Arg[]) => string,
): string {
  const arrays = sideBySide.filter(({ type }) => type.kind === 'array')
  const counts = arrays.map(({ items }) => items?.length)
  if (arrays.length < 2 || (counts[0] !== undefined && counts.every((count) => count === counts[0]))) return cell(args)
  const values = arrays.map(({ sql }) => sql)
  if (row.kind === 'scalar')
    return onceAll({ fresh }, values, (...names) => {
      const named = args.map((arg) => (arrays.includes(arg) ? { ...arg, sql: names[arrays.indexOf(arg)]! } : arg))
      return unlessUnequal(names, cell(named), name, span)
    })
  // An aggregate reads one row at a time: the first array of each row is compared with the rest.
  const checked = onceAll({ fresh }, values, (...names) => unlessUnequal(names, names[0]!, name, span))
  return cell(args.map((arg) => (arg === arrays[0] ? { ...arg, sql: checked, items: undefined } : arg)))
}
