import { isProperty, readBeside, readTypes, unifyProperty } from './property-values.ts'
import {
  arrayOf,
  isInteger,
  isNamed,
  isNullable,
  isNumeric,
  isTime,
  nullable,
  type ScalarType,
  type SqlType,
  scalar,
  tupleOf,
  typeName,
  unknownType,
} from './types.ts'

const width = (name: string) => (name === 'Bool' ? 8 : Number(/^\D*(\d+)$/.exec(name)?.[1] ?? 64))
const isSigned = (name: string) => name.startsWith('Int')

/** The narrowest integer type that holds both. */
function widerInteger(a: string, b: string): SqlType {
  if (a === 'Bool' && b === 'Bool') return scalar('Bool')
  const signed = isSigned(a) || isSigned(b)
  const need = Math.max(...[a, b].map((name) => (signed && !isSigned(name) ? width(name) * 2 : width(name))))
  return scalar(`${signed ? 'Int' : 'UInt'}${Math.min(need, 256)}` as 'Int64')
}

/** Whether one type can hold both: not a text and a number, nor an array and a single value. */
export function areOfOneType(a: SqlType, b: SqlType): boolean {
  if (a.kind === 'array' && b.kind === 'array') return areOfOneType(a.item, b.item)
  if (a.kind === 'map' && b.kind === 'map') return areOfOneType(a.key, b.key) && areOfOneType(a.value, b.value)
  if (a.kind === 'tuple' && b.kind === 'tuple')
    return a.items.length === b.items.length && a.items.every((item, i) => areOfOneType(item, b.items[i]!))
  const isOpen = (type: SqlType) => type.kind === 'unknown' || isNamed(type, 'Nothing')
  return isOpen(a) || isOpen(b) || (a.kind === b.kind && familyOf(a) === familyOf(b))
}
/** Addresses and JSON are texts. */
const familyOf = (type: SqlType): string =>
  isNumeric(type) ? 'number' : isTime(type) ? 'time' : isNamed(type, 'UUID', 'Interval') ? typeName(type) : 'text'

/** Regardless of NULL. */
function unifyScalars(a: ScalarType, b: ScalarType): SqlType {
  const withoutNull = (type: ScalarType): ScalarType => ({ ...type, nullable: false })
  if (a.name === 'Decimal' && b.name === 'Decimal')
    return { ...withoutNull(a), parameters: [0, 1].map((i) => Math.max(a.parameters?.[i] ?? 0, b.parameters?.[i] ?? 0)) }
  if (a.name === b.name) return withoutNull(a)
  if (a.name === 'Decimal' && isInteger(b)) return withoutNull(a)
  if (b.name === 'Decimal' && isInteger(a)) return withoutNull(b)
  if (isInteger(a) && isInteger(b)) return widerInteger(a.name, b.name)
  if (isNumeric(a) && isNumeric(b)) return scalar('Float64')
  if (isNumeric(a) || isNumeric(b)) return unknownType
  if (isTime(a) && isTime(b)) return { kind: 'scalar', name: 'DateTime64', nullable: false, parameters: [6] }
  return scalar('String')
}

/** The common type of two values: branches of a conditional, sides of a union, items of an array. */
export function unify(a: SqlType, b: SqlType): SqlType {
  if (isProperty(a)) return unifyProperty(a, b) ?? unify(readTypes[readBeside(b)], b)
  if (isProperty(b)) return unifyProperty(b, a) ?? unify(a, readTypes[readBeside(a)])
  if (typeName(a) === typeName(b)) return a
  if (a.kind === 'scalar' && b.kind === 'scalar') {
    // An item of an empty array has the type Nothing; NULL is the nullable Nothing.
    if (a.name === 'Nothing') return a.nullable ? nullable(b) : b
    if (b.name === 'Nothing') return b.nullable ? nullable(a) : a
    const same = unifyScalars(a, b)
    return a.nullable || b.nullable ? nullable(same) : same
  }
  if (a.kind === 'array' && b.kind === 'array') return arrayOf(unify(a.item, b.item))
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length)
    return tupleOf(
      a.items.map((item, i) => unify(item, b.items[i]!)),
      a.names,
    )
  if (a.kind === 'scalar' && a.name === 'Nothing') return b
  if (b.kind === 'scalar' && b.name === 'Nothing') return a
  return isNullable(a) ? a : b
}

export const unifyAll = (types: readonly SqlType[]): SqlType => (types.length === 0 ? scalar('Nothing') : types.reduce(unify))
