import { isNamed, isNumeric, isTime, nullable, type ScalarType, type SqlType, scalar } from './types.ts'

// A property without a declared type is what each of its values is. Its type says how an engine holds such values, and where they come from, so
// that whoever asks for a text, a number, a time or a boolean gets it.

/** How the JSON numbers among the values are told from JSON texts such as '01234' that read as a number, and with it how values are held. */
export type NumberKind =
  /** There is nothing but JSON numbers: a float. */
  | 'all'
  /** There is no JSON number: the text. */
  | 'none'
  /** There is no JSON text that reads as a number: the text, and what reads as a number is one. */
  | 'by-text'
  /** There may be anything: the text, with a NUL character in front of JSON texts that read as a number. No other text has one. */
  | 'marked'

export interface PropertyName {
  readonly scope: string
  readonly name: string
}

export interface PropertyInfo {
  readonly numbers: NumberKind
  /** The properties that the values may be of; nested values are of none. */
  readonly of: readonly PropertyName[]
  /** An answer shows a number as a number, not as its text. */
  readonly isOwn?: true
}

export interface PropertyType extends ScalarType {
  readonly name: 'Property'
  readonly property: PropertyInfo
}

export const propertyOf = (property: PropertyInfo): PropertyType => ({ kind: 'scalar', name: 'Property', nullable: true, property })
export const isProperty = (type: SqlType): type is PropertyType => isNamed(type, 'Property')

/** Regular expressions that all engines and JavaScript read alike, for whole texts. */
export const numberText = '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?'
const day = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const clock = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?'
export const timeText = `${day}([T ]${clock}(Z|[+-][0-2][0-9]:?[0-5][0-9])?)?`

/** Two columns of values as one. */
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

/** What a property is read as beside a value of this type. */
export function readBeside(type: SqlType): ReadAs {
  if (isNamed(type, 'Bool')) return 'boolean'
  if (isNumeric(type)) return 'number'
  return isTime(type) ? 'time' : 'text'
}

/** The type of a value that is a property, or a value of the other type. */
export function unifyProperty(a: PropertyType, b: SqlType): SqlType | null {
  if (isProperty(b)) return propertyOf(jointProperty(a.property, b.property))
  return isNamed(b, 'Nothing') ? nullable(a) : null
}
