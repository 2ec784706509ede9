import { type SqlType, scalar } from './types.ts'

const unsigned = [8n, 16n, 32n, 64n, 128n, 256n] as const
const [nothing, truth, text, float, byte] = [scalar('Nothing', true), scalar('Bool'), scalar('String'), scalar('Float64'), scalar('UInt8')]

/** The type of a literal: integers get the smallest that holds them. */
export function literalType(value: null | boolean | number | bigint | string, isFloat = false): SqlType {
  if (value === null) return nothing
  if (typeof value === 'boolean') return truth
  if (typeof value === 'string') return text
  if (typeof value === 'number' && (isFloat || !Number.isInteger(value))) return float
  if (value >= 0 && value < 256) return byte
  const n = BigInt(value)
  const size = unsigned.find((bits) => (n < 0n ? n >= -(1n << (bits - 1n)) : n < 1n << bits))
  if (size === undefined) return float
  return scalar(`${n < 0n ? 'Int' : 'UInt'}${size}` as 'Int64')
}
