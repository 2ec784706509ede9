import * as z from 'zod'
import { printPart } from '../../../language/ast/words.ts'
import { type CatalogField, tables } from '../../../language/catalog/tables.ts'
import { isNamed, isNumeric, isTime, type SqlType } from '../../../language/types/types.ts'
import { fields } from '../../fields.ts'
import type { QueryKind } from '../../kind.ts'
import { everyQuery } from '../../schemas.ts'
import { viewColumns } from '../../view-columns.ts'

/** A field of a table, as editors of the reference system show it. */
export interface DatabaseSchemaField {
  readonly name: string
  /** As it is written in a statement. */
  readonly hogql_value: string
  readonly type:
    | 'string'
    | 'integer'
    | 'float'
    | 'datetime'
    | 'date'
    | 'boolean'
    | 'array'
    | 'json'
    | 'lazy_table'
    | 'field_traverser'
    | 'unknown'
  readonly schema_valid: true
  /** Of another table that can be reached through it. */
  readonly table?: string
  readonly fields?: readonly string[]
  /** The longer chain that it stands for. */
  readonly chain?: readonly string[]
}
export interface DatabaseSchemaTable {
  readonly id: string
  readonly name: string
  /** `attached`: a table beside the events. */
  readonly type: 'posthog' | 'view' | 'attached'
  readonly fields: Readonly<Record<string, DatabaseSchemaField>>
}
export interface DatabaseSchemaAnswer {
  readonly tables: Readonly<Record<string, DatabaseSchemaTable>>
  /** How tables are reached from others. */
  readonly joins: readonly {
    readonly source_table_name: string
    readonly field_name: string
    readonly joining_table_name: string
    readonly on: readonly (readonly [here: string, there: string])[]
  }[]
}

const databaseSchemaSchema = fields({ ...everyQuery, kind: z.literal('DatabaseSchemaQuery'), connectionId: z.null().optional() }, 'query')

/** Names that begin with @ are not for statements; the tables they belong to have another name there. */
const isWritable = (name: string) => !name.startsWith('@')
const writable = (table: string): string => (table === '@people' ? 'persons' : table.startsWith('@group_') ? 'groups' : table)
const named = Object.entries(tables).filter(([name, { internal }]) => !internal && isWritable(name))
const namesOf = (table: string): string[] => Object.keys(tables[table]!.fields).filter(isWritable)

export const databaseSchema: QueryKind<'DatabaseSchemaQuery', typeof databaseSchemaSchema, DatabaseSchemaAnswer> = {
  kind: 'DatabaseSchemaQuery',
  schema: databaseSchemaSchema,
  *run(_, env) {
    const others = (names: readonly string[], type: 'view' | 'attached') =>
      names.map((name): [string, DatabaseSchemaTable] => {
        const columns = viewColumns(name, env) ?? []
        return [name, { id: name, name, type, fields: Object.fromEntries(columns.map((column) => [column.name, viewField(column)])) }]
      })
    return {
      tables: Object.fromEntries([
        ...named.map(([name, { fields: all }]) => {
          const shown = Object.entries(all).filter(([field]) => isWritable(field))
          return [
            name,
            {
              id: name,
              name,
              type: 'posthog' as const,
              fields: Object.fromEntries(shown.map(([field, what]) => [field, fieldOf(field, what)])),
            },
          ] as const
        }),
        ...others(env.viewNames ?? [], 'view'),
        ...others(Object.keys(env.project.attached?.tables ?? {}).sort(), 'attached'),
      ]),
      joins: named.flatMap(([name, { fields: all }]) =>
        Object.entries(all).flatMap(([field, what]) =>
          what.kind === 'lazy' && isWritable(field)
            ? [
                {
                  source_table_name: name,
                  field_name: field,
                  joining_table_name: writable(what.table),
                  on: what.on.filter((pair) => pair.every(isWritable)),
                },
              ]
            : [],
        ),
      ),
    }
  },
}

const viewField = ({ name, type }: { readonly name: string; readonly type: SqlType }): DatabaseSchemaField => ({
  name,
  hogql_value: printPart(name),
  schema_valid: true,
  type: typeOf(type),
})

function fieldOf(name: string, field: CatalogField): DatabaseSchemaField {
  const common = { name, hogql_value: printPart(name), schema_valid: true } as const
  switch (field.kind) {
    case 'lazy':
      return { ...common, type: 'lazy_table', table: writable(field.table), fields: namesOf(field.table) }
    case 'chain':
      return { ...common, type: 'field_traverser', chain: field.chain }
    case 'column':
      return { ...common, type: typeOf(field.type) }
  }
}

function typeOf(type: SqlType): DatabaseSchemaField['type'] {
  if (type.kind === 'array') return 'array'
  if (type.kind !== 'scalar') return 'unknown'
  if (isNamed(type, 'JSON')) return 'json'
  if (isNamed(type, 'Bool')) return 'boolean'
  if (isNamed(type, 'Date')) return 'date'
  if (isTime(type)) return 'datetime'
  if (isNamed(type, 'Float64') || isNamed(type, 'Float32')) return 'float'
  return isNumeric(type) ? 'integer' : 'string'
}
