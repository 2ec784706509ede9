import {
  isFloat,
  isInteger,
  isNamed,
  isNullable,
  nullable,
  type ScalarName,
  type ScalarType,
  type SqlType,
  scalar,
  unknownType,
} from '../types/types.ts'
import type { FunctionRow } from './row.ts'

// Result types: what rows put under `returns`.

type Returns = FunctionRow['returns']

/** Never NULL, whatever the arguments are. */
export const always =
  (name: ScalarName): Returns =>
  () =>
    scalar(name)

/** NULL as soon as one argument is, as most functions of ClickHouse. */
export const whenAll =
  (name: ScalarName): Returns =>
  (args) =>
    scalar(name, args.some(isNullable))

export const orNull =
  (name: ScalarName): Returns =>
  () =>
    scalar(name, true)

/** The type of one argument. */
export const sameAs =
  (position: number): Returns =>
  (args) =>
    args[position] ?? unknownType

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

/** Sums and products grow into the next width, up to 64 bits. */
export const nextWidth = (bits: Width): Width => (bits >= 64 ? bits : widths[widths.indexOf(bits) + 1]!)

/** The smallest type that holds a literal. */
export function integerLiteral(value: number | bigint): ScalarType {
  const big = BigInt(value)
  for (const bits of widths) {
    const size = BigInt(bits)
    if (big >= 0n ? big < 1n << size : big >= -(1n << (size - 1n))) return integer({ bits, signed: big < 0n })
  }
  return scalar('Float64')
}

/** The smallest type both fit in; `unknown` where the engine has to say. */
export function commonType(types: readonly SqlType[]): SqlType {
  const present = types.filter((type) => !isNamed(type, 'Nothing'))
  const first = present[0]
  if (!first) return types[0] ?? unknownType
  const result = present.slice(1).reduce(commonOfTwo, first)
  return types.some(isNullable) ? nullable(result) : result
}

function commonOfTwo(a: SqlType, b: SqlType): SqlType {
  if (a.kind === 'array' && b.kind === 'array') return { kind: 'array', item: commonType([a.item, b.item]) }
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length)
    return { kind: 'tuple', items: a.items.map((item, i) => commonType([item, b.items[i]!])) }
  if (a.kind === 'map' && b.kind === 'map') return { kind: 'map', key: commonType([a.key, b.key]), value: commonType([a.value, b.value]) }
  if (a.kind !== 'scalar' || b.kind !== 'scalar') return a.kind === b.kind ? a : unknownType
  const mayBeNull = a.nullable || b.nullable
  if (a.name === b.name) return { ...a, nullable: mayBeNull }
  const left = integerShape(a)
  const right = integerShape(b)
  if (left && right) {
    if (left.signed === right.signed) return integer(left.bits >= right.bits ? left : right, mayBeNull)
    const unsigned = left.signed ? right : left
    const signed = left.signed ? left : right
    return integer(signed.bits > unsigned.bits ? signed : { bits: nextWidth(unsigned.bits), signed: true }, mayBeNull)
  }
  if ((isFloat(a) || left) && (isFloat(b) || right)) return scalar('Float64', mayBeNull)
  for (const wider of ['DateTime64', 'DateTime', 'Decimal'] as const)
    if ((a.name === wider || b.name === wider) && isTimeOrNumber(a) && isTimeOrNumber(b))
      return { ...(a.name === wider ? a : b), nullable: mayBeNull }
  return unknownType
}

const isTimeOrNumber = (type: SqlType): boolean => isInteger(type) || isNamed(type, 'Date', 'DateTime', 'DateTime64', 'Decimal')
