import { type LazyField, tables } from '../catalog/tables.ts'
import { InternalError } from '../errors/errors.ts'
import { builtCall } from '../resolver/calls.ts'
import {
  type ColumnNode,
  emptySelect,
  type Read,
  type ScanSource,
  type TypedExpr,
  type TypedQuery,
  type TypedSource,
} from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import { notNull } from '../types/types.ts'
import type { Pass } from './context.ts'
import { eventNames } from './event-names.ts'
import { propertyReads } from './property-reads.ts'

/**
 * Tables reached through a field are joined, and only when something is read from them. A table that is a query becomes that query.
 * Before: `events e` reading `person.properties.email`. After: `(SELECT … FROM events JOIN persons ON …) e`.
 */
export const lazyJoins: Pass = (query, context) => {
  const fresh = freshAliases(query)
  const viewOf = (scan: ScanSource): TypedSource => {
    const fields = [...new Set(scan.reads.map((read) => read.field))]
    // Rows can be counted without reading anything from them.
    const view = context.view(scan.table, fields.length ? fields : [tables[scan.table]!.isView!])
    return { kind: 'derived', alias: scan.alias, query: lazyJoins(eventNames(propertyReads(view, context), context), context) }
  }
  return rewrite(query, {
    source: (source) => {
      if (source.kind !== 'scan') return source
      if (source.reads.some((read) => read.via.length > 0))
        return { kind: 'derived', alias: source.alias, query: joined(source, fresh, viewOf) }
      return tables[source.table]!.isView ? viewOf(source) : source
    },
  })
}

interface Reached {
  readonly table: string
  readonly alias: string
  readonly reads: Map<string, Read>
}

function joined(scan: ScanSource, fresh: (wanted: string) => string, viewOf: (scan: ScanSource) => TypedSource): TypedQuery {
  const reached = new Map<string, Reached>()
  const at = (via: readonly string[]): Reached => {
    const known = reached.get(via.join('.'))
    if (known) return known
    const table = via.length ? lazyField(at(via.slice(0, -1)).table, via.at(-1)!).table : scan.table
    const made = { table, alias: fresh([scan.alias, ...via].join('_')), reads: new Map<string, Read>() }
    reached.set(via.join('.'), made)
    return made
  }
  const read = (place: Reached, wanted: Read): ColumnNode => {
    const name = wanted.name.slice(wanted.via.reduce((length, step) => length + step.length + 1, 0))
    if (!place.reads.has(name)) place.reads.set(name, { ...wanted, name, via: [] })
    return { kind: 'column', source: place.alias, name, type: wanted.type, span: scan.span }
  }
  // A join finds no nulls, so the sides are compared as they stand and the engine can hash them.
  const key = (place: Reached, field: string): ColumnNode => {
    const found = tables[place.table]!.fields[field]
    if (found?.kind !== 'column') throw new InternalError(`${place.table} cannot be joined by ${field}`)
    return read(place, { name: field, via: [], field, type: notNull(found.type) })
  }

  at([])
  const columns = scan.reads.map((wanted) => ({ name: wanted.name, alias: wanted.name, expr: read(at(wanted.via), wanted) }))
  const joins = [...reached].flatMap(([path, right]) => {
    if (path === '') return []
    const via = path.split('.')
    const left = at(via.slice(0, -1))
    const pairs = lazyField(left.table, via.at(-1)!).on
    const conditions: TypedExpr[] = pairs.map(([here, there]) => builtCall('equals', [key(left, here), key(right, there)], scan.span))
    return [{ right, on: conditions.length === 1 ? conditions[0]! : builtCall('and', conditions, scan.span) }]
  })
  const source = ({ table, alias, reads }: Reached, sample: ScanSource['sample']): TypedSource => {
    const made: ScanSource = { ...scan, table, alias, reads: [...reads.values()], sample }
    return tables[table]!.isView ? viewOf(made) : made
  }
  const from = joins.reduce<TypedSource>(
    (left, { right, on }) => ({ kind: 'join', left, right: source(right, null), type: 'left', strictness: null, on, span: scan.span }),
    source(reached.get('')!, scan.sample),
  )
  return { ...emptySelect, columns, from, span: scan.span }
}

function lazyField(table: string, name: string): LazyField {
  const field = tables[table]!.fields[name]
  if (field?.kind !== 'lazy') throw new InternalError(`${table}.${name} leads to no table`)
  return field
}
