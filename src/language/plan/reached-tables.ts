import { InternalError } from '../../errors/errors.ts'
import { type LazyField, tables } from '../catalog/tables.ts'
import type { Read, ScanSource } from '../resolver/typed.ts'
import { notNull } from '../types/types.ts'

/** A table that a scan reads from: its own, or one reached through a field. */
export interface ReachedTable {
  /** The fields that lead to it: `['pdi', 'person']`. */
  readonly via: readonly string[]
  readonly table: string
  /** The columns read from it, named as in the table, including join keys. */
  readonly reads: ReadonlyMap<string, Read>
  /** Pairs of equal columns: one of the previous table, one of this table. */
  readonly on: readonly (readonly [before: Read, own: Read])[]
}

export const pathOf = (via: readonly string[]): string => via.join('.')

/** Keyed by path; each table comes after the one that leads to it. */
export function reachedTables(scan: ScanSource): ReadonlyMap<string, ReachedTable> {
  const reached = new Map<string, Reached>()
  const at = (via: readonly string[]): Reached => {
    const known = reached.get(pathOf(via))
    if (known) return known
    const field = via.length > 0 ? lazyField(at(via.slice(0, -1)).table, via.at(-1)!) : null
    const made = { via, table: field?.table ?? scan.table, reads: new Map<string, Read>(), on: [] }
    reached.set(pathOf(via), made)
    return made
  }
  at([])
  for (const wanted of scan.reads) read(at(wanted.via), ownRead(wanted))
  for (const own of reached.values()) {
    if (own.via.length === 0) continue
    const before = at(own.via.slice(0, -1))
    const { on } = lazyField(before.table, own.via.at(-1)!)
    own.on = on.map(([here, there]) => [read(before, key(before.table, here)), read(own, key(own.table, there))])
  }
  return reached
}

interface Reached extends ReachedTable {
  readonly reads: Map<string, Read>
  on: ReachedTable['on']
}

/** A read, with the column name of the table that holds it. */
export const ownRead = (wanted: Read): Read => ({
  ...wanted,
  name: wanted.name.slice(wanted.via.reduce((length, step) => length + step.length + 1, 0)),
  via: [],
})

const read = ({ reads }: Reached, wanted: Read): Read => {
  if (!reads.has(wanted.name)) reads.set(wanted.name, wanted)
  return wanted
}

/** A join never matches nulls, so keys are compared without null handling and the engine can hash them. */
function key(table: string, field: string): Read {
  const found = tables[table]!.fields[field]
  if (found?.kind !== 'column') throw new InternalError(`${table} cannot be joined by ${field}`)
  return { name: field, via: [], field, type: notNull(found.type) }
}

function lazyField(table: string, name: string): LazyField {
  const field = tables[table]!.fields[name]
  if (field?.kind !== 'lazy') throw new InternalError(`${table}.${name} leads to no table`)
  return field
}
