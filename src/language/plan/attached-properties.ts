import { InternalError, QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import type { AttachedProperty } from '../catalog/attached.ts'
import { type CatalogTable, tables } from '../catalog/tables.ts'
import { builtCall } from '../resolver/calls.ts'
import {
  type AttachedSource,
  type ColumnNode,
  emptySelect,
  type Read,
  type ScanSource,
  type TypedColumn,
  type TypedSource,
} from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import { nullable, type SqlType, scalar } from '../types/types.ts'
import type { Pass, PlanContext } from './context.ts'

/** The columns of a lookup. */
export const attachedKey = '@key'
export const attachedDocument = '@document'
export const attachedLookup = [
  { name: attachedKey, type: scalar('String', true) },
  { name: attachedDocument, type: scalar('JSON', true) },
] as const

/**
 * Properties that are columns of an attached table are joined to the scan that reads them: one row of the table at most for each of its rows.
 * Before: `events e` reading `group_0.properties['billing.plans.plan']`. After: `(SELECT … FROM events LEFT JOIN billing.plans ON key = $group_0) e`.
 */
export const attachedProperties: Pass = (query, { attached }) => {
  if (!attached) return query
  const fresh = freshAliases(query)
  return rewrite(query, { source: (source) => (source.kind === 'scan' ? withAttached(source, attached, fresh) : source) })
}

type Find = NonNullable<PlanContext['attached']>
interface Wanted {
  readonly read: Read
  readonly found: AttachedProperty
}

function withAttached(scan: ScanSource, find: Find, fresh: (wanted: string) => string): TypedSource {
  const wanted = scan.reads.flatMap((read): Wanted[] => {
    const found = propertyBehind(scan, read, find)
    return found ? [{ read, found }] : []
  })
  if (wanted.length === 0) return scan
  const { span } = scan
  const read = new Set(wanted.map((one) => one.read))
  const reads = scan.reads.filter((one) => !read.has(one))
  const alias = fresh(scan.alias)
  const column = (source: string, name: string, type: SqlType): ColumnNode => ({ kind: 'column', source, name, type, span })
  const columns: TypedColumn[] = reads.map(({ name, type }) => ({ name, alias: name, expr: column(alias, name, type) }))
  let from = (): TypedSource => ({ ...scan, alias, reads })
  for (const group of byTable(wanted)) {
    const [{ read: first, found }] = group as [Wanted, ...Wanted[]]
    const key = keyRead(scan.table, first, found, reads)
    const lookup: AttachedSource = {
      kind: 'attached',
      alias: fresh('attached'),
      table: found.table,
      lookup: { key: found.by.key, columns: group.map((one) => one.found.column.name) },
      span,
    }
    const on = builtCall('equals', [column(alias, key.name, scalar('String')), column(lookup.alias, attachedKey, scalar('String'))], span)
    const left = from
    from = () => ({ kind: 'join', left: left(), right: lookup, type: 'left', strictness: null, on, span })
    const document = column(lookup.alias, attachedDocument, attachedLookup[1].type)
    for (const one of group) {
      const { name, json, type } = one.read
      const expr = { kind: 'json', expr: document, path: [one.found.column.name], as: json!.as, type, span } as const
      columns.push({ name, alias: name, expr })
    }
  }
  return { kind: 'derived', alias: scan.alias, query: { ...emptySelect, columns, from: from(), span } }
}

function propertyBehind({ table, span }: ScanSource, { via, field, json }: Read, find: Find): AttachedProperty | null {
  const [name, ...deeper] = json?.path ?? []
  if (typeof name !== 'string' || deeper.length > 0) return null
  const owner = tableAt(table, via).fields[field]
  const scope = owner?.kind === 'column' ? owner.properties : undefined
  const found = scope ? find(scope, name) : null
  if (found) mustBeReadable(found, span)
  return found
}

/** Why the property of an attached table has no value, as an error. */
function mustBeReadable({ table, by }: AttachedProperty, span: Span): void {
  const { name, problem } = table
  if (problem !== undefined) throw new QueryError('attached-unreadable', { name, reason: problem }, span)
  const value = table.ambiguous?.[by.key]
  if (value !== undefined) throw new QueryError('attached-ambiguous', { name, key: by.key, value }, span)
}

function tableAt(name: string, via: readonly string[]): CatalogTable {
  const table = tables[name]!
  const [step, ...rest] = via
  if (step === undefined) return table
  const field = table.fields[step]
  if (field?.kind !== 'lazy') throw new InternalError(`${name}.${step} leads to no table`)
  return tableAt(field.table, rest)
}

/** Those that one lookup answers. */
function byTable(wanted: readonly Wanted[]): Iterable<readonly Wanted[]> {
  const groups = new Map<string, Wanted[]>()
  for (const one of wanted) {
    const key = JSON.stringify([one.read.via, one.found.by])
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return groups.values()
}

/** The value that is looked up. Groups are looked up by the key in the event: they need no properties of their own. */
function keyRead(table: string, { via }: Read, { by }: AttachedProperty, reads: Read[]): Read {
  const isPerson = by.person !== undefined
  const [before, last] = [via.slice(0, -1), via.at(-1)]
  const link = isPerson || last === undefined ? null : tableAt(table, before).fields[last]!
  const at = link ? before : via
  const field = isPerson ? 'properties' : link?.kind === 'lazy' ? link.on[0]![0] : 'key'
  const json = isPerson ? ({ path: [by.person!], as: 'text' } as const) : undefined
  const known = reads.find((one) => JSON.stringify([one.via, one.field, one.json]) === JSON.stringify([at, field, json]))
  if (known) return known
  const name = [...at, `${field}${json ? `.${by.person}` : ''} (key)`].join('.')
  const made: Read = { name, via: at, field, ...(json && { json }), type: nullable(scalar('String')) }
  reads.push(made)
  return made
}
