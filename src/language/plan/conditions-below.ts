import { findRow, plainCall } from '../resolver/call-node.ts'
import type { CallNode, ColumnNode, ScanSource, TypedExpr, TypedQuery } from '../resolver/typed.ts'
import { walk } from '../resolver/typed-walk.ts'

// Conditions of a statement that may be computed for every row of a scan: comparisons of a column with a constant, which cannot fail.

const comparisons: ReadonlySet<string> = new Set(['equals', 'greater', 'greaterOrEquals', 'less', 'lessOrEquals'])
/** Those that a store finds its rows by. */
const fields: ReadonlySet<string> = new Set(['timestamp', 'event'])

/** By the alias of the scan. Only where the scan is all that the conditions decide on: beside a join they may mean something else. */
export function harmlessConditions(query: TypedQuery): ReadonlyMap<string, readonly CallNode[]> {
  const found = new Map<string, readonly CallNode[]>()
  walk(query, {
    query(one) {
      if (one.kind !== 'select' || one.from?.kind !== 'scan' || one.where === null) return
      const scan = one.from
      const harmless = conjuncts(one.where).filter((condition): condition is CallNode => isHarmless(condition, scan))
      if (harmless.length > 0) found.set(scan.alias, harmless)
    },
  })
  return found
}

const conjuncts = (condition: TypedExpr): readonly TypedExpr[] =>
  condition.kind === 'call' && condition.name === 'and' ? condition.args.flatMap(conjuncts) : [condition]

function isHarmless(condition: TypedExpr, { alias, reads }: ScanSource): boolean {
  if (condition.kind !== 'call' || !comparisons.has(condition.name)) return false
  const [column, constant] = condition.args
  if (column?.kind !== 'column' || column.source !== alias || constant?.kind !== 'constant') return false
  const read = reads.find(({ name }) => name === column.name)
  return read !== undefined && read.via.length === 0 && read.json === undefined && fields.has(read.field)
}

/** A condition, and harmless ones about the same columns of another source. */
export function withConditions(condition: TypedExpr, harmless: readonly CallNode[], columnOf: (name: string) => ColumnNode): TypedExpr {
  if (harmless.length === 0) return condition
  const { name, row } = findRow('and', condition.span)
  const moved = harmless.map((one) => ({ ...one, args: one.args.map((arg) => (arg.kind === 'column' ? columnOf(arg.name) : arg)) }))
  return plainCall(name, row, { args: [condition, ...moved] }, condition.span)
}
