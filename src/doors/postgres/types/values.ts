import { type Micros, zoneOf } from '../../../lib/time/zone.ts'
import { SqlError } from '../statements/sql-error.ts'
import { itemOf, oidOf, type Scalar, type TypeName } from './pg-types.ts'

// Values as text and as bytes. A value is as the engine has it: times are microseconds, days are days since 1970, an interval is seconds.

export type Value = null | string | number | bigint | boolean | readonly Value[]

/** PostgreSQL counts from 2000. */
const from2000 = 946_684_800
const daysTo2000 = 10_957

const two = (n: number) => String(n).padStart(2, '0')

const dayTextOf = (days: number): string => {
  const date = new Date(days * 86_400_000)
  const year = date.getUTCFullYear()
  return `${String(year).padStart(4, '0')}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
}

const offsetText = (offset: Micros): string => {
  const seconds = Math.round(Math.abs(offset) / 1_000_000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  return `${offset < 0 ? '-' : '+'}${two(hours)}${minutes === 0 ? '' : `:${two(minutes)}`}`
}

function timeText(micros: Micros, zone: string, withOffset: boolean): string {
  const offset = zoneOf(zone).offsetAt(micros)
  const wall = micros + offset
  const seconds = Math.floor(wall / 1_000_000)
  const fraction = wall - seconds * 1_000_000
  const days = Math.floor(seconds / 86_400)
  const rest = seconds - days * 86_400
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor((rest % 3600) / 60))}:${two(rest % 60)}`
  const digits =
    fraction === 0
      ? ''
      : `.${String(fraction)
          .padStart(6, '0')
          .replace(/0{1,6}$/, '')}`
  return `${dayTextOf(days)} ${clock}${digits}${withOffset ? offsetText(offset) : ''}`
}

const floatText = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Digits without an exponent. */
const numericText = (value: number | bigint | string): string => {
  const text = typeof value === 'number' ? floatText(value) : String(value)
  const found = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/i.exec(text)
  if (!found) return text
  const [, sign, whole = '', fraction = '', exponent] = found
  const shift = Number(exponent)
  const digits = whole + fraction
  const point = whole.length + shift
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

const intervalText = (seconds: number): string => {
  const micros = Math.round(Math.abs(seconds) * 1_000_000)
  const sign = seconds < 0 ? '-' : ''
  const days = Math.floor(micros / 86_400_000_000)
  const rest = micros - days * 86_400_000_000
  const whole = Math.floor(rest / 1_000_000)
  const fraction = rest - whole * 1_000_000
  const clock = `${two(Math.floor(whole / 3600))}:${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}${
    fraction === 0
      ? ''
      : `.${String(fraction)
          .padStart(6, '0')
          .replace(/0{1,6}$/, '')}`
  }`
  const named = days === 0 ? '' : `${sign}${days} day${days === 1 && sign === '' ? '' : 's'}`
  if (rest === 0 && days > 0) return named
  return `${named}${named ? ' ' : ''}${sign}${clock}`
}

const arrayText = (values: readonly Value[], item: Scalar, zone: string): string =>
  `{${values
    .map((value) => {
      if (value === null) return 'NULL'
      const text = textOf(value, item, zone)
      return text === '' || /[{}",\\\s]/.test(text) || text.toLowerCase() === 'null' ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
    })
    .join(',')}}`

const jsonText = (value: Value): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one))

/** As a client reads it in the text format. */
export function textOf(value: Exclude<Value, null>, type: TypeName, zone: string): string {
  const item = itemOf(type)
  if (item) return Array.isArray(value) ? arrayText(value, item, zone) : String(value)
  switch (type) {
    case 'bool':
      return value ? 't' : 'f'
    case 'date':
      return typeof value === 'number' ? dayTextOf(value) : String(value)
    case 'timestamp':
    case 'timestamptz':
      return typeof value === 'number' ? timeText(value, zone, type === 'timestamptz') : String(value)
    case 'float4':
    case 'float8':
      return typeof value === 'number' ? floatText(value) : String(value)
    case 'numeric':
    case 'int8':
      return Array.isArray(value) || typeof value === 'boolean' ? String(Number(value)) : numericText(value as number)
    case 'interval':
      return typeof value === 'number' ? intervalText(value) : String(value)
    default:
      return typeof value === 'object' ? jsonText(value) : typeof value === 'boolean' ? String(value) : String(value)
  }
}

const bytesOf = (size: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.allocUnsafe(size)
  write(bytes)
  return bytes
}

/** Base 10,000, as PostgreSQL keeps it. */
function numericBytes(text: string): Buffer {
  if (/nan|inf/i.test(text))
    return bytesOf(8, (bytes) => {
      bytes.fill(0)
      bytes.writeUInt16BE(/nan/i.test(text) ? 0xc000 : text.startsWith('-') ? 0xf000 : 0xd000, 4)
    })
  const isNegative = text.startsWith('-')
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const left = whole.replace(/^0+/, '')
  const padded = left.padStart(Math.ceil(left.length / 4) * 4, '0') + fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0')
  let groups = padded.match(/\d{4}/g)?.map(Number) ?? []
  let weight = Math.ceil(left.length / 4) - 1
  while (groups.length > 0 && groups[0] === 0) {
    groups.shift()
    weight--
  }
  while (groups.at(-1) === 0) groups = groups.slice(0, -1)
  return bytesOf(8 + groups.length * 2, (bytes) => {
    bytes.writeInt16BE(groups.length, 0)
    bytes.writeInt16BE(groups.length === 0 ? 0 : weight, 2)
    bytes.writeUInt16BE(isNegative && groups.length > 0 ? 0x4000 : 0, 4)
    bytes.writeInt16BE(fraction.length, 6)
    for (const [i, group] of groups.entries()) bytes.writeInt16BE(group, 8 + i * 2)
  })
}

function arrayBytes(values: readonly Value[], item: Scalar, zone: string): Buffer {
  const parts = values.map((value) => (value === null ? null : binaryOf(value, item, zone)))
  const head = bytesOf(values.length === 0 ? 12 : 20, (bytes) => {
    bytes.writeInt32BE(values.length === 0 ? 0 : 1, 0)
    bytes.writeInt32BE(parts.includes(null) ? 1 : 0, 4)
    bytes.writeInt32BE(oidOf(item), 8)
    if (values.length > 0) {
      bytes.writeInt32BE(values.length, 12)
      bytes.writeInt32BE(1, 16)
    }
  })
  const size = (length: number) => bytesOf(4, (bytes) => bytes.writeInt32BE(length))
  return Buffer.concat([head, ...parts.flatMap((part) => (part ? [size(part.length), part] : [size(-1)]))])
}

const wholeBytes = (value: Value, size: 2 | 4 | 8, type: TypeName): Buffer => {
  const number = BigInt(
    typeof value === 'number' ? Math.trunc(value) : typeof value === 'boolean' ? Number(value) : (value as string | bigint),
  )
  const limit = 2n ** BigInt(size * 8 - 1)
  if (number >= limit || number < -limit) throw new SqlError('22003', `${type} out of range`)
  return bytesOf(size, (bytes) => {
    if (size === 8) bytes.writeBigInt64BE(number)
    else if (size === 4) bytes.writeInt32BE(Number(number))
    else bytes.writeInt16BE(Number(number))
  })
}

/** As a client reads it in the binary format. */
export function binaryOf(value: Exclude<Value, null>, type: TypeName, zone: string): Buffer {
  const item = itemOf(type)
  if (item) return arrayBytes(Array.isArray(value) ? value : [], item, zone)
  switch (type) {
    case 'bool':
      return Buffer.from([value ? 1 : 0])
    case 'int2':
      return wholeBytes(value, 2, type)
    case 'int4':
    case 'oid':
      return wholeBytes(value, 4, type)
    case 'int8':
      return wholeBytes(value, 8, type)
    case 'float4':
      return bytesOf(4, (bytes) => bytes.writeFloatBE(Number(value)))
    case 'float8':
      return bytesOf(8, (bytes) => bytes.writeDoubleBE(Number(value)))
    case 'numeric':
      return numericBytes(numericText(value as number))
    case 'date':
      return bytesOf(4, (bytes) => bytes.writeInt32BE(Number(value) - daysTo2000))
    case 'timestamp':
    case 'timestamptz': {
      const micros = Number(value)
      const shown = type === 'timestamp' ? micros + zoneOf(zone).offsetAt(micros) : micros
      return bytesOf(8, (bytes) => bytes.writeBigInt64BE(BigInt(shown) - BigInt(from2000) * 1_000_000n))
    }
    case 'uuid':
      return Buffer.from(String(value).replaceAll('-', ''), 'hex')
    case 'jsonb':
      return Buffer.concat([Buffer.from([1]), Buffer.from(jsonText(value))])
    case 'interval': {
      const micros = Math.round(Number(value) * 1_000_000)
      const days = Math.trunc(micros / 86_400_000_000)
      return bytesOf(16, (bytes) => {
        bytes.writeBigInt64BE(BigInt(micros - days * 86_400_000_000), 0)
        bytes.writeInt32BE(days, 8)
        bytes.writeInt32BE(0, 12)
      })
    }
    default:
      return Buffer.from(textOf(value, type, zone))
  }
}

const numericFrom = (bytes: Buffer): string => {
  const [count, weight, sign, scale] = [bytes.readUInt16BE(0), bytes.readInt16BE(2), bytes.readUInt16BE(4), bytes.readUInt16BE(6)]
  if (sign === 0xc000) return 'NaN'
  const group = (i: number) => (i >= 0 && i < count ? String(bytes.readUInt16BE(8 + i * 2)).padStart(4, '0') : '0000')
  let whole = ''
  for (let i = 0; i <= Math.min(weight, 1000); i++) whole += group(i)
  let fraction = ''
  for (let i = weight + 1; fraction.length < scale; i++) fraction += group(i)
  const digits = `${whole.replace(/^0+(?=\d)/, '') || '0'}${scale > 0 ? `.${fraction.slice(0, scale)}` : ''}`
  return sign === 0x4000 ? `-${digits}` : digits
}

const need = (bytes: Buffer, size: number, type: string): void => {
  if (bytes.length !== size) throw new SqlError('22P03', `incorrect binary data format for a parameter of type ${type}`)
}

/** The text of a parameter that came as bytes. */
export function textFromBinary(bytes: Buffer, type: TypeName): string {
  const sized: Readonly<Partial<Record<TypeName, number>>> = {
    bool: 1,
    int2: 2,
    int4: 4,
    oid: 4,
    int8: 8,
    float4: 4,
    float8: 8,
    date: 4,
    timestamp: 8,
    timestamptz: 8,
    uuid: 16,
  }
  const size = sized[type]
  if (size !== undefined) need(bytes, size, type)
  switch (type) {
    case 'bool':
      return bytes[0] ? 'true' : 'false'
    case 'int2':
      return String(bytes.readInt16BE())
    case 'int4':
      return String(bytes.readInt32BE())
    case 'oid':
      return String(bytes.readUInt32BE())
    case 'int8':
      return String(bytes.readBigInt64BE())
    case 'float4':
      return floatText(bytes.readFloatBE())
    case 'float8':
      return floatText(bytes.readDoubleBE())
    case 'numeric':
      if (bytes.length < 8 || bytes.length !== 8 + bytes.readUInt16BE(0) * 2) need(bytes, -1, type)
      return numericFrom(bytes)
    case 'date':
      return dayTextOf(bytes.readInt32BE() + daysTo2000)
    case 'timestamp':
    case 'timestamptz':
      return timeText(Number(bytes.readBigInt64BE() + BigInt(from2000) * 1_000_000n), 'UTC', type === 'timestamptz')
    case 'uuid':
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    case 'jsonb':
      return bytes.subarray(1).toString('utf8')
    default:
      return itemOf(type) ? arrayFrom(bytes, itemOf(type)!) : bytes.toString('utf8')
  }
}

function arrayFrom(bytes: Buffer, item: Scalar): string {
  if (bytes.length < 12) need(bytes, -1, `${item}[]`)
  if (bytes.readInt32BE(0) === 0) return '{}'
  const items: string[] = []
  for (let at = 20; at + 4 <= bytes.length; ) {
    const length = bytes.readInt32BE(at)
    at += 4
    if (length === -1) items.push('NULL')
    else {
      const text = textFromBinary(bytes.subarray(at, at + length), item)
      items.push(`"${text.replace(/["\\]/g, '\\$&')}"`)
      at += length
    }
  }
  return `{${items.join(',')}}`
}
