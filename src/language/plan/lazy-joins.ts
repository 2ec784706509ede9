import { InternalError } from '../../errors/errors.ts'
import { tables } from '../catalog/tables.ts'
import { builtCall } from '../resolver/calls.ts'
import { type ColumnNode, emptySelect, type Read, type ScanSource, type TypedQuery, type TypedSource } from '../resolver/typed.ts'
import { freshAliases, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'
import { ownRead, pathOf, type ReachedTable, reachedTables } from './reached-tables.ts'

/**
 * Tables reached through a field are joined only if something reads from them. A table that is a query is replaced by that query.
 * Before: `events e` reading `person.properties.email`. After: `(SELECT … FROM events JOIN persons ON …) e`.
 */
export const lazyJoins: Pass = (query) => {
  const fresh = freshAliases(query)
  return rewrite(query, {
    source: (source) => {
      if (source.kind !== 'scan') return source
      if (source.reads.some((read) => read.via.length > 0)) return { kind: 'derived', alias: source.alias, query: joined(source, fresh) }
      return tableOf(source, '')
    },
  })
}

/** A scan, or the query behind the table. */
function tableOf({ views, ...scan }: ScanSource, path: string): TypedSource {
  if (!tables[scan.table]!.isView) return scan
  const view = views?.find((one) => one.path === path)
  if (!view) throw new InternalError(`${scan.table} has not passed the views`)
  return { kind: 'derived', alias: scan.alias, query: view.query }
}

function joined(scan: ScanSource, fresh: (wanted: string) => string): TypedQuery {
  const reached = reachedTables(scan)
  const aliases = new Map([...reached].map(([path, { via }]) => [path, fresh([scan.alias, ...via].join('_'))]))
  const column = (via: readonly string[], { name, type }: Read): ColumnNode => ({
    kind: 'column',
    source: aliases.get(pathOf(via))!,
    name,
    type,
    span: scan.span,
  })
  const columns = scan.reads.map((wanted) => ({ name: wanted.name, alias: wanted.name, expr: column(wanted.via, ownRead(wanted)) }))
  const source = ({ via, table, reads }: ReachedTable): TypedSource => {
    const sample = via.length === 0 ? scan.sample : null
    return tableOf({ ...scan, table, alias: aliases.get(pathOf(via))!, reads: [...reads.values()], sample }, pathOf(via))
  }
  const from = [...reached.values()].reduce<TypedSource | null>((left, right) => {
    if (!left) return source(right)
    const conditions = right.on.map(([before, own]) =>
      builtCall('equals', [column(right.via.slice(0, -1), before), column(right.via, own)], scan.span),
    )
    const on = conditions.length === 1 ? conditions[0]! : builtCall('and', conditions, scan.span)
    return { kind: 'join', left, right: source(right), type: 'left', strictness: null, on, span: scan.span }
  }, null)
  return { ...emptySelect, columns, from, span: scan.span }
}
