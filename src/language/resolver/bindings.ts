import { QueryError } from '../../errors/errors.ts'
import { isSpanned, type Span } from '../../errors/span.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { uniqueNames } from '../../lib/text/unique-names.ts'
import { type CatalogField, tables } from '../catalog/tables.ts'
import { readTypes } from '../types/property-values.ts'
import { nullable, type SqlType } from '../types/types.ts'
import type { ResolveContext } from './context.ts'
import { likelyNames } from './likely-names.ts'
import type { ColumnNode, JsonRead, OutputColumn, Read, ScanSource, TypedSource } from './typed.ts'

// A binding is a source of FROM while its statement is being resolved: its name, and the columns that can be read from it.

export interface Binding {
  /** Its name in the statement; null for a subquery without an alias. */
  readonly name: string | null
  /** Its alias in the generated SQL. */
  readonly alias: string
  has: (name: string) => boolean
  /** Is it a project-specific name of another table? Any other meaning of the name has priority. */
  leadsToTable?: (name: string) => boolean
  /** Names for suggestions. */
  names(): Iterable<string>
  /** Likely alternatives for an unknown name. */
  likelyNames(name: string): readonly string[]
  /** Resolves a chain of names, and says how many of its parts were used. */
  follow: (chain: readonly string[], span: Span) => { readonly expr: ColumnNode; readonly used: number }
  /** The columns of `*`. */
  star: () => readonly { readonly name: string; readonly expr: ColumnNode }[]
  /** The source with all reads that were collected. */
  source(): TypedSource
}

const columnNode = (source: string, name: string, type: SqlType, span: Span): ColumnNode => ({ kind: 'column', source, name, type, span })

export interface ScanBinding extends Binding {
  readonly table: string
  /** Reads a value inside the JSON field of `column`. */
  readJson(column: ColumnNode, path: readonly (string | number)[], as: JsonRead, type: SqlType): ColumnNode
  /** The field behind a column of this scan. */
  fieldOf(column: ColumnNode): CatalogField | undefined
  sample: ScanSource['sample']
  /** True if an outer join may add rows without this side. */
  isOptional: boolean
}

const nameable = (fields: object): string[] => Object.keys(fields).filter((field) => !field.startsWith('@'))
const steps = (via: readonly string[], field: string) => [...via, field].join('.')
/** A read as `value` is stored as text. */
export const jsonType = (as: JsonRead): SqlType => readTypes[as === 'value' ? 'text' : as]

/** Project-specific names for fields of a table. */
export type OwnNames = ReadonlyMap<string, string>

interface ScanNames {
  readonly ownNames: OwnNames
  readonly context: ResolveContext
}

export function scanBinding(table: string, name: string | null, alias: string, span: Span, { ownNames, context }: ScanNames): ScanBinding {
  /** Reads by requested name, and by the unique name that was assigned. */
  const reads = new Map<string, Read>()
  const byName = new Map<string, Read>()
  const fields = new Map<string, CatalogField>()
  const own = tables[table]!.fields
  const optional = (type: SqlType): SqlType => (binding.isOptional ? nullable(type) : type)
  // DuckDB ignores the case of names, but the case of property names matters.
  const unique = uniqueNames((name, n) => `${name} (${n})`)
  const add = (read: Read, field: CatalogField) => {
    const known = reads.get(read.name)
    if (known) return known
    const made = { ...read, name: unique(read.name) }
    reads.set(read.name, made)
    byName.set(made.name, made)
    fields.set(made.name, field)
    return made
  }

  const binding: ScanBinding = {
    table,
    name,
    alias,
    sample: null,
    isOptional: false,
    has: (field) => Object.hasOwn(own, field),
    leadsToTable: (field) => ownNames.has(field) && !Object.hasOwn(own, field),
    names: () => [...nameable(own), ...ownNames.keys()],
    likelyNames: (wanted) => likelyNames(wanted, own, ownNames.keys(), context, ''),
    follow(chain, at) {
      let fieldsHere = own
      let tableHere = table
      const via: string[] = []
      let rest = chain
      let used = 0
      for (;;) {
        const [head, ...tail] = rest
        if (head === undefined) throw new QueryError('table-as-column', { name: chain.join('.') }, at)
        const isNameable = !head.startsWith('@') || !isSpanned(at)
        const field = isNameable && Object.hasOwn(fieldsHere, head) ? fieldsHere[head] : undefined
        const meant = field || fieldsHere !== own ? undefined : ownNames.get(head)
        if (meant !== undefined) {
          rest = [meant, ...tail]
          continue
        }
        if (!field)
          throw new QueryError(
            'unknown-field',
            {
              name: chain.slice(0, used + 1).join('.'),
              table: tableHere,
              candidates: likelyNames(
                head,
                fieldsHere,
                fieldsHere === own ? ownNames.keys() : [],
                context,
                used === 0 ? '' : `${chain.slice(0, used).join('.')}.`,
              ),
            },
            at,
          )
        if (field.kind === 'chain') {
          rest = [...field.chain, ...tail]
          // The expanded chain replaces one part of the written one.
          used -= field.chain.length - 1
          continue
        }
        used++
        if (field.kind === 'lazy') {
          via.push(head)
          tableHere = field.table
          fieldsHere = tables[field.table]!.fields
          rest = tail
          continue
        }
        const type = via.length && !(field.total && via.length === 1) ? nullable(field.type) : optional(field.type)
        const read = add({ name: steps(via, head), via, field: head, type }, field)
        return { expr: columnNode(alias, read.name, type, at), used }
      }
    },
    star: () =>
      Object.entries(own).flatMap(([field, { kind, ...more }]) =>
        kind === 'column' && !field.startsWith('@') && !('hidden' in more)
          ? [{ name: field, expr: binding.follow([field], span).expr }]
          : [],
      ),
    readJson(column, path, as, type) {
      const whole = byName.get(column.name)!
      const wanted = {
        ...whole,
        name: `${whole.name.replace(readSuffix, '')}.${path.map(escapeStep).join('.')}${as === 'text' ? '' : `:${as}`}`,
        json: { path: [...(whole.json?.path ?? []), ...path], as },
        type,
      }
      const read = add(wanted, fields.get(column.name)!)
      return columnNode(alias, read.name, type, column.span)
    },
    fieldOf: (column) => fields.get(column.name),
    source: () => ({
      kind: 'scan',
      alias,
      table,
      reads: [...reads.values()],
      sample: binding.sample,
      project: null,
      withMerges: false,
      span,
    }),
  }
  return binding
}

/** The suffix behind the path in the name of a read inside JSON. */
export const readSuffix = /(?<!\\):(value|number|boolean)$/

/** Distinguishes the key `a.b` from the path `a`, `b`. */
const escapeStep = (step: string | number) => (typeof step === 'number' ? `[${step}]` : step.replace(/[.[\\:]/g, '\\$&'))

/** A source with a fixed list of columns: a subquery, a CTE, rows, a table function. */
export function columnsBinding(
  name: string | null,
  alias: string,
  columns: readonly OutputColumn[],
  source: () => TypedSource,
  span: Span,
): Binding {
  const node = (column: OutputColumn, at: Span) => columnNode(alias, column.alias, column.type, at)
  const byName = new Map<string, OutputColumn>()
  for (const column of columns) if (!byName.has(column.name)) byName.set(column.name, column)
  const find = (wanted: string) => byName.get(wanted)
  return {
    name,
    alias,
    has: (wanted) => find(wanted) !== undefined,
    names: () => columns.map((column) => column.name),
    likelyNames: (wanted) =>
      nearestSpellings(
        wanted,
        columns.map((column) => column.name),
      ),
    follow(chain, at) {
      const column = find(chain[0]!)
      if (!column)
        throw new QueryError(
          'unknown-field',
          {
            name: name === null ? chain[0]! : `${name}.${chain[0]}`,
            candidates: nearestSpellings(
              chain[0]!,
              columns.map((c) => c.name),
            ),
          },
          at,
        )
      return { expr: node(column, at), used: 1 }
    },
    star: () => columns.map((column) => ({ name: column.name, expr: node(column, span) })),
    source,
  }
}
