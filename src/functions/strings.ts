import { QueryError } from '../errors/errors.ts'
import { isNamed, isNullable, isText, type SqlType, scalar } from '../types/types.ts'
import { asText } from './clickhouse-values.ts'
import { once, toText } from './duckdb-values.ts'
import { always, whenAll } from './results.ts'
import { type Arg, type CellContext, call, type SqlCell, sql, unsupported } from './row.ts'
import { scalars } from './scalars.ts'

// ClickHouse's text is bytes and DuckDB's is characters. Functions that cut or count bytes take the characters where both are the same
// (all ASCII) and go through a BLOB elsewhere; a cut inside of a character, which ClickHouse would show as a broken one, is not made.

export const upperLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
export const lowerLetters = 'abcdefghijklmnopqrstuvwxyz'
export const asciiLower = (text: string): string => `translate(${text}, '${upperLetters}', '${lowerLetters}')`
export const asciiUpper = (text: string): string => `translate(${text}, '${lowerLetters}', '${upperLetters}')`

/** `onChars` where bytes are characters, else `onBytes` of the BLOB. */
export const inBytes = (context: CellContext, text: string, onChars: (text: string) => string, onBytes: (blob: string) => string): string =>
  once(
    context,
    text,
    (t) =>
      `CASE WHEN strlen(${t}) = length(${t}) THEN ${onChars(t)} ELSE coalesce(TRY(decode(${onBytes(`encode(${t})`)})), ${onChars(t)}) END`,
  )

const concatenated: SqlCell = (args, context) => `concat(${args.map((arg) => toText(arg, context)).join(', ')})`
/** NULL is ''. */
const filledText = (arg: Arg): string => (isNullable(arg.type) ? `ifNull(${asText(arg)}, '')` : asText(arg))

const slice = (text: string, start: string, length: string): string =>
  `CASE WHEN ${start} = 0 THEN '' WHEN ${length} < 0 THEN array_slice(${text}, ${start}, ${length} - 1) ELSE substring(${text}, ${start}, ${length}) END`
const isPositive = (arg: Arg): boolean => typeof arg.constant === 'number' && arg.constant > 0
const sliceOf = (text: string, start: Arg, length: Arg): string =>
  isPositive(start) && isPositive(length) ? `substring(${text}, ${start.sql}, ${length.sql})` : slice(text, start.sql, length.sql)
const blobSlice = (blob: string, start: Arg, length: Arg): string =>
  isPositive(start) && isPositive(length)
    ? `array_slice(${blob}, ${start.sql}, ${start.sql} + ${length.sql} - 1)`
    : `CASE WHEN ${start.sql} = 0 THEN CAST('' AS BLOB) WHEN ${length.sql} < 0 THEN array_slice(${blob}, ${start.sql}, ${length.sql} - 1)` +
      ` WHEN ${start.sql} < 0 THEN array_slice(array_slice(${blob}, ${start.sql}, -1), 1, ${length.sql}) ELSE array_slice(${blob}, ${start.sql}, ${start.sql} + ${length.sql} - 1) END`

const strip =
  (name: 'trim' | 'ltrim' | 'rtrim'): SqlCell =>
  (args) =>
    `${name}(${args[0]!.sql}, ${args[1]?.sql ?? "' '"})`
const trimmed = (name: 'trim' | 'ltrim' | 'rtrim', clickhouse: string, summary: string, cases: readonly [string, string | null][]) => ({
  args: [1, 2] as const,
  returns: whenAll('String'),
  summary: `${summary} of the spaces, or of the characters in the second argument.`,
  duckdb: strip(name),
  clickhouse,
  cases,
})

/** Padding counts bytes in leftPad and characters in leftPadUTF8: each byte above one per character is one pad less. */
const padded =
  (name: 'lpad' | 'rpad', countsBytes: boolean): SqlCell =>
  ([x, length, fill], context) => {
    const filling = fill
      ? typeof fill.constant === 'string' && fill.constant !== ''
        ? fill.sql
        : `coalesce(nullif(${fill.sql}, ''), ' ')`
      : "' '"
    const pad = (text: string, size: string) => `${name}(${text}, CAST(${size} AS INTEGER), ${filling})`
    if (!countsBytes) return pad(x!.sql, length!.sql)
    return once(context, x!.sql, (t) => pad(t, `greatest(${length!.sql} - (strlen(${t}) - length(${t})), 0)`))
  }
const padding = (
  name: 'lpad' | 'rpad',
  countsBytes: boolean,
  clickhouse: string,
  arity: readonly [number, number],
  cases: readonly [string, string][],
) => ({
  args: arity,
  returns: whenAll('String'),
  summary: `The text filled ${name === 'lpad' ? 'in front' : 'at its end'}, or cut, to a length in ${countsBytes ? 'bytes' : 'characters'}.`,
  duckdb: padded(name, countsBytes),
  clickhouse,
  cases,
})

/** `{}`, `{0}` and `{{` of a format as a list of texts and positions. */
function formatParts(format: string): (string | number)[] {
  let next = 0
  return [...format.matchAll(/\{\{|\}\}|\{(\d*)\}|[^{}]+/g)].map(([all, position]) =>
    all === '{{' ? '{' : all === '}}' ? '}' : position === undefined ? all : position === '' ? next++ : Number(position),
  )
}

const isListLike = (type: SqlType): boolean => type.kind === 'array'
const size = (arg: Arg): string =>
  isListLike(arg.type) ? `len(${arg.sql})` : arg.type.kind === 'map' ? `cardinality(${arg.sql})` : `strlen(${arg.sql})`
const nothing = (arg: Arg): string =>
  isNamed(arg.type, 'UUID')
    ? `(${arg.sql} = CAST('00000000-0000-0000-0000-000000000000' AS UUID))`
    : isListLike(arg.type) || arg.type.kind === 'map'
      ? `(${size(arg)} = 0)`
      : `(${arg.sql} = '')`
const something = (arg: Arg): string =>
  isNamed(arg.type, 'UUID')
    ? `(NOT ${nothing(arg)})`
    : isListLike(arg.type) || arg.type.kind === 'map'
      ? `(${size(arg)} > 0)`
      : `(${arg.sql} <> '')`
const emptiness = (isEmpty: boolean, name: string) => ({
  args: 1,
  returns: whenAll('Bool'),
  summary: isEmpty ? 'Whether a text, array or map has nothing in it.' : 'Whether a text, array or map has something in it.',
  duckdb: (([x]) => (isEmpty ? nothing(x!) : something(x!))) satisfies SqlCell,
  clickhouse: isEmpty ? 'empty' : 'notEmpty',
  cases: [
    [`${name}('')`, isEmpty ? 1 : 0],
    [`${name}('a')`, isEmpty ? 0 : 1],
    [`${name}([1])`, isEmpty ? 0 : 1],
    [`${name}(null)`, null],
  ] as const,
})

const xmlNames = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["''", '&apos;'],
] as const

export const stringFunctions = scalars({
  concat: {
    args: [2, null],
    caseInsensitive: true,
    returns: always('String'),
    summary: "The arguments as one text; NULL counts as ''.",
    duckdb: concatenated,
    clickhouse: (args) => `concat(${args.map(filledText).join(', ')})`,
    cases: [
      ["concat('a', 'b')", 'ab'],
      ["concat('a', 1, null, 1.5)", 'a11.5'],
      ["concat(null, '')", ''],
      ["'a' || 2", 'a2'],
      ["concat('x', [1, 2])", 'x[1,2]'],
    ],
  },
  concatWithSeparator: {
    args: [2, null],
    returns: whenAll('String'),
    summary: 'The arguments behind the first as one text with the first between them; NULL when one is NULL.',
    duckdb: ([separator, ...rest], context) => `(${rest.map((arg) => toText(arg, context)).join(` || ${separator!.sql} || `)})`,
    clickhouse: ([separator, ...rest]) => `concatWithSeparator(${[separator!.sql, ...rest.map(asText)].join(', ')})`,
    cases: [
      ["concatWithSeparator(',', 'a', 'b', 1)", 'a,b,1'],
      ["concatWithSeparator(',', 'a', null)", null],
    ],
  },
  length: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('UInt64'),
    summary: 'Bytes of a text, items of an array or map.',
    duckdb: ([x]) => size(x!),
    cases: [
      ["length('héllo')", 6],
      ['length([1, 2])', 2],
      ["length('')", 0],
      ['length(null)', null],
    ],
  },
  lengthUTF8: {
    args: 1,
    returns: whenAll('UInt64'),
    summary: 'Characters of a text.',
    duckdb: call('length'),
    cases: [["lengthUTF8('héllo')", 5]],
  },
  empty: emptiness(true, 'empty'),
  isEmpty: emptiness(true, 'isEmpty'),
  notEmpty: emptiness(false, 'notEmpty'),
  isNotEmpty: emptiness(false, 'isNotEmpty'),
  lower: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('String'),
    summary: 'The letters A to Z as small ones; others stay.',
    duckdb: ([x]) => asciiLower(x!.sql),
    cases: [
      ["lower('ABCÉ')", 'abcÉ'],
      ['lower(null)', null],
    ],
  },
  upper: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('String'),
    summary: 'The letters a to z as capitals; others stay.',
    duckdb: ([x]) => asciiUpper(x!.sql),
    cases: [["upper('abcé')", 'ABCé']],
  },
  lowerUTF8: {
    args: 1,
    returns: whenAll('String'),
    summary: 'All letters as small ones.',
    duckdb: call('lower'),
    cases: [["lowerUTF8('ABCÉ')", 'abcé']],
  },
  upperUTF8: {
    args: 1,
    returns: whenAll('String'),
    summary: 'All letters as capitals.',
    duckdb: call('upper'),
    cases: [["upperUTF8('abcé')", 'ABCÉ']],
  },
  initcap: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Words of the letters A to Z and digits with a capital first.',
    duckdb: ([x], context) => {
      const w = context.fresh()
      const words = `regexp_extract_all(${x!.sql}, '[A-Za-z0-9]+|[^A-Za-z0-9]+')`
      return `array_to_string(list_transform(${words}, lambda ${w}: ${asciiUpper(`left(${w}, 1)`)} || ${asciiLower(`substring(${w}, 2)`)}), '')`
    },
    cases: [
      ["initcap('hello wORLD foo_bar 1abc')", 'Hello World Foo_Bar 1abc'],
      ["initcap('élan vital')", 'éLan Vital'],
    ],
  },
  reverse: {
    args: 1,
    caseInsensitive: true,
    returns: ([x]) => (isListLike(x!) ? x! : scalar('String', isNullable(x!))),
    summary: 'The text (by bytes) or array backwards.',
    duckdb: ([x]) => (isListLike(x!.type) ? `list_reverse(${x!.sql})` : `reverse(${x!.sql})`),
    cases: [
      ["reverse('abc')", 'cba'],
      ['reverse([1, 2])', [2, 1]],
    ],
    differences: [
      { expression: "reverse('é')", reason: 'ClickHouse turns the bytes around, which breaks characters; DuckDB keeps them whole' },
    ],
  },
  reverseUTF8: {
    args: 1,
    returns: whenAll('String'),
    summary: 'The characters of the text backwards.',
    duckdb: call('reverse'),
    cases: [["reverseUTF8('héllo')", 'olléh']],
  },
  substring: {
    args: 3,
    caseInsensitive: true,
    returns: whenAll('String'),
    summary: 'Bytes of a text from a place (1 is the first, -1 the last); a negative length leaves that many off the end.',
    duckdb: ([x, start, length], context) =>
      inBytes(
        context,
        x!.sql,
        (t) => sliceOf(t, start!, length!),
        (blob) => blobSlice(blob, start!, length!),
      ),
    cases: [
      ["substring('hello', 2, 2)", 'el'],
      ["substring('hello', -2, 2)", 'lo'],
      ["substring('hello', 0, 2)", ''],
      ["substring('hello', 2, -1)", 'ell'],
      ["substring('héllo', 2, 2)", 'é'],
      ["substring('hello', 4, 10)", 'lo'],
      ['substring(null, 1, 1)', null],
    ],
  },
  substringUTF8: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Characters of a text from a place (1 is the first, -1 the last).',
    duckdb: ([x, start, length], context) =>
      isPositive(start!) && isPositive(length!)
        ? sliceOf(x!.sql, start!, length!)
        : once(context, x!.sql, (t) => sliceOf(t, start!, length!)),
    cases: [
      ["substringUTF8('héllo', 2, 2)", 'él'],
      ["substringUTF8('héllo', -2, 1)", 'l'],
      ["substringUTF8('héllo', 2, -2)", 'él'],
    ],
  },
  left: {
    args: 2,
    returns: whenAll('String'),
    summary: 'The first characters; a negative number leaves that many off the end.',
    duckdb: call('left'),
    clickhouse: 'leftUTF8',
    cases: [
      ["left('hello', 2)", 'he'],
      ["left('hello', -2)", 'hel'],
      ["left('é', 5)", 'é'],
    ],
  },
  right: {
    args: 2,
    returns: whenAll('String'),
    summary: 'The last characters; a negative number leaves that many off the front.',
    duckdb: call('right'),
    clickhouse: 'rightUTF8',
    cases: [
      ["right('hello', 2)", 'lo'],
      ["right('hello', -2)", 'llo'],
    ],
  },
  lpad: padding(
    'lpad',
    true,
    'leftPad',
    [3, 3],
    [
      ["lpad('hi', 5, 'xy')", 'xyxhi'],
      ["lpad('hi', 1, 'x')", 'h'],
    ],
  ),
  rpad: padding('rpad', true, 'rightPad', [3, 3], [["rpad('hi', 5, 'xy')", 'hixyx']]),
  leftPad: padding(
    'lpad',
    true,
    'leftPad',
    [2, 3],
    [
      ["leftPad('hi', 5)", '   hi'],
      ["leftPad('é', 5, '*')", '***é'],
      ["leftPad('hi', 4, '')", '  hi'],
    ],
  ),
  rightPad: padding(
    'rpad',
    true,
    'rightPad',
    [2, 3],
    [
      ["rightPad('hi', 4, '*')", 'hi**'],
      ["rightPad('hi', 1)", 'h'],
    ],
  ),
  leftPadUTF8: padding('lpad', false, 'leftPadUTF8', [2, 3], [["leftPadUTF8('é', 5, '*')", '****é']]),
  rightPadUTF8: padding('rpad', false, 'rightPadUTF8', [2, 3], [["rightPadUTF8('é', 3)", 'é  ']]),
  trim: {
    ...trimmed('trim', 'trimBoth', 'Clears both ends', [
      ["trim('  a  ')", 'a'],
      ["trim('xyaxy', 'xy')", 'a'],
      ["trim('a\\t')", 'a\t'],
    ]),
    caseInsensitive: true,
  },
  btrim: { ...trimmed('trim', 'trimBoth', 'Clears both ends', [["btrim('  a ')", 'a']]), caseInsensitive: true },
  trimLeft: trimmed('ltrim', 'trimLeft', 'Clears the front', [
    ["trimLeft('  a ')", 'a '],
    ["trimLeft('xxa', 'x')", 'a'],
  ]),
  ltrim: trimmed('ltrim', 'trimLeft', 'Clears the front', [["ltrim('  a ')", 'a ']]),
  trimRight: trimmed('rtrim', 'trimRight', 'Clears the end', [
    ["trimRight(' a  ')", ' a'],
    ["trimRight('axx', 'x')", 'a'],
  ]),
  rtrim: trimmed('rtrim', 'trimRight', 'Clears the end', [["rtrim(' a  ')", ' a']]),
  repeat: {
    args: 2,
    returns: whenAll('String'),
    summary: 'The text a number of times.',
    duckdb: sql`repeat(${0}, CAST(${1} AS INTEGER))`,
    cases: [
      ["repeat('pg', 3)", 'pgpgpg'],
      ["repeat('a', -1)", ''],
    ],
  },
  ascii: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('Int32'),
    summary: 'The first byte as a number; 0 for an empty text.',
    duckdb: ([x], context) =>
      once(context, x!.sql, (t) => `CASE WHEN ${t} = '' THEN 0 ELSE CAST('0x' || left(hex(left(${t}, 1)), 2) AS INTEGER) END`),
    cases: [
      ["ascii('A')", 65],
      ["ascii('')", 0],
      ["ascii('é')", 195],
    ],
  },
  startsWith: {
    args: 2,
    returns: whenAll('Bool'),
    summary: 'Whether the text begins with the second one.',
    duckdb: call('starts_with'),
    cases: [
      ["startsWith('abc', 'ab')", 1],
      ["startsWith('abc', 'b')", 0],
      ["startsWith('abc', '')", 1],
      ["startsWith(null, 'a')", null],
    ],
  },
  endsWith: {
    args: 2,
    returns: whenAll('Bool'),
    summary: 'Whether the text ends with the second one.',
    duckdb: call('ends_with'),
    cases: [
      ["endsWith('abc', 'bc')", 1],
      ["endsWith('abc', 'b')", 0],
    ],
  },
  appendTrailingCharIfAbsent: {
    args: 2,
    returns: whenAll('String'),
    summary: 'The text with a character at its end; an empty text stays empty.',
    duckdb: ([x, c], context) =>
      once(context, x!.sql, (t) => `CASE WHEN ${t} = '' OR ends_with(${t}, ${c!.sql}) THEN ${t} ELSE ${t} || ${c!.sql} END`),
    cases: [
      ["appendTrailingCharIfAbsent('abc', '/')", 'abc/'],
      ["appendTrailingCharIfAbsent('abc/', '/')", 'abc/'],
      ["appendTrailingCharIfAbsent('', '/')", ''],
    ],
  },
  split_part: {
    args: 3,
    returns: whenAll('String'),
    summary: "A part of a text that a separator divides, from 1; '' when there is no such part.",
    duckdb: sql`split_part(${0}, ${1}, CAST(${2} AS BIGINT))`,
    clickhouse: sql`arrayElement(splitByString(${1}, ${0}), ${2})`,
    cases: [
      ["split_part('abc.def.ghi', '.', 2)", 'def'],
      ["split_part('abc', '.', 2)", ''],
      ["split_part('a.b', '.', -1)", 'b'],
    ],
  },
  format: {
    args: [2, null],
    returns: whenAll('String'),
    summary: 'A text with the other arguments in place of {} or {0}, {1}, …; {{ and }} are braces.',
    duckdb: ([format, ...rest], context) => {
      if (typeof format!.constant !== 'string') throw new QueryError('invalid-query', { message: 'The format must be a constant.' })
      const parts = formatParts(format!.constant).map((part) =>
        typeof part === 'string'
          ? context.bind(part)
          : rest[part]
            ? toText(rest[part], context)
            : "error('The format names an argument that is not given')",
      )
      return `(${["''", ...parts].join(' || ')})`
    },
    clickhouse: ([format, ...rest]) => `format(${[format!.sql, ...rest.map(asText)].join(', ')})`,
    cases: [
      ["format('{} and {}', 'a', 1)", 'a and 1'],
      ["format('{1}{0}', 'a', 'b')", 'ba'],
      ["format('{{}} {}', 'a')", '{} a'],
      ["format('{}', null)", null],
    ],
  },
  isValidUTF8: {
    args: 1,
    returns: whenAll('Bool'),
    summary: 'Whether the bytes are valid UTF-8.',
    duckdb: sql`(${0} IS NOT NULL)`,
    cases: [["isValidUTF8('é')", 1]],
  },
  toValidUTF8: {
    args: 1,
    returns: whenAll('String'),
    summary: 'The text with broken characters replaced.',
    duckdb: sql`${0}`,
    cases: [["toValidUTF8('é')", 'é']],
  },
  convertCharset: {
    args: 3,
    returns: whenAll('String'),
    summary: 'The bytes of a text in another character set.',
    duckdb: unsupported('a text of DuckDB is always UTF-8'),
    cases: [["length(convertCharset('é', 'UTF-8', 'ISO-8859-1'))", 1]],
  },
  encodeXMLComponent: {
    args: 1,
    returns: whenAll('String'),
    summary: 'The text with the special characters of XML escaped.',
    duckdb: ([x]) => xmlNames.reduce((text, [char, name]) => `replace(${text}, '${char}', '${name}')`, x!.sql),
    cases: [["encodeXMLComponent('<a & \"b\" ''c''>')", '&lt;a &amp; &quot;b&quot; &apos;c&apos;&gt;']],
  },
  decodeXMLComponent: {
    args: 1,
    returns: whenAll('String'),
    summary: 'The text with the entities of XML as characters.',
    duckdb: ([x], context) => {
      const p = context.fresh()
      const named = xmlNames.map(([char, name]) => `WHEN ${p} = '${name}' THEN '${char}'`).join(' ')
      const hex = `WHEN regexp_full_match(${p}, '&#[xX][0-9a-fA-F]{1,6};') THEN chr(CAST('0x' || substring(${p}, 4, length(${p}) - 4) AS INTEGER))`
      const decimal = `WHEN regexp_full_match(${p}, '&#[0-9]{1,7};') THEN chr(CAST(substring(${p}, 3, length(${p}) - 3) AS INTEGER))`
      const parts = `regexp_extract_all(${x!.sql}, '&#?[0-9A-Za-z]+;|[^&]+|&', 0, 's')`
      return `array_to_string(list_transform(${parts}, lambda ${p}: CASE ${named} ${hex} ${decimal} ELSE ${p} END), '')`
    },
    cases: [
      ["decodeXMLComponent('&lt;a&gt; &amp; &quot; &apos; &#39; &#x41;')", "<a> & \" ' ' A"],
      ["decodeXMLComponent('&#x20ac;&#8364;&nope;&amp')", '€€&nope;&amp'],
    ],
  },
  extractTextFromHTML: {
    args: 1,
    returns: whenAll('String'),
    summary: 'The text of a page without its tags, scripts and styles.',
    duckdb: unsupported('DuckDB has no reader for HTML'),
    cases: [["extractTextFromHTML('<p>Hello <b>World</b></p><script>x</script>')", 'Hello World']],
  },
})
