import { nearestSpellings } from '../../lib/text/spelling.ts'
import { arrayOf, mapOf, nullable, type ScalarName, type SqlType, scalar, tupleOf } from './types.ts'

const names: Readonly<Record<string, ScalarName>> = Object.fromEntries(
  (
    [
      'Bool UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Int8 Int16 Int32 Int64 Int128 Int256 Float32 Float64 String UUID IPv4 IPv6 Date DateTime DateTime64 JSON',
    ] as const
  )[0]
    .split(' ')
    .map((name) => [name.toLowerCase(), name as ScalarName]),
)
const others: Readonly<Record<string, ScalarName>> = {
  boolean: 'Bool',
  int: 'Int32',
  integer: 'Int32',
  bigint: 'Int64',
  smallint: 'Int16',
  tinyint: 'Int8',
  float: 'Float64',
  double: 'Float64',
  real: 'Float32',
  text: 'String',
  varchar: 'String',
  char: 'String',
  timestamp: 'DateTime64',
  date32: 'Date',
  datetime32: 'DateTime',
  lowcardinality: 'String',
}

const compound = { array: 'Array', map: 'Map', tuple: 'Tuple', nullable: 'Nullable', decimal: 'Decimal', numeric: 'Numeric' } as const

/** Likely types for the first word of a text that is not a type. */
export function likelyTypes(text: string): readonly string[] {
  const known = new Map(Object.entries({ ...compound, ...names, ...Object.fromEntries(Object.keys(others).map((name) => [name, name])) }))
  const word = (text.match(/[a-z]\w*/gi) ?? []).find((one) => !known.has(one.toLowerCase()))
  return word === undefined ? [] : nearestSpellings(word, known.values())
}

/** The type written as `Array(Nullable(Int64))` and so on; null if the text is not a type. */
export function parseType(text: string): SqlType | null {
  const match = /^([A-Za-z]\w*)\s*(?:\((.*)\))?$/s.exec(text.trim())
  if (!match) return null
  const name = match[1]!.toLowerCase()
  const inside = match[2]
  const parts = inside === undefined ? [] : splitTop(inside)
  const one = () => (parts.length === 1 ? parseType(parts[0]!) : null)
  switch (name) {
    case 'nullable': {
      const type = one()
      return type && nullable(type)
    }
    case 'lowcardinality':
      return one()
    case 'array': {
      const item = one()
      return item && arrayOf(item)
    }
    case 'map': {
      const [key, value] = parts.map(parseType)
      return key && value && parts.length === 2 ? mapOf(key, value) : null
    }
    case 'tuple': {
      const elements = parts.map(parseElement)
      const items = elements.map(({ type }) => type)
      if (!items.every((item) => item !== null)) return null
      const names = elements.flatMap(({ name }) => name ?? [])
      return tupleOf(items, names.length > 0 && names.length === items.length ? names : undefined)
    }
    case 'decimal':
    case 'numeric': {
      const [precision = 10, scale = 0] = parts.map(Number)
      return precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision
        ? { ...scalar('Decimal'), parameters: [precision, scale] }
        : null
    }
    case 'datetime64':
      return { ...scalar('DateTime64'), parameters: [Number.isInteger(Number(parts[0])) ? Number(parts[0]) : 6] }
    default: {
      const known = Object.hasOwn(names, name) ? names[name] : Object.hasOwn(others, name) ? others[name] : undefined
      return known ? scalar(known) : null
    }
  }
}

/** `a Int64`, or a type alone. */
function parseElement(text: string): { readonly name?: string; readonly type: SqlType | null } {
  const type = parseType(text)
  if (type) return { type }
  const { name, rest } = namedElement(text.trim())
  return { name, type: parseType(rest) }
}

/** A quoted name ends at the next quote that is not doubled, a plain name at a space. */
function namedElement(text: string): { readonly name?: string; readonly rest: string } {
  const quote = text[0]
  if (quote !== '`' && quote !== '"') {
    const end = text.search(/\s/)
    return end < 0 ? { rest: '' } : { name: text.slice(0, end), rest: text.slice(end) }
  }
  let name = ''
  for (let at = 1; at < text.length; at++) {
    if (text[at] === quote && text[at + 1] !== quote) return name === '' ? { rest: '' } : { name, rest: text.slice(at + 1) }
    if (text[at] === quote) at++
    name += text[at]
  }
  return { rest: '' }
}

/** Splits at commas outside of brackets. */
function splitTop(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')') depth--
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(start, i))
      start = i + 1
    }
  }
  return [...parts, text.slice(start)]
}
