import { QueryError } from '../../errors/errors.ts'
import { arrayOf, isNullable, type ScalarName, type ScalarType, type SqlType, scalar, typeName, unknownType } from '../types/types.ts'
import { areOfOneType, unifyAll } from '../types/unify.ts'
import type { FunctionRow } from './row.ts'

// Result types, for `returns` of rows.

type Returns = FunctionRow['returns']

/** Never NULL, whatever the arguments. */
export const always =
  (name: ScalarName): Returns =>
  () =>
    scalar(name)

/** NULL if any argument is, like most functions of ClickHouse. */
export const whenAll =
  (name: ScalarName): Returns =>
  (args) =>
    scalar(name, args.some(isNullable))

export const orNull =
  (name: ScalarName): Returns =>
  () =>
    scalar(name, true)

export const listOfTexts: Returns = () => arrayOf(scalar('String'))

/** The type of one argument. */
export const sameAs =
  (position: number): Returns =>
  (args) =>
    args[position] ?? unknownType

export const itemOf = (type: SqlType | undefined): SqlType => (type?.kind === 'array' ? type.item : unknownType)

const widths = [8, 16, 32, 64, 128, 256] as const
type Width = (typeof widths)[number]

export interface IntegerShape {
  readonly bits: Width
  readonly signed: boolean
}

export function integerShape(type: SqlType): IntegerShape | null {
  if (type.kind !== 'scalar') return null
  if (type.name === 'Bool') return { bits: 8, signed: false }
  const match = /^(U?)Int(\d+)$/.exec(type.name)
  return match ? { bits: Number(match[2]) as Width, signed: match[1] === '' } : null
}

export const integer = ({ bits, signed }: IntegerShape, mayBeNull = false): ScalarType =>
  scalar(`${signed ? '' : 'U'}Int${bits}` as ScalarName, mayBeNull)

/** Sums and products take the next wider type, up to 64 bits. */
export const nextWidth = (bits: Width): Width => (bits >= 64 ? bits : widths[widths.indexOf(bits) + 1]!)

/** The smallest common type: branches of a conditional, items of an array. */
export const commonType = unifyAll

/** Element-wise operations need two tuples of equal length; a tuple cannot be combined with an array. */
export function checkSameSize(name: string, [a, b]: readonly (SqlType | undefined)[]): void {
  const shapes = [a, b].map((type) =>
    type?.kind === 'tuple' ? `a tuple of ${type.items.length}` : type?.kind === 'array' ? 'an array' : null,
  )
  if (shapes.includes(null) || shapes[0] === shapes[1]) return
  const message = `'${name}' needs two arrays, or two tuples of the same size, but got ${shapes.join(' and ')}`
  throw new QueryError('wrong-type', { message, expected: 'two arrays, or two tuples of the same size' })
}

/** The same if neither side may be one number for all items. */
export function checkBothSame(name: string, types: readonly SqlType[]): void {
  checkSameSize(name, types)
  const kinds = types.map(({ kind }) => kind)
  const isPair = kinds.every((kind) => kind === 'tuple') || kinds.every((kind) => kind === 'array' || kind === 'unknown')
  if (isPair) return
  const expected = 'two arrays, or two tuples of the same size'
  throw new QueryError('wrong-type', { message: `'${name}' needs ${expected}, but got ${types.map(typeName).join(' and ')}`, expected })
}

/** The same for values that are stored together: types without a common type are rejected. */
export function oneType(types: readonly SqlType[], what: string): SqlType {
  const all = unifyAll(types)
  const other = types.find((type) => !areOfOneType(types[0]!, type))
  if (other)
    throw new QueryError('wrong-type', { message: `${what} must be of one type; here are ${typeName(types[0]!)} and ${typeName(other)}` })
  return all
}
