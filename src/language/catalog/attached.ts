import { isNamed, isNumeric, isTime, type SqlType } from '../types/types.ts'
import type { PropertyScope } from './tables.ts'

// Tables that the operator attaches beside the events. Statements read them by two names: `billing.plans`.

export interface AttachedColumn {
  readonly name: string
  readonly type: SqlType
  /** The type in the file, as the engine calls it. */
  readonly stored: string
}

export interface AttachedTable {
  readonly name: string
  readonly format: 'parquet' | 'csv' | 'json'
  /** Absolute paths. */
  readonly files: readonly string[]
  readonly columns: readonly AttachedColumn[]
  /** From when its rows are. */
  readonly asOf: string
  /** Changes whenever its rows may have changed. */
  readonly version: string
  /** Why its copy is older than it should be. */
  readonly overdue?: string
  /** Why it cannot be read. */
  readonly problem?: string
  /** Why its rows cannot be properties: of each key column that is not unique. */
  readonly ambiguous?: Readonly<Record<string, string>>
}

/** The columns of a table are properties of groups or persons: `billing.plans.plan`. */
export interface AttachedProperties {
  readonly table: string
  /** The column that names the group, or that equals a property of the person. */
  readonly key: string
  /** A type of groups. */
  readonly group?: string
  /** A property of persons. */
  readonly person?: string
}

/** What a project may read. */
export interface Attached {
  readonly tables: Readonly<Record<string, AttachedTable>>
  /** Why tables with this first name are not there. */
  readonly unavailable: Readonly<Record<string, string>>
  readonly properties: readonly AttachedProperties[]
  /** Changes whenever an answer may. */
  readonly version: string
}

/** A property that is a column of an attached table. */
export interface AttachedProperty {
  readonly table: AttachedTable
  readonly column: AttachedColumn
  readonly by: AttachedProperties
}

type GroupTypes = readonly { readonly index: number; readonly name: string }[]

const ownerOf = ({ group, person }: AttachedProperties, groupTypes: GroupTypes): PropertyScope | null => {
  if (person !== undefined) return 'person'
  const index = groupTypes.find(({ name }) => name === group)?.index
  return index === undefined ? null : `group_${index}`
}

/** The attached column behind the property of a group or a person. */
export function attachedProperty(
  attached: Attached | undefined,
  groupTypes: GroupTypes,
  scope: PropertyScope,
  name: string,
): AttachedProperty | null {
  for (const by of attached?.properties ?? []) {
    if (!name.startsWith(`${by.table}.`) || ownerOf(by, groupTypes) !== scope) continue
    const table = attached!.tables[by.table]
    const column = table?.columns.find((one) => one.name === name.slice(by.table.length + 1))
    if (table && column) return { table, column, by }
  }
  return null
}

/** Names of these properties, by their owners. */
export function attachedPropertyNames(attached: Attached | undefined, groupTypes: GroupTypes, scope: string): readonly string[] {
  return (attached?.properties ?? []).flatMap((by) =>
    ownerOf(by, groupTypes) === scope
      ? (attached!.tables[by.table]?.columns ?? []).filter(({ name }) => name !== by.key).map(({ name }) => `${by.table}.${name}`)
      : [],
  )
}

/** As which type such a property is read. */
export const attachedType = ({ type }: AttachedColumn): 'Numeric' | 'Boolean' | 'DateTime' | 'String' =>
  isNamed(type, 'Bool') ? 'Boolean' : isNumeric(type) ? 'Numeric' : isTime(type) ? 'DateTime' : 'String'
