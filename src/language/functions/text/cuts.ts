import { asPosition, once, unlessNull } from '../cells/duckdb-values.ts'
import { inBytes } from '../cells/text-bytes.ts'
import { counted } from '../makes.ts'
import { whenAll } from '../results.ts'
import { type Arg, type SqlCell, sql } from '../row.ts'
import { scalars } from '../scalars.ts'

// Substrings, padding and trimming.

const slice = (text: string, start: string, length: string): string =>
  `CASE WHEN ${start} = 0 THEN left(${text}, 0) WHEN ${length} < 0 THEN array_slice(${text}, ${start}, ${length} - 1) ELSE substring(${text}, ${start}, ${length}) END`
/** DuckDB rejects positions and lengths beyond 32 bits; no text is that long. */
const longest = 2_147_483_647
const isPositive = (arg: Arg): boolean => typeof arg.constant === 'number' && arg.constant > 0 && arg.constant <= longest
const bounded = ({ sql, constant }: Arg): string =>
  typeof constant === 'number' && Math.abs(constant) <= longest ? sql : `greatest(least(${sql}, ${longest}), -${longest})`
const sliceOf = (text: string, start: Arg, length: Arg): string =>
  isPositive(start) && isPositive(length) ? `substring(${text}, ${start.sql}, ${length.sql})` : slice(text, bounded(start), bounded(length))
const blobSlice = (blob: string, start: Arg, length: Arg): string =>
  isPositive(start) && isPositive(length)
    ? `array_slice(${blob}, ${start.sql}, ${start.sql} + ${length.sql} - 1)`
    : `CASE WHEN ${start.sql} = 0 THEN CAST('' AS BLOB) WHEN ${length.sql} < 0 THEN array_slice(${blob}, ${start.sql}, ${length.sql} - 1)` +
      ` WHEN ${start.sql} < 0 THEN array_slice(array_slice(${blob}, ${start.sql}, -1), 1, ${length.sql}) ELSE array_slice(${blob}, ${start.sql}, ${start.sql} + ${length.sql} - 1) END`

const strip =
  (name: 'trim' | 'ltrim' | 'rtrim'): SqlCell =>
  (args) =>
    `${name}(${args[0]!.sql}, ${args[1]?.sql ?? "' '"})`
const trimmed = (name: 'trim' | 'ltrim' | 'rtrim', clickhouse: string, ends: string, cases: readonly [string, string | null][]) => ({
  args: [1, 2] as const,
  returns: whenAll('String'),
  summary: `Removes spaces, or the characters of the second argument, from ${ends}.`,
  duckdb: strip(name),
  clickhouse,
  cases,
})

/** leftPad counts bytes and leftPadUTF8 counts characters: each byte beyond one per character reduces the padding by one. */
const padded =
  (name: 'lpad' | 'rpad', countsBytes: boolean): SqlCell =>
  ([x, length, fill], context) => {
    const filling = fill
      ? typeof fill.constant === 'string' && fill.constant !== ''
        ? fill.sql
        : `coalesce(nullif(${fill.sql}, ''), ' ')`
      : "' '"
    const size = asPosition(length!).sql
    const pad = (text: string, characters: string) => `${name}(${text}, CAST(${characters} AS INTEGER), ${filling})`
    const padding = countsBytes
      ? once(context, x!.sql, (t) => {
          const cut = inBytes(
            context,
            t,
            (letters) => `left(${letters}, greatest(${size}, 0))`,
            (blob) => `array_slice(${blob}, 1, ${size})`,
          )
          const filled = pad(t, `greatest(${size} - (strlen(${t}) - length(${t})), 0)`)
          return `CASE WHEN strlen(${t}) > ${size} THEN ${cut} ELSE ${filled} END`
        })
      : pad(x!.sql, size)
    return fill ? unlessNull([fill], padding) : padding
  }
const padding = (
  name: 'lpad' | 'rpad',
  countsBytes: boolean,
  clickhouse: string,
  arity: readonly [number, number],
  cases: readonly [string, string | null][],
) => ({
  args: arity,
  returns: whenAll('String'),
  summary: `Pads the text on the ${name === 'lpad' ? 'left' : 'right'}, or truncates it, to a length in ${countsBytes ? 'bytes' : 'characters'}.`,
  // A letter has up to four bytes.
  makes: counted((c) => c.times(c.value(1), c.number(4))),
  duckdb: padded(name, countsBytes),
  clickhouse,
  cases,
})

export const cutFunctions = scalars({
  substring: {
    args: 3,
    caseInsensitive: true,
    returns: whenAll('String'),
    summary: 'Bytes of a text from a position (1 is the first, -1 the last); a negative length drops that many from the end.',
    duckdb: (args, context) => {
      const [x, start, length] = [args[0]!, asPosition(args[1]!), asPosition(args[2]!)]
      const sliced = inBytes(
        context,
        x.sql,
        (t) => sliceOf(t, start, length),
        (blob) => blobSlice(blob, start, length),
      )
      return unlessNull([x, start, length], sliced)
    },
    cases: [
      ["substring('hello', 2, 2)", 'el'],
      ["substring('hello', -2, 2)", 'lo'],
      ["substring('hello', 0, 2)", ''],
      ["substring('hello', 2, -1)", 'ell'],
      ["substring('héllo', 2, 2)", 'é'],
      ["substring('hello', 4, 10)", 'lo'],
      ["substring('hello', 2, 4294967296)", 'ello'],
      ['substring(null, 1, 1)', null],
      ['substring(null, 0, 1)', null],
      ["substring('hello', null, 1)", null],
      ["substring('hello', 1, null)", null],
      ["substring('hello', 1, length('hello') / 2)", 'he'],
      ["substring('hello', 1 = 1, 2)", 'he'],
      ["substring('hello', -2.5, 1.9)", 'l'],
    ],
  },
  substringUTF8: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Characters of a text from a position (1 is the first, -1 the last).',
    duckdb: (args, context) => {
      const [x, start, length] = [args[0]!, asPosition(args[1]!), asPosition(args[2]!)]
      if (isPositive(start) && isPositive(length)) return sliceOf(x.sql, start, length)
      return unlessNull(
        [start, length],
        once(context, x.sql, (t) => sliceOf(t, start, length)),
      )
    },
    cases: [
      ["substringUTF8('héllo', 2, 2)", 'él'],
      ["substringUTF8('héllo', -2, 1)", 'l'],
      ["substringUTF8('héllo', 2, -2)", 'él'],
      ["substringUTF8('héllo', 1, null)", null],
      ["substringUTF8('héllo', 1, lengthUTF8('héllo') / 2)", 'hé'],
    ],
  },
  left: {
    args: 2,
    returns: whenAll('String'),
    summary: 'The first characters; a negative number drops that many from the end.',
    duckdb: ([x, size]) => unlessNull([size!], `left(${x!.sql}, ${bounded(asPosition(size!))})`),
    clickhouse: 'leftUTF8',
    cases: [
      ["left('hello', 2)", 'he'],
      ["left('hello', -2)", 'hel'],
      ["left('hello', length('hello') / 2)", 'he'],
      ["left('é', 5)", 'é'],
      ["left('hello', null)", null],
      ["left('hello', 4294967296)", 'hello'],
    ],
  },
  right: {
    args: 2,
    returns: whenAll('String'),
    summary: 'The last characters; a negative number drops that many from the front.',
    duckdb: ([x, size]) => unlessNull([size!], `right(${x!.sql}, ${bounded(asPosition(size!))})`),
    clickhouse: 'rightUTF8',
    cases: [
      ["right('hello', 2)", 'lo'],
      ["right('hello', -2)", 'llo'],
      ["right('hello', 2.5)", 'lo'],
      ["right('hello', null)", null],
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
      ["lpad('é日本', 5, 'xy')", 'é日'],
      ["lpad('hi', 5, null)", null],
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
      ["leftPad('hi', 1 = 1, '0')", 'h'],
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
    ...trimmed('trim', 'trimBoth', 'both ends', [
      ["trim('  a  ')", 'a'],
      ["trim('xyaxy', 'xy')", 'a'],
      ["trim('a\\t')", 'a\t'],
    ]),
    caseInsensitive: true,
  },
  btrim: { ...trimmed('trim', 'trimBoth', 'both ends', [["btrim('  a ')", 'a']]), caseInsensitive: true },
  trimLeft: trimmed('ltrim', 'trimLeft', 'the start', [
    ["trimLeft('  a ')", 'a '],
    ["trimLeft('xxa', 'x')", 'a'],
  ]),
  ltrim: trimmed('ltrim', 'trimLeft', 'the start', [["ltrim('  a ')", 'a ']]),
  trimRight: trimmed('rtrim', 'trimRight', 'the end', [
    ["trimRight(' a  ')", ' a'],
    ["trimRight('axx', 'x')", 'a'],
  ]),
  rtrim: trimmed('rtrim', 'trimRight', 'the end', [["rtrim(' a  ')", ' a']]),
  split_part: {
    args: 3,
    returns: whenAll('String'),
    summary: "Splits the text at a separator and returns the n-th part, from 1; '' if absent.",
    duckdb: sql`split_part(${0}, ${1}, CAST(${2} AS BIGINT))`,
    clickhouse: sql`arrayElement(splitByString(${1}, ${0}), ${2})`,
    cases: [
      ["split_part('abc.def.ghi', '.', 2)", 'def'],
      ["split_part('abc', '.', 2)", ''],
      ["split_part('a.b', '.', -1)", 'b'],
    ],
  },
  appendTrailingCharIfAbsent: {
    args: 2,
    returns: whenAll('String'),
    summary: 'Appends a character unless the text ends with it; an empty text stays empty.',
    duckdb: ([x, c], context) =>
      unlessNull(
        [c!],
        once(context, x!.sql, (t) => `CASE WHEN ${t} = '' OR ends_with(${t}, ${c!.sql}) THEN ${t} ELSE ${t} || ${c!.sql} END`),
      ),
    cases: [
      ["appendTrailingCharIfAbsent('abc', '/')", 'abc/'],
      ["appendTrailingCharIfAbsent('abc/', '/')", 'abc/'],
      ["appendTrailingCharIfAbsent('', '/')", ''],
      ["appendTrailingCharIfAbsent('', null)", null],
    ],
  },
})
