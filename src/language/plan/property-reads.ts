import { propertyRows } from '../functions/values/property-values.ts'
import { readSuffix } from '../resolver/bindings.ts'
import { childrenOf, isAggregateCall, shownParts } from '../resolver/shape.ts'
import type { CallNode, ColumnNode, JsonRead, Read, ScanSource, TypedExpr, TypedQuery, TypedSelect } from '../resolver/typed.ts'
import { rewrite, walk } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'

/**
 * Moves conversions of a property into the read of the property, so that a column that holds the converted value can serve it.
 * Before: `@number(properties.price)`. After: `properties.price:number`.
 */
export const propertyReads: Pass = (query) => {
  const { reads, selects } = lookedAt(query)
  if (reads.size === 0) return query
  const kept = new Set(selects.flatMap((select) => [...madeOfKeys(select)]))
  const added = new Map<string, Map<string, Read>>()
  const replaced = rewrite(query, {
    expr: (expr) => {
      if (expr.kind !== 'call' || kept.has(expr)) return expr
      const [column] = expr.args
      const read = column?.kind === 'column' ? reads.get(column.source)?.get(column.name) : undefined
      const as = read?.json && readOf(expr, read.json.as)
      if (!read?.json || !as) return expr
      const name = `${read.name.replace(readSuffix, '')}${as === 'text' ? '' : `:${as}`}`
      const source = (column as ColumnNode).source
      const made = added.get(source) ?? new Map<string, Read>()
      added.set(source, made.set(name, { ...read, name, json: { ...read.json, as }, type: expr.type }))
      return { ...(column as ColumnNode), name, type: expr.type, span: expr.span }
    },
  })
  if (added.size === 0) return query
  return rewrite(replaced, { source: (source) => (source.kind === 'scan' ? withReads(source, added.get(source.alias)) : source) })
}

/** A conversion of a plain read is itself a typed read. */
const readOfRow: Readonly<Record<string, Partial<Record<JsonRead, JsonRead>> | undefined>> = {
  [propertyRows.numberText.name]: { number: 'text' },
  [propertyRows.unmarked.name]: { value: 'text' },
  [propertyRows.number.name]: { text: 'number' },
  [propertyRows.boolean.name]: { text: 'boolean' },
}
const readOf = ({ name }: CallNode, of: JsonRead): JsonRead | undefined => readOfRow[name]?.[of]

const withReads = (scan: ScanSource, added: ReadonlyMap<string, Read> | undefined): ScanSource => {
  const more = [...(added?.values() ?? [])].filter(({ name }) => scan.reads.every((read) => read.name !== name))
  return more.length ? { ...scan, reads: [...scan.reads, ...more] } : scan
}

/** After a grouping only its keys remain, so conversions of a whole key are applied there. */
function madeOfKeys(select: TypedSelect): ReadonlySet<TypedExpr> {
  const { items, sets } = select.groupBy!
  const keys = [...items, ...sets.flat()]
  const isMade = (expr: TypedExpr): expr is CallNode => expr.kind === 'call' && readOfRow[expr.name] !== undefined
  const whole = new Set<string>()
  const name = ({ source, name: column }: ColumnNode) => JSON.stringify([source, column])
  const seen = new Set<TypedExpr>()
  const look = (expr: TypedExpr): void => {
    if (seen.has(expr) || (isMade(expr) && expr.args[0]!.kind === 'column')) return
    seen.add(expr)
    if (expr.kind === 'column') whole.add(name(expr))
    for (const child of childrenOf(expr)) look(child)
  }
  for (const key of keys) look(key)
  const found = new Set<TypedExpr>()
  const passed = new Set<TypedExpr>()
  const find = (expr: TypedExpr): void => {
    const isAggregate: boolean = isAggregateCall(expr)
    if (passed.has(expr) || isAggregate) return
    passed.add(expr)
    for (const child of childrenOf(expr)) find(child)
    const [arg] = isMade(expr) ? expr.args : []
    if (arg && (found.has(arg) || (arg.kind === 'column' && whole.has(name(arg))))) found.add(expr)
  }
  for (const expr of [...keys, ...shownParts(select)]) find(expr)
  return found
}

/** Reads of each scan with properties, by name; and the selects that group. */
function lookedAt(query: TypedQuery): {
  readonly reads: ReadonlyMap<string, ReadonlyMap<string, Read>>
  readonly selects: readonly TypedSelect[]
} {
  const reads = new Map<string, ReadonlyMap<string, Read>>()
  const selects: TypedSelect[] = []
  walk(query, {
    source: (source) => {
      if (source.kind === 'scan' && source.reads.some(({ json }) => json))
        reads.set(source.alias, new Map(source.reads.map((read) => [read.name, read])))
    },
    query: (one) => {
      if (one.kind === 'select' && one.groupBy) selects.push(one)
    },
  })
  return { reads, selects }
}
