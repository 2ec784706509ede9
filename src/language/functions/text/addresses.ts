import { isNamed, isNullable, isNumeric, isText, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { asInteger, once, onceAll, unlessNull } from '../cells/duckdb-values.ts'
import { always, orNull, whenAll } from '../results.ts'
import type { Arg, CellContext, SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// IPv4 and IPv6 addresses. DuckDB has no type for them, so they are stored as canonical text.

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|0{0,2}[1-9]?[0-9])'
const v4 = `${byte}(?:\\.${byte}){3}`
const isV4 = (text: string): string => `regexp_full_match(${text}, '${v4}')`

const numberOfV4 = (text: string, context: CellContext): string =>
  once(context, `CAST(${text} AS VARCHAR)`, (t) => {
    const part = (i: number) => `CAST(split_part(${t}, '.', ${i}) AS BIGINT)`
    return `CASE WHEN ${isV4(t)} THEN ((${part(1)} * 256 + ${part(2)}) * 256 + ${part(3)}) * 256 + ${part(4)} END`
  })
const v4OfNumber = (number: string, context: CellContext): string =>
  once(
    context,
    number,
    (n) => `(${[16777216, 65536, 256, 1].map((size) => `CAST((${n} // ${size}) % 256 AS VARCHAR)`).join(" || '.' || ")})`,
  )
const v4OfNumberOrNull = (number: string, context: CellContext): string =>
  once(context, number, (n) => `CASE WHEN ${n} IS NOT NULL THEN ${v4OfNumber(n, context)} END`)

const group = '[0-9a-fA-F]{1,4}'
/** Eight groups, or fewer around one `::`; the last two may be an IPv4 address. */
const isV6 = (text: string): string => {
  const forms = [
    `(?:${group}:){7}${group}`,
    `(?:${group}:){6}${v4}`,
    ...Array.from(
      { length: 8 },
      (_, i) => `(?:${group}(?::${group}){0,${i}})?::(?:${group}(?::${group}){0,${Math.max(6 - i - 1, 0)}})?`,
    ).slice(0, 7),
    `(?:${group}(?::${group}){0,4})?::(?:${group}:){0,5}${v4}`,
  ]
  return `(regexp_full_match(${text}, '${forms.join('|')}') AND len(string_split(${text}, ':')) <= 9)`
}

const mappedPrefix = '00000000000000000000ffff'

/** 32 hexadecimal digits; NULL for an invalid IPv6 address. With `mapsV4` an IPv4 address becomes its mapped form. */
function digitsOfV6(text: string, context: CellContext, mapsV4: boolean): string {
  return once(context, text, (t) => {
    const tail = `regexp_extract(${t}, '(${v4})$', 1)`
    const hexTail = once(context, numberOfV4(tail, context), (n) => `lower(printf('%x:%x', ${n} // 65536, ${n} % 65536))`)
    const plain = `CASE WHEN contains(${t}, '.') THEN regexp_replace(${t}, '${v4}$', '') || ${hexTail} ELSE lower(${t}) END`
    const digits = once(context, plain, (p) => {
      const g = context.fresh()
      const groups = (side: string) =>
        `list_transform(list_filter(string_split(${side}, ':'), lambda ${g}: ${g} <> ''), lambda ${g}: lpad(${g}, 4, '0'))`
      const joined = (side: string) => `array_to_string(${groups(side)}, '')`
      return onceAll(
        context,
        [joined(`split_part(${p}, '::', 1)`), joined(`split_part(${p}, '::', 2)`)],
        (a, b) => `${a} || repeat('0', CAST(32 - length(${a}) - length(${b}) AS INTEGER)) || ${b}`,
      )
    })
    const mapped = mapsV4 ? ` WHEN ${isV4(t)} THEN '${mappedPrefix}' || lpad(lower(to_hex(${numberOfV4(t, context)})), 8, '0')` : ''
    return `CASE WHEN ${isV6(t)} THEN ${digits}${mapped} END`
  })
}

/** The shortest form: the longest run of zero groups becomes `::`, and a mapped address ends in its IPv4 form. */
function v6OfDigits(digits: string, context: CellContext): string {
  return once(context, digits, (d) => {
    const i = context.fresh()
    const groups = `list_transform(range(0, 8), lambda ${i}: CASE WHEN ltrim(substring(${d}, ${i} * 4 + 1, 4), '0') = '' THEN '0' ELSE ltrim(substring(${d}, ${i} * 4 + 1, 4), '0') END)`
    const shortened = once(context, `array_to_string(${groups}, ':')`, (t) => {
      const runs = [8, 7, 6, 5, 4, 3, 2].map((length) => {
        const run = `(^|:)0(?::0){${length - 1}}(:|$)`
        return `WHEN regexp_matches(${t}, '${run}') THEN regexp_replace(${t}, '${run}', '::')`
      })
      return `CASE ${runs.join(' ')} ELSE ${t} END`
    })
    const mapped = v4OfNumber(`CAST('0x' || right(${d}, 8) AS BIGINT)`, context)
    return `CASE WHEN starts_with(${d}, '${mappedPrefix}') THEN '::ffff:' || ${mapped} WHEN ${d} IS NOT NULL THEN ${shortened} END`
  })
}

/** Of an address, its text or its number; NULL for an invalid one. */
const numberOfAny = (x: Arg, context: CellContext): string => {
  if (isNumeric(x.type) || isNamed(x.type, 'Bool')) return asInteger(x)
  // The address that a mapped one maps.
  return numberOfV4(isNamed(x.type, 'IPv6') ? `regexp_replace(${x.sql}, '^::ffff:', '')` : x.sql, context)
}
const v4OfAny = (x: Arg, context: CellContext): string => v4OfNumberOrNull(numberOfAny(x, context), context)
const failing = (value: string, message: string, context: CellContext): string => `coalesce(${value}, ${context.refuse(`'${message}'`)})`

type Family = 'IPv4' | 'IPv6'
const read = (family: Family, x: Arg, context: CellContext): string =>
  family === 'IPv4' ? v4OfAny(x, context) : isNamed(x.type, 'IPv6') ? x.sql : v6OfDigits(digitsOfAny(x, context), context)
const zero: Readonly<Record<Family, string>> = { IPv4: "'0.0.0.0'", IPv6: "'::'" }
const address = (family: Family, ending: '' | 'OrNull' | 'OrDefault' | 'OrZero'): ScalarSpec => {
  const name = `to${family}${ending}`
  const sample = family === 'IPv4' ? '1.2.3.4' : '2001:db8::1'
  return {
    args: 1,
    returns: ending === 'OrNull' ? orNull(family) : ending === 'OrDefault' ? always(family) : whenAll(family),
    summary: `The ${family} address in a text; ${ending === '' ? 'fails when there is none, and is NULL if the text may be NULL' : ending === 'OrNull' ? 'NULL when there is none' : `${zero[family].slice(1, -1)} when there is none`}.`,
    duckdb: ([x], context) => {
      // Only texts are read there.
      if (ending === 'OrDefault' && isNumeric(x!.type)) return zero[family]
      const value = read(family, x!, context)
      // As ClickHouse casts: what may be NULL becomes NULL, also where it is no address.
      if (ending === 'OrNull' || (ending === '' && isNullable(x!.type))) return value
      const found = ending === '' ? failing(value, `The text is not an ${family} address`, context) : `coalesce(${value}, ${zero[family]})`
      // For OrDefault NULL becomes the default; for the others it stays NULL.
      return ending === 'OrDefault' ? found : unlessNull([x!], found)
    },
    cases: [
      [`toString(${name}('${sample}'))`, sample],
      ...(ending === '' ? [[`${name}(toNullableString('nope'))`, null] as const] : []),
      ...(ending === 'OrNull'
        ? [[`${name}('nope')`, null] as const]
        : ending === ''
          ? []
          : [[`toString(${name}('nope'))`, zero[family].slice(1, -1)] as const]),
      ...(family === 'IPv6'
        ? ([
            [`toString(${name}('2001:DB8:0:0:A:0:0:1'))`, '2001:db8::a:0:0:1'],
            [`toString(${name}('::1'))`, '::1'],
            [`toString(${name}('1.2.3.4'))`, '::ffff:1.2.3.4'],
            [`toString(${name}('::ffff:1.2.3.4'))`, '::ffff:1.2.3.4'],
          ] as const)
        : []),
    ],
  }
}

const rangeOfV4: SqlCell = ([x, bits], context) =>
  onceAll(context, [numberOfAny(x!, context), `CAST(pow(2.0, 32 - least(${bits!.sql}, 32)) AS BIGINT)`], (n, size) => {
    const low = `(${n} // ${size} * ${size})`
    return `row(${v4OfNumber(low, context)}, ${v4OfNumber(`(${low} + ${size} - 1)`, context)})`
  })

const isInRange: SqlCell = ([x, range], context) => {
  const network = `split_part(${range!.sql}, '/', 1)`
  const bits = `TRY_CAST(split_part(${range!.sql}, '/', 2) AS INTEGER)`
  const v4s = onceAll(
    context,
    [numberOfV4(x!.sql, context), numberOfV4(network, context), `CAST(pow(2.0, 32 - ${bits}) AS BIGINT)`],
    (a, b, size) => `(${a} // ${size} = ${b} // ${size})`,
  )
  const v6s = onceAll(
    context,
    [digitsOfV6(`CAST(${x!.sql} AS VARCHAR)`, context, false), digitsOfV6(network, context, false), bits],
    (a, b, n) => {
      const nibble = (digits: string) => `CAST('0x' || substring(${digits}, ${n} // 4 + 1, 1) AS INTEGER) >> (4 - ${n} % 4)`
      return `(left(${a}, ${n} // 4) = left(${b}, ${n} // 4) AND (${n} % 4 = 0 OR (${nibble(a!)}) = (${nibble(b!)})))`
    },
  )
  return `coalesce(${v4s}, ${v6s}, false)`
}

/** 16 bytes: a BLOB on DuckDB, whose texts hold characters only. */
const bytesOfV6 = (x: Arg, context: CellContext): string => `unhex(${digitsOfAny(x, context)})`
const digitsOfBytes = (bytes: string, context: CellContext): string =>
  once(context, `lower(hex(${bytes}))`, (digits) => {
    const refusal = context.refuse("'The 16 bytes of an IPv6 address are needed: use IPv6StringToNum or toIPv6 for a text'")
    return `CASE WHEN typeof(${bytes}) = 'BLOB' AND length(${digits}) = 32 THEN ${digits} WHEN ${digits} IS NOT NULL THEN ${refusal} END`
  })
/** Of an address of any type, which is text, or of the 16 bytes of one. */
const digitsOfAddress = ({ sql, type }: Arg, context: CellContext): string =>
  isNamed(type, 'IPv6', 'IPv4') ? digitsOfV6(sql, context, true) : digitsOfBytes(sql, context)
/** The same where a text may be written out too. Texts and bytes have one type in the language. */
const digitsOfAny = (x: Arg, context: CellContext): string => {
  if (!isText(x.type) || typeof x.constant === 'string') return digitsOfV6(x.sql, context, true)
  return once(context, x.sql, (value) => {
    const bytes = `CASE WHEN length(hex(${value})) = 32 THEN lower(hex(${value})) END`
    return `CASE WHEN typeof(${value}) = 'BLOB' THEN ${bytes} ELSE ${digitsOfV6(`CAST(${value} AS VARCHAR)`, context, true)} END`
  })
}

const rangeOfV6: SqlCell = ([x, bits], context) =>
  onceAll(context, [digitsOfAny(x!, context), `greatest(0, least(${bits!.sql}, 128))`], (digits, n) => {
    const left = `left(${digits}, CAST(${n} // 4 AS BIGINT))`
    const nibble = `CAST('0x' || substring(${digits}, ${n} // 4 + 1, 1) AS INTEGER)`
    const low = `((${nibble} >> (4 - ${n} % 4)) << (4 - ${n} % 4))`
    const end = (value: string, rest: string) =>
      v6OfDigits(`rpad(${left} || CASE WHEN ${n} % 4 = 0 THEN '' ELSE printf('%x', ${value}) END, 32, '${rest}')`, context)
    return `row(${end(low, '0')}, ${end(`(${low} | ((1 << (4 - ${n} % 4)) - 1))`, 'f')})`
  })
const cutV6: SqlCell = ([x, v6, v4], context) =>
  once(context, digitsOfAddress(x!, context), (digits) => {
    const bytes = `CASE WHEN starts_with(${digits}, '${mappedPrefix}') THEN ${v4!.sql} ELSE ${v6!.sql} END`
    return v6OfDigits(`rpad(left(${digits}, CAST(32 - 2 * least(${bytes}, 16) AS BIGINT)), 32, '0')`, context)
  })
const pair = (family: Family) => (): SqlType => tupleOf([scalar(family), scalar(family)])

export const addressFunctions = scalars({
  IPv4NumToString: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Formats a number as an IPv4 address.',
    duckdb: ([x], context) => (isNamed(x!.type, 'IPv4') ? x!.sql : v4OfNumber(asInteger(x!), context)),
    cases: [
      ['IPv4NumToString(1123636229)', '66.249.84.5'],
      ['IPv4NumToString(null)', null],
    ],
  },
  IPv4StringToNum: {
    args: 1,
    returns: whenAll('UInt32'),
    summary: 'Converts an IPv4 address to a number; an error if it is invalid.',
    duckdb: ([x], context) => unlessNull([x!], failing(numberOfV4(x!.sql, context), 'The text is not an IPv4 address', context)),
    cases: [["IPv4StringToNum('66.249.84.5')", 1123636229]],
  },
  IPv4StringToNumOrDefault: {
    args: 1,
    returns: whenAll('UInt32'),
    summary: 'Converts an IPv4 address to a number; 0 if it is invalid.',
    duckdb: ([x], context) => unlessNull([x!], `coalesce(${numberOfV4(x!.sql, context)}, 0)`),
    cases: [["IPv4StringToNumOrDefault('nope')", 0]],
  },
  IPv4StringToNumOrNull: {
    args: 1,
    returns: orNull('UInt32'),
    summary: 'Converts an IPv4 address to a number; NULL if it is invalid.',
    duckdb: ([x], context) => numberOfV4(x!.sql, context),
    cases: [
      ["IPv4StringToNumOrNull('1.2.3.4')", 16909060],
      ["IPv4StringToNumOrNull('1.2.3')", null],
    ],
  },
  isIPv4String: {
    args: 1,
    returns: whenAll('Bool'),
    summary: 'Whether the text is an IPv4 address.',
    duckdb: ([x]) => isV4(x!.sql),
    cases: [
      ["isIPv4String('1.2.3.4')", 1],
      ["isIPv4String('1.2.3.400')", 0],
      ["isIPv4String('::1')", 0],
    ],
  },
  isIPv6String: {
    args: 1,
    returns: whenAll('Bool'),
    summary: 'Whether the text is an IPv6 address.',
    duckdb: ([x], context) => once(context, x!.sql, isV6),
    cases: [
      ["isIPv6String('::1')", 1],
      ["isIPv6String('2001:db8:0:0:0:0:0:1')", 1],
      ["isIPv6String('::ffff:1.2.3.4')", 1],
      ["isIPv6String('1.2.3.4')", 0],
      ["isIPv6String('1::2::3')", 0],
      ["isIPv6String('1:2:3')", 0],
    ],
  },
  toIPv4: address('IPv4', ''),
  toIPv4OrNull: address('IPv4', 'OrNull'),
  toIPv4OrDefault: address('IPv4', 'OrDefault'),
  toIPv4OrZero: address('IPv4', 'OrZero'),
  toIPv6: address('IPv6', ''),
  toIPv6OrNull: address('IPv6', 'OrNull'),
  toIPv6OrDefault: address('IPv6', 'OrDefault'),
  toIPv6OrZero: address('IPv6', 'OrZero'),
  IPv4ToIPv6: {
    args: 1,
    returns: whenAll('IPv6'),
    summary: 'Maps an IPv4 address to IPv6 (`::ffff:a.b.c.d`).',
    duckdb: ([x], context) =>
      unlessNull([x!], `('::ffff:' || ${failing(v4OfAny(x!, context), 'The text is not an IPv4 address', context)})`),
    // Of a number it returns bytes instead of an address.
    clickhouse: ([x]) => `IPv4ToIPv6(toIPv4(${x!.sql}))`,
    cases: [
      ["toString(IPv4ToIPv6(toIPv4('1.2.3.4')))", '::ffff:1.2.3.4'],
      ["toString(IPv4ToIPv6(IPv4StringToNum('1.2.3.4')))", '::ffff:1.2.3.4'],
    ],
  },
  IPv4CIDRToRange: {
    args: 2,
    returns: pair('IPv4'),
    summary: 'First and last address of a CIDR range.',
    duckdb: rangeOfV4,
    cases: [
      ["toString(tupleElement(IPv4CIDRToRange(toIPv4('192.168.5.2'), 16), 1))", '192.168.0.0'],
      ["toString(tupleElement(IPv4CIDRToRange(toIPv4('192.168.5.2'), 16), 2))", '192.168.255.255'],
      ["toString(tupleElement(IPv4CIDRToRange(toIPv4('192.168.5.2'), 40), 2))", '192.168.5.2'],
    ],
  },
  isIPAddressInRange: {
    args: 2,
    returns: () => scalar('Bool'),
    summary: 'Whether an address is within a CIDR range; false if it is invalid.',
    duckdb: isInRange,
    clickhouse: ([x, range]) => {
      const text = isText(x!.type) ? x!.sql : `toString(${x!.sql})`
      const address = isNullable(x!.type) ? `ifNull(${text}, '')` : text
      return `if(or(isIPv4String(${address}), isIPv6String(${address})), isIPAddressInRange(if(or(isIPv4String(${address}), isIPv6String(${address})), ${address}, '::'), ${range!.sql}), 0)`
    },
    cases: [
      ["isIPAddressInRange('66.249.84.5', '66.249.80.0/20')", 1],
      ["isIPAddressInRange('66.249.64.5', '66.249.80.0/20')", 0],
      ["isIPAddressInRange('0', '10.0.0.0/8')", 0],
      ["isIPAddressInRange(toIPv4('192.168.5.2'), '192.168.0.0/16')", 1],
      ["isIPAddressInRange('2001:db8::1', '2001:db8::/33')", 1],
      ["isIPAddressInRange('2001:db9::1', '2001:db8::/32')", 0],
      ["isIPAddressInRange('10.0.0.1', '2001:db8::/32')", 0],
    ],
  },
  IPv6NumToString: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Formats 16 bytes as an IPv6 address.',
    duckdb: ([x], context) => v6OfDigits(digitsOfAddress(x!, context), context),
    cases: [
      ["IPv6NumToString(IPv6StringToNum('::1'))", '::1'],
      ["IPv6NumToString(IPv6StringToNum('2001:DB8:0:0:A::1'))", '2001:db8::a:0:0:1'],
      ["IPv6NumToString(IPv6StringToNum('1.2.3.4'))", '::ffff:1.2.3.4'],
      ["IPv6NumToString(IPv6StringToNumOrNull('x'))", null],
      ["IPv6NumToString(IPv4ToIPv6(IPv4StringToNum('1.2.3.4')))", '::ffff:1.2.3.4'],
      ["IPv6NumToString(toIPv6('2001:db8::1'))", '2001:db8::1'],
    ],
  },
  IPv6StringToNum: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Converts an IPv6 address to its 16 bytes.',
    duckdb: ([x], context) => unlessNull([x!], failing(bytesOfV6(x!, context), 'The text is not an IPv6 address', context)),
    cases: [["hex(IPv6StringToNum('2001:db8::1'))", '20010DB8000000000000000000000001']],
  },
  IPv6StringToNumOrDefault: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Converts an IPv6 address to its 16 bytes; zeros if it is invalid.',
    duckdb: ([x], context) => unlessNull([x!], `coalesce(${bytesOfV6(x!, context)}, unhex('${'0'.repeat(32)}'))`),
    cases: [
      ["hex(IPv6StringToNumOrDefault('x'))", '0'.repeat(32)],
      ["IPv6NumToString(IPv6StringToNumOrDefault('x'))", '::'],
    ],
  },
  IPv6StringToNumOrNull: {
    args: 1,
    returns: orNull('String'),
    summary: 'Converts an IPv6 address to its 16 bytes; NULL if it is invalid.',
    duckdb: ([x], context) => bytesOfV6(x!, context),
    cases: [
      ["IPv6StringToNumOrNull('x')", null],
      ["isNull(IPv6StringToNumOrNull('::1'))", 0],
    ],
  },
  IPv6CIDRToRange: {
    args: 2,
    returns: pair('IPv6'),
    summary: 'First and last address of a CIDR range.',
    duckdb: rangeOfV6,
    cases: [
      ["toString(tupleElement(IPv6CIDRToRange(toIPv6('2001:db8::1'), 32), 1))", '2001:db8::'],
      ["toString(tupleElement(IPv6CIDRToRange(toIPv6('2001:db8::1'), 32), 2))", '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
      ["toString(tupleElement(IPv6CIDRToRange(toIPv6('2001:db8:0:abcd::1'), 50), 1))", '2001:db8:0:8000::'],
      ["toString(tupleElement(IPv6CIDRToRange(toIPv6('2001:db8:0:abcd::1'), 50), 2))", '2001:db8:0:bfff:ffff:ffff:ffff:ffff'],
      ["toString(tupleElement(IPv6CIDRToRange(toIPv6('::5'), 128), 2))", '::5'],
      ["toString(tupleElement(IPv6CIDRToRange(toIPv6('::5'), 0), 1))", '::'],
    ],
  },
  cutIPv6: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Sets the last bytes of an IPv6 address to zero.',
    duckdb: cutV6,
    cases: [
      ["cutIPv6(IPv6StringToNum('2001:db8::abcd'), 2, 0)", '2001:db8::'],
      ["cutIPv6(IPv6StringToNum('2001:db8::abcd'), 0, 2)", '2001:db8::abcd'],
      ["cutIPv6(IPv6StringToNum('1.2.3.4'), 15, 1)", '::ffff:1.2.3.0'],
      ["toString(cutIPv6(toIPv6('2001:db8::8a2e:370:7334'), 2, 0))", '2001:db8::8a2e:370:0'],
    ],
  },
})
