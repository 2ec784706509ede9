import { isFloat, isInteger, isNamed, isNullable, isText, isTime } from '../../types/types.ts'
import { asNumber, floatBits, once, tried } from '../cells/duckdb-values.ts'
import { times } from '../makes.ts'
import { integerShape, whenAll } from '../results.ts'
import { type Arg, type CellContext, type SqlCell, sql, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Texts as hex, base58 and base64, hashes, and reinterpreting bits as another type.

const noHash = unsupported('DuckDB has no hash with the same results as this one of ClickHouse')
const noBits = unsupported('DuckDB does not show the bits of a value')
const noBase58 = unsupported('DuckDB has no base58')

/** Nonnegative integers have no leading zero bytes, negative ones the width of their type. */
const hex: SqlCell = ([x], context) => {
  const { type } = x!
  if (isNamed(type, 'UUID')) return uuidDigits(x!)
  if (isFloat(type)) {
    const bytes = isNamed(type, 'Float32') ? 4 : 8
    return once(context, `lpad(hex(${floatBits(x!)}), ${2 * bytes}, '0')`, (h) =>
      Array.from({ length: bytes }, (_, i) => `substring(${h}, ${2 * (bytes - i) - 1}, 2)`).join(' || '),
    )
  }
  if (isTime(type)) return wholeHex(`CAST(${ticks(x!)} AS UBIGINT)`, context)
  if (!isInteger(type)) return `hex(${x!.sql})`
  const shape = integerShape(x!.type)!
  const value = shape.signed
    ? `(CAST(${asNumber(x!)} AS HUGEINT) & CAST(${(1n << BigInt(Math.min(shape.bits, 64))) - 1n} AS HUGEINT))`
    : `CAST(${asNumber(x!)} AS UBIGINT)`
  return wholeHex(value, context)
}
const wholeHex = (value: string, context: CellContext): string =>
  once(context, `hex(${value})`, (h) => `lpad(${h}, CAST(length(${h}) + length(${h}) % 2 AS INTEGER), '0')`)
const uuidDigits = (x: Arg): string => `upper(replace(CAST(${x.sql} AS VARCHAR), '-', ''))`
/** The number that ClickHouse keeps for a date or a time: days, seconds, or parts of seconds. */
const ticks = ({ sql, type }: Arg): string => {
  if (isNamed(type, 'Date')) return `date_diff('day', DATE '1970-01-01', ${sql})`
  const digits = type.kind === 'scalar' && isNamed(type, 'DateTime64') ? (type.parameters?.[0] ?? 6) : 0
  return `(epoch_us(${sql}) // ${10 ** (6 - digits)})`
}

/** The bytes of a text, lowest first, as ClickHouse reads numbers from them. */
function reinterpretedInteger(bits: 8 | 16 | 32 | 64, signed: boolean): ScalarSpec {
  const name = `${signed ? 'Int' : 'UInt'}${bits}` as const
  const fold = (value: string): string => {
    const cut = `(${value} & CAST(${(1n << BigInt(bits)) - 1n} AS HUGEINT))`
    const half = `CAST(${1n << BigInt(bits - 1)} AS HUGEINT)`
    return signed ? `CAST(xor(${cut}, ${half}) - ${half} AS BIGINT)` : `CAST(${cut} AS UBIGINT)`
  }
  return {
    args: 1,
    returns: whenAll(name),
    summary: `The first bytes of a value as a number of type ${name}.`,
    duckdb: ([x], context) => {
      if (!isText(x!.type)) return fold(`CAST(${numberIn(x!)} AS HUGEINT)`)
      return once(context, `hex(${x!.sql})`, (h) => {
        const i = context.fresh()
        const byte = `CAST(CAST('0x' || substring(${h}, 2 * ${i} + 1, 2) AS BIGINT) AS HUGEINT) * CAST(pow(2.0, 8 * ${i}) AS HUGEINT)`
        const bytes = `list_transform(range(0, least(length(${h}) // 2, ${bits / 8})), lambda ${i}: ${byte})`
        return fold(`CAST(CASE WHEN ${h} IS NOT NULL THEN coalesce(list_sum(${bytes}), 0) END AS HUGEINT)`)
      })
    },
    cases: [
      [`reinterpretAs${name}('a')`, 97],
      [`reinterpretAs${name}(1)`, 1],
      ...(bits === 64
        ? [[`toString(reinterpretAs${name}(1.5))`, '4609434218613702656'] as const]
        : [[`reinterpretAs${name}(1.5)`, 0] as const]),
      ...(bits > 8 ? [[`reinterpretAs${name}('ab')`, 25185] as const] : []),
    ],
  }
}
const numberIn = (x: Arg): string => {
  if (isNamed(x.type, 'UUID')) return `CAST('0x' || left(${uuidDigits(x)}, 16) AS UBIGINT)`
  return isFloat(x.type) ? floatBits(x) : isTime(x.type) ? ticks(x) : ofWidth(x)
}
/** A negative number is extended to the width of its own type only. */
const ofWidth = (x: Arg): string => {
  const shape = integerShape(x.type)
  return shape?.signed
    ? `(CAST(${asNumber(x)} AS HUGEINT) & CAST(${(1n << BigInt(Math.min(shape.bits, 64))) - 1n} AS HUGEINT))`
    : asNumber(x)
}
const reinterpreted = (
  name: 'Float32' | 'Float64' | 'Int128' | 'Int256' | 'UInt128' | 'UInt256' | 'UUID',
  cases: ScalarSpec['cases'],
): ScalarSpec => ({
  args: 1,
  returns: whenAll(name),
  summary: `The first bytes of a value as a value of type ${name}.`,
  duckdb: noBits,
  cases,
})

/** The decoded bytes as text; rejected if they are not valid text. */
const decoded = (x: Arg, needs: string, bytes: (text: string) => string, context: CellContext): string =>
  once(context, x.sql, (text) => {
    const found = `coalesce(TRY(decode(${bytes(text)})), ${context.refuse(context.literal(`The argument is not ${needs} of text in UTF-8`))})`
    return `CASE WHEN ${text} IS NOT NULL THEN ${found} END`
  })

/** ClickHouse ignores white space in base64. */
const withoutBlanks = (text: string): string => `regexp_replace(${text}, '\\s', '', 'g')`

export const encodingFunctions = scalars({
  hex: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Encodes the bytes of a text, number, date or UUID in hexadecimal.',
    makes: times(2),
    duckdb: hex,
    cases: [
      ["hex('abc')", '616263'],
      ['hex(255)', 'FF'],
      ['hex(1)', '01'],
      ['hex(256)', '0100'],
      ['hex(-1)', 'FF'],
      ['hex(null)', null],
      ['hex(1.5)', '000000000000F83F'],
      ['hex(-2.5)', '00000000000004C0'],
      ["hex(toDate('2024-03-31'))", '4D65'],
      ["hex(toUUID('0190000a-0000-7000-8000-000000000001'))", '0190000A000070008000000000000001'],
    ],
  },
  unhex: {
    differences: [
      {
        expression: "unhex('\"')",
        duckdb: { refused: 'not the hexadecimal digits' },
        clickhouse: { value: '\uFFFD' },
        reason: 'ClickHouse accepts any character as a digit',
      },
    ],
    args: 1,
    returns: whenAll('String'),
    summary: 'Decodes hexadecimal digits to bytes.',
    duckdb: ([x], context) => decoded(x!, 'the hexadecimal digits', (text) => `unhex(${text})`, context),
    cases: [["unhex('616263')", 'abc']],
  },
  MD5: {
    args: 1,
    returns: whenAll('String'),
    summary: 'MD5 hash as 16 bytes; `hex()` makes them readable.',
    duckdb: ([x]) => `unhex(md5(${x!.sql}))`,
    cases: [
      ["hex(MD5('a'))", '0CC175B9C0F1B6A831C399E269772661'],
      ["lower(hex(MD5('')))", 'd41d8cd98f00b204e9800998ecf8427e'],
    ],
  },
  cityHash64: {
    args: 1,
    returns: whenAll('UInt64'),
    summary: 'A fast 64-bit hash, not cryptographic.',
    duckdb: noHash,
    cases: [["toString(cityHash64('a'))", '2603192927274642682']],
  },
  base58Encode: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Encodes the text in base58.',
    duckdb: noBase58,
    cases: [["base58Encode('hello')", 'Cn8eVZg']],
  },
  base58Decode: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Decodes base58; an error if the input is invalid.',
    duckdb: noBase58,
    cases: [["base58Decode('Cn8eVZg')", 'hello']],
  },
  tryBase58Decode: {
    args: 1,
    returns: whenAll('String'),
    summary: "Decodes base58; '' if the input is invalid.",
    duckdb: noBase58,
    cases: [
      ["tryBase58Decode('Cn8eVZg')", 'hello'],
      ["tryBase58Decode('0')", ''],
    ],
  },
  base64Encode: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Encodes the text in base64.',
    makes: times(1.5),
    duckdb: sql`to_base64(encode(${0}))`,
    cases: [["base64Encode('hello')", 'aGVsbG8=']],
  },
  base64Decode: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Decodes base64; an error if the input is invalid.',
    differences: [
      {
        expression: "base64Decode('null')",
        duckdb: { refused: 'not the base64 of text in UTF-8' },
        clickhouse: { value: '\uFFFDe' },
        reason: 'DuckDB texts are UTF-8, ClickHouse texts are any bytes',
      },
    ],
    duckdb: ([x], context) => decoded(x!, 'the base64', (text) => `from_base64(${withoutBlanks(text)})`, context),
    cases: [
      ["base64Decode('aGVsbG8=')", 'hello'],
      ["base64Decode('aGVs\\n bG8=')", 'hello'],
    ],
  },
  tryBase64Decode: {
    args: 1,
    returns: whenAll('String'),
    summary: "Decodes base64; '' if the input is invalid.",
    duckdb: ([x], context) => {
      const text = `coalesce(${tried(context, [x!.sql], (t) => `decode(from_base64(${withoutBlanks(t)}))`)}, '')`
      return isNullable(x!.type) ? `CASE WHEN ${x!.sql} IS NOT NULL THEN ${text} END` : text
    },
    cases: [
      ["tryBase64Decode('aGVsbG8=')", 'hello'],
      ["tryBase64Decode('!!')", ''],
      ['tryBase64Decode(null)', null],
    ],
  },
  reinterpretAsUInt8: reinterpretedInteger(8, false),
  reinterpretAsUInt16: reinterpretedInteger(16, false),
  reinterpretAsUInt32: reinterpretedInteger(32, false),
  reinterpretAsUInt64: reinterpretedInteger(64, false),
  reinterpretAsInt8: reinterpretedInteger(8, true),
  reinterpretAsInt16: reinterpretedInteger(16, true),
  reinterpretAsInt32: reinterpretedInteger(32, true),
  reinterpretAsInt64: reinterpretedInteger(64, true),
  reinterpretAsUInt128: reinterpreted('UInt128', [["toString(reinterpretAsUInt128('a'))", '97']]),
  reinterpretAsUInt256: reinterpreted('UInt256', [["toString(reinterpretAsUInt256('a'))", '97']]),
  reinterpretAsInt128: reinterpreted('Int128', [["toString(reinterpretAsInt128('a'))", '97']]),
  reinterpretAsInt256: reinterpreted('Int256', [["toString(reinterpretAsInt256('a'))", '97']]),
  reinterpretAsFloat32: reinterpreted('Float32', [['reinterpretAsFloat32(1065353216)', 1]]),
  reinterpretAsFloat64: reinterpreted('Float64', [["round(reinterpretAsFloat64('abcdefgh') / 1e194, 3)", 8.541]]),
  reinterpretAsUUID: reinterpreted('UUID', [["toString(reinterpretAsUUID('abcdefghijklmnop'))", '68676665-6463-6261-706f-6e6d6c6b6a69']]),
})
