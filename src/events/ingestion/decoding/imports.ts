import { checkOptionNames } from '../../../errors/check-option-names.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { isObject } from '../../../lib/is-object.ts'
import { storableText } from '../../../lib/text/storable-text.ts'
import { groupTypeLimit } from '../persons/groups.ts'
import { type PropertyType, propertyTypes } from '../properties/property-types.ts'
import type { GroupImport, PersonImport, PropertyTypeRow } from '../work.ts'
import { parseTime } from './parse-time.ts'
import { cut, isDeeperThan, readableJson } from './text.ts'
import { nestingLimit } from './write-event.ts'

const idLimit = 200
const groupKeyLimit = 400

const refuse = (message: string, attr: string | null): never => {
  throw new WaymarkError('validation-failed', { message, attr })
}

interface Rows {
  readonly what: string
  readonly call: string
  readonly fields: readonly string[]
  /** Path of the list in the argument. Left out when the argument is the list. */
  readonly path?: readonly string[]
}

const listOf = (rows: unknown, { what, call, fields, path = [] }: Rows): Record<string, unknown>[] => {
  if (!Array.isArray(rows)) return refuse(`${what} must be an array.`, path[0] ?? null)
  return rows.map((row, i) => {
    if (!isObject(row)) return refuse(`${what} ${i} must be an object.`, [...path, i].join('__'))
    checkOptionNames(row, fields, call, [...path, i])
    return row
  })
}

const personRows: Rows = { what: 'Persons', call: 'importPersons', fields: ['distinct_ids', 'properties', 'created_at', 'is_identified'] }
const groupRows: Rows = {
  what: 'Groups',
  call: 'importGroups',
  fields: ['group_type', 'group_type_index', 'group_key', 'properties', 'created_at'],
}
const groupTypeRows: Rows = {
  what: 'group_types',
  call: 'group_types',
  fields: ['group_type', 'group_type_index'],
  path: ['group_types'],
}
const typeRows: Rows = {
  what: 'Property types',
  call: 'definePropertyTypes',
  fields: ['type', 'name', 'property_type', 'group_type_index'],
}

const jsonOf = (value: object, attr: string): string => {
  try {
    return readableJson(value)
  } catch (cause) {
    throw new WaymarkError('validation-failed', { message: 'properties have values that JSON cannot represent.', attr }, { cause })
  }
}

/** Properties of a person or group as they can be stored. */
export const propertiesOf = (value: unknown, attr: string): Record<string, unknown> => {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) return refuse('properties must be an object.', attr)
  const text = jsonOf(value, attr)
  if (isDeeperThan(nestingLimit, text)) return refuse(`properties are nested more than ${nestingLimit} levels deep.`, attr)
  return JSON.parse(text) as Record<string, unknown>
}

const timeOf = (value: unknown, now: number, attr: string): number =>
  value === undefined || value === null ? now : (parseTime(value) ?? refuse('created_at is not a time.', attr))

const textOf = (value: unknown, limit: number, attr: string): string => {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' ? cut(storableText(text), limit) : refuse(`${attr} must be a non-empty string.`, attr)
}

/** `now` in microseconds, for rows without a time of creation. */
export function readPersons(rows: unknown, now: number): PersonImport[] {
  return listOf(rows, personRows).map((row, i) => {
    const ids = row.distinct_ids
    if (!Array.isArray(ids) || ids.length === 0) return refuse('A person needs at least one distinct id.', `${i}__distinct_ids`)
    return {
      distinct_ids: [...new Set(ids.map((id) => textOf(id, idLimit, `${i}__distinct_ids`)))],
      properties: propertiesOf(row.properties, `${i}__properties`),
      created_at: timeOf(row.created_at, now, `${i}__created_at`),
      is_identified: row.is_identified === true,
    }
  })
}

const indexOf = (value: unknown, attr: string): number | null => {
  if (value === undefined || value === null) return null
  const isIndex = Number.isInteger(value) && (value as number) >= 0 && (value as number) < groupTypeLimit
  return isIndex ? (value as number) : refuse(`group_type_index must be a whole number from 0 to ${groupTypeLimit - 1}.`, attr)
}

export function readGroups(rows: unknown, types: unknown, now: number): GroupImport[] {
  const fixed = types === undefined || types === null ? [] : listOf(types, groupTypeRows)
  return [
    ...fixed.map(
      (row, i): GroupImport => ({
        group_type: textOf(row.group_type, groupKeyLimit, `group_types__${i}__group_type`),
        group_type_index: indexOf(row.group_type_index, `group_types__${i}__group_type_index`),
        group_key: null,
        properties: {},
        created_at: now,
      }),
    ),
    ...listOf(rows, groupRows).map(
      (row, i): GroupImport => ({
        group_type: textOf(row.group_type, groupKeyLimit, `${i}__group_type`),
        group_type_index: indexOf(row.group_type_index, `${i}__group_type_index`),
        group_key: textOf(row.group_key, groupKeyLimit, `${i}__group_key`),
        properties: propertiesOf(row.properties, `${i}__properties`),
        created_at: timeOf(row.created_at, now, `${i}__created_at`),
      }),
    ),
  ]
}

export function readPropertyTypes(rows: unknown): PropertyTypeRow[] {
  return listOf(rows, typeRows).map((row, i) => {
    const type = row.type ?? 'event'
    const index = type === 'group' ? indexOf(row.group_type_index, `${i}__group_type_index`) : null
    const scope = type === 'group' && index !== null ? `group_${index}` : type === 'event' || type === 'person' ? type : null
    if (scope === null) return refuse('type must be event, person, or group with its group_type_index.', `${i}__type`)
    if (!propertyTypes.includes(row.property_type as PropertyType))
      return refuse(`property_type must be one of ${propertyTypes.join(', ')}.`, `${i}__property_type`)
    return { scope, name: textOf(row.name, 10_000, `${i}__name`), property_type: row.property_type as PropertyType }
  })
}
