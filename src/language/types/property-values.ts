import type { NumberKind, PropertyInfo } from './property-info.ts'
import { isNamed, isNumeric, isTime, nullable, type ScalarType, type SqlType, scalar } from './types.ts'

// Each value of a property without a declared type keeps its own type. The type `Property` says how an engine represents such values, and where they
// come from, so that each context (text, number, time, boolean) can convert them.

export interface PropertyType extends ScalarType {
  readonly name: 'Property'
  readonly property: PropertyInfo
}

export const propertyOf = (property: PropertyInfo): PropertyType => ({ kind: 'scalar', name: 'Property', nullable: true, property })
export const isProperty = (type: SqlType): type is PropertyType => isNamed(type, 'Property')

/** Regular expressions for whole texts that all engines and JavaScript interpret alike. */
export const numberText = '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?'
const day = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const clock = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?'
export const timeText = `${day}([T ]${clock}(Z|[+-][0-2][0-9]:?[0-5][0-9])?)?`

/** The common form of two columns. */
export function jointProperty(a: PropertyInfo, b: PropertyInfo): PropertyInfo {
  const of = [...a.of, ...b.of.filter(({ scope, name }) => a.of.every((known) => known.scope !== scope || known.name !== name))]
  return { numbers: jointNumbers(a.numbers, b.numbers), of, ...(a.isOwn && b.isOwn ? { isOwn: true } : {}) }
}

function jointNumbers(a: NumberKind, b: NumberKind): NumberKind {
  if (a === b) return a
  return a === 'none' || b === 'none' ? 'marked' : a === 'marked' || b === 'marked' ? 'marked' : 'by-text'
}

export type ReadAs = 'text' | 'number' | 'time' | 'boolean'

export const readTypes: Readonly<Record<ReadAs, SqlType>> = {
  text: scalar('String', true),
  number: scalar('Float64', true),
  time: { kind: 'scalar', name: 'DateTime64', nullable: true, parameters: [6] },
  boolean: scalar('Bool', true),
}

/** How a property is read next to a value of this type. */
export function readBeside(type: SqlType): ReadAs {
  if (isNamed(type, 'Bool')) return 'boolean'
  if (isNumeric(type)) return 'number'
  return isTime(type) ? 'time' : 'text'
}

/** The common type of a property and another value. */
export function unifyProperty(a: PropertyType, b: SqlType): SqlType | null {
  if (isProperty(b)) return propertyOf(jointProperty(a.property, b.property))
  return isNamed(b, 'Nothing') ? nullable(a) : null
}
