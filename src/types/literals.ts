import { type SqlType, scalar } from './types.ts'

const unsigned = [8n, 16n, 32n, 64n, 128n, 256n] as const

/** The type of a literal: integers get the smallest that holds them. */
export function literalType(value: null | boolean | number | bigint | string, isFloat = false): SqlType {
  if (value === null) return scalar('Nothing', true)
  if (typeof value === 'boolean') return scalar('Bool')
  if (typeof value === 'string') return scalar('String')
  if (typeof value === 'number' && (isFloat || !Number.isInteger(value))) return scalar('Float64')
  const n = BigInt(value)
  const size = unsigned.find((bits) => (n < 0n ? n >= -(1n << (bits - 1n)) : n < 1n << bits))
  if (size === undefined) return scalar('Float64')
  return scalar(`${n < 0n ? 'Int' : 'UInt'}${size}` as 'Int64')
}
