import { QueryError } from '../../../errors/errors.ts'
import { isNamed, isNullable, type SqlType, scalar } from '../../types/types.ts'
import { asText } from '../cells/clickhouse-values.ts'
import { once, toText, unlessNull } from '../cells/duckdb-values.ts'
import { asciiLower, asciiUpper } from '../cells/text-bytes.ts'
import { counted, parts, textTimes, times } from '../makes.ts'
import { always, whenAll } from '../results.ts'
import { type Arg, type CellContext, call, type SqlCell } from '../row.ts'
import { scalars } from '../scalars.ts'

// Operations on whole texts: concatenation, length, case, reversal.

const concatenated: SqlCell = (args, context) => `concat(${args.map((arg) => toText(arg, context)).join(', ')})`
/** NULL reads as ''. */
const filledText = (arg: Arg, context: CellContext): string =>
  isNullable(arg.type) ? `ifNull(${asText(arg, context)}, '')` : asText(arg, context)

/** `{}`, `{0}` and `{{` of a format, as a list of texts and positions. */
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
  summary: isEmpty ? 'Whether a text, array or map is empty.' : 'Whether a text, array or map is not empty.',
  duckdb: (([x]) => (isEmpty ? nothing(x!) : something(x!))) satisfies SqlCell,
  clickhouse: isEmpty ? 'empty' : 'notEmpty',
  cases: [
    [`${name}('')`, isEmpty ? 1 : 0],
    [`${name}('a')`, isEmpty ? 0 : 1],
    [`${name}([1])`, isEmpty ? 0 : 1],
    [`${name}(null)`, null],
  ] as const,
})

export const stringFunctions = scalars({
  concat: {
    args: [2, null],
    caseInsensitive: true,
    returns: always('String'),
    summary: "The arguments as one text; NULL counts as ''.",
    makes: ({ args }) => times(textTimes(args.map(({ type }) => type))),
    duckdb: concatenated,
    clickhouse: (args, context) => `concat(${args.map((arg) => filledText(arg, context)).join(', ')})`,
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
    summary: 'Joins the other arguments with the first as separator; NULL if any is NULL.',
    makes: ({ args }) => (args[0]?.constant === undefined ? times(args.length) : times(textTimes(args.map(({ type }) => type)) + 1)),
    duckdb: ([separator, ...rest], context) => `(${rest.map((arg) => toText(arg, context)).join(` || ${separator!.sql} || `)})`,
    clickhouse: ([separator, ...rest], context) =>
      `concatWithSeparator(${[separator!.sql, ...rest.map((arg) => asText(arg, context))].join(', ')})`,
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
    summary: 'Converts A to Z to lower case; other letters stay.',
    duckdb: ([x], context) => asciiLower(x!.sql, context),
    cases: [
      ["lower('ABCÉ')", 'abcÉ'],
      ['lower(null)', null],
    ],
  },
  upper: {
    args: 1,
    caseInsensitive: true,
    returns: whenAll('String'),
    summary: 'Converts a to z to upper case; other letters stay.',
    duckdb: ([x], context) => asciiUpper(x!.sql, context),
    cases: [["upper('abcé')", 'ABCé']],
  },
  lowerUTF8: {
    args: 1,
    makes: times(2),
    returns: whenAll('String'),
    summary: 'Converts all letters to lower case.',
    duckdb: call('lower'),
    cases: [["lowerUTF8('ABCÉ')", 'abcé']],
  },
  upperUTF8: {
    args: 1,
    makes: times(2),
    returns: whenAll('String'),
    summary: 'Converts all letters to upper case.',
    duckdb: call('upper'),
    cases: [["upperUTF8('abcé')", 'ABCÉ']],
  },
  initcap: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Capitalizes each word of the letters A to Z and digits.',
    scratch: parts(3),
    duckdb: ([x], context) => {
      const w = context.fresh()
      const words = `regexp_extract_all(${x!.sql}, '[A-Za-z0-9]+|[^A-Za-z0-9]+')`
      // Separators between words contain no ASCII letters.
      const word = `CASE WHEN strlen(${w}) = length(${w}) THEN upper(left(${w}, 1)) || lower(substring(${w}, 2)) ELSE ${w} END`
      return `array_to_string(list_transform(${words}, lambda ${w}: ${word}), '')`
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
    summary: 'Reverses a text (by bytes) or an array.',
    duckdb: ([x]) => (isListLike(x!.type) ? `list_reverse(${x!.sql})` : `reverse(${x!.sql})`),
    cases: [
      ["reverse('abc')", 'cba'],
      ['reverse([1, 2])', [2, 1]],
    ],
    differences: [
      {
        expression: "reverse('é')",
        duckdb: { value: 'é' },
        clickhouse: { value: '\uFFFD' },
        reason: 'ClickHouse reverses the bytes, which breaks characters; a text of DuckDB cannot hold invalid ones',
      },
    ],
  },
  reverseUTF8: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Reverses the characters of a text.',
    duckdb: call('reverse'),
    cases: [["reverseUTF8('héllo')", 'olléh']],
  },
  repeat: {
    args: 2,
    returns: whenAll('String'),
    summary: 'Repeats the text a number of times.',
    makes: counted((c) => c.times(c.bytes(0), c.value(1))),
    duckdb: ([text, times]) => `repeat(${text!.sql}, CAST(${times!.sql} AS INTEGER))`,
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
      // The first byte of the character's UTF-8, from its code point.
      once(context, x!.sql, (t) => {
        const number = `unicode(${t})`
        return `CASE WHEN ${t} = '' THEN 0 WHEN ${number} < 128 THEN ${number} WHEN ${number} < 2048 THEN 192 + (${number} >> 6) WHEN ${number} < 65536 THEN 224 + (${number} >> 12) ELSE 240 + (${number} >> 18) END`
      }),
    cases: [
      ["ascii('A')", 65],
      ["ascii('')", 0],
      ["ascii('é')", 195],
      ["ascii('€')", 226],
      ["ascii('😀')", 240],
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
  format: {
    args: [2, null],
    returns: whenAll('String'),
    summary: 'Formats the arguments into a template: {} or {0}, {1}, …; {{ and }} are literal braces.',
    makes: ({ args }) => times(textTimes(args.map(({ type }) => type)) * Math.max(1, formatParts(String(args[0]?.constant)).length)),
    duckdb: ([format, ...rest], context) => {
      if (typeof format!.constant !== 'string') throw new QueryError('invalid-query', { message: 'The format must be a constant.' })
      const parts = formatParts(format!.constant).map((part) =>
        typeof part === 'string'
          ? context.bind(part)
          : rest[part]
            ? toText(rest[part], context)
            : context.refuse("'The format names an argument that is not given'"),
      )
      return unlessNull(rest, `(${["''", ...parts].join(' || ')})`)
    },
    clickhouse: ([format, ...rest], context) => `format(${[format!.sql, ...rest.map((arg) => asText(arg, context))].join(', ')})`,
    cases: [
      ["format('{} and {}', 'a', 1)", 'a and 1'],
      ["format('{1}{0}', 'a', 'b')", 'ba'],
      ["format('{{}} {}', 'a')", '{} a'],
      ["format('{}', null)", null],
      ["format('a', null)", null],
    ],
  },
})
