import type { CallNode, ColumnNode, ScanSource, TypedExpr } from '../resolver/typed.ts'
import { eachSource, rewrite } from '../resolver/typed-walk.ts'
import { scalar } from '../types/types.ts'
import type { Pass } from './context.ts'

/**
 * Counts persons by their number, which is an integer in the row, instead of joining for their uuid.
 * Before: `uniq(person_id)`. After: `uniq(@person_no)`.
 */
export const personNumbers: Pass = (query) => {
  const columns = personColumns(query)
  if (columns.size === 0) return query
  const isPerson = (expr: TypedExpr | undefined): expr is ColumnNode => expr?.kind === 'column' && columns.get(expr.source) === expr.name
  const counted = new Set<string>()
  const replaced = rewrite(query, {
    expr: (expr) => {
      const [person] = expr.kind === 'call' ? expr.args : []
      if (expr.kind !== 'call' || !isPerson(person) || !isCount(expr)) return expr
      counted.add(person.source)
      const [, ...rest] = expr.args
      return { ...expr, args: [{ ...person, name: '@person_no', type: scalar('Int32') }, ...rest] }
    },
  })
  return counted.size === 0
    ? query
    : rewrite(replaced, { source: (source) => (source.kind === 'scan' && counted.has(source.alias) ? withNumber(source) : source) })
}

const uniques = new Set([
  'uniq',
  'uniqExact',
  'uniqIf',
  'uniqExactIf',
  'countDistinct',
  'countDistinctIf',
  'uniqHLL12',
  'uniqCombined',
  'uniqTheta',
])
const isCount = ({ name, distinct, args }: CallNode) =>
  (uniques.has(name) && args.length <= 2) || ((name === 'count' || name === 'countIf') && distinct)

const withNumber = (scan: ScanSource): ScanSource =>
  scan.reads.some((read) => read.name === '@person_no')
    ? scan
    : { ...scan, reads: [...scan.reads, { name: '@person_no', via: [], field: '@person_no', type: scalar('Int32') }] }

/** Alias of each scan of events → its column with the person id. */
function personColumns(query: Parameters<Pass>[0]): ReadonlyMap<string, string> {
  const columns = new Map<string, string>()
  eachSource(query, (source) => {
    if (source.kind !== 'scan' || source.table !== 'events') return
    const read = source.reads.find((r) => r.field === 'id' && r.via.length === 1 && r.via[0] === 'person')
    if (read) columns.set(source.alias, read.name)
  })
  return columns
}
