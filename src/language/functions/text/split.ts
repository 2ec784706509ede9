import { isNullable } from '../../types/types.ts'
import { once } from '../cells/duckdb-values.ts'
import { counted, headBytes, parts } from '../makes.ts'
import { listOfTexts } from '../results.ts'
import { type Arg, type Case, type CellContext, type Difference, differing } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { wordPattern } from './search.ts'

// Splitting texts into arrays. An array cannot be NULL on ClickHouse: a NULL text is split like ''.

const filled = (arg: Arg): string => (isNullable(arg.type) ? `coalesce(${arg.sql}, '')` : arg.sql)
const filledOnClickhouse = (arg: Arg): string => (isNullable(arg.type) ? `ifNull(${arg.sql}, '')` : arg.sql)

/** The third argument of the split functions: the maximum number of parts; all if it is 0 or less. */
function upTo(list: string, most: Arg | undefined): string {
  if (!most) return list
  if (typeof most.constant === 'number') return most.constant > 0 ? `array_slice(${list}, 1, ${most.sql})` : list
  return `array_slice(${list}, 1, CASE WHEN ${most.sql} > 0 THEN ${most.sql} ELSE 9223372036854775807 END)`
}

/** Between separators; an empty separator splits all characters. For an empty text ClickHouse then returns no parts, otherwise one. */
function between(text: string, { sql, constant }: Arg, context: CellContext, split: (text: string) => string): string {
  if (constant !== undefined && constant !== '') return split(text)
  const none = constant === undefined ? `${sql} = '' AND ` : ''
  return once(context, text, (t) => `CASE WHEN ${none}${t} = '' THEN [] ELSE ${split(t)} END`)
}

const inBytes = 'without a separator ClickHouse divides a text into its bytes, DuckDB into its characters'
const divided = (
  name: string,
  summary: string,
  duckdb: (text: string, separator: Arg, context: CellContext) => string,
  cases: readonly Case[],
  differences: readonly Difference[] = [],
): ScalarSpec => ({
  differences,
  args: [2, 3],
  returns: listOfTexts,
  summary,
  makes: parts(),
  duckdb: ([separator, text, most], context) => upTo(duckdb(filled(text!), separator!, context), most),
  clickhouse: ([separator, text, most]) =>
    `${name}(${[separator!.sql, filledOnClickhouse(text!), ...(most ? [most.sql] : [])].join(', ')})`,
  cases,
})
const pieces = (name: string, summary: string, pattern: string, cases: readonly Case[]): ScalarSpec => ({
  args: [1, 2],
  returns: listOfTexts,
  summary,
  makes: parts(),
  duckdb: ([text, most]) => upTo(`regexp_extract_all(${filled(text!)}, '${pattern}')`, most),
  clickhouse: ([text, most]) => `${name}(${[filledOnClickhouse(text!), ...(most ? [most.sql] : [])].join(', ')})`,
  cases,
})

export const splitFunctions = scalars({
  splitByChar: divided(
    'splitByChar',
    'Splits a text at a character; the third argument limits the number of parts.',
    (text, separator) => `string_split(${text}, ${separator.sql})`,
    [
      ["splitByChar(',', 'a,b,,c')", ['a', 'b', '', 'c']],
      ["splitByChar(',', '')", ['']],
      ["splitByChar(',', 'a,b,c', 2)", ['a', 'b']],
      ["splitByChar(',', 'a,b,c', 0)", ['a', 'b', 'c']],
      ["splitByChar(',', toNullable('a,b'))", ['a', 'b']],
    ],
  ),
  splitByString: divided(
    'splitByString',
    'Splits a text at a separator; into characters if that is empty.',
    (text, separator, context) => between(text, separator, context, (t) => `string_split(${t}, ${separator.sql})`),
    [
      ["splitByString(', ', 'a, b')", ['a', 'b']],
      ["splitByString('', 'abc')", ['a', 'b', 'c']],
      ["splitByString('', '')", []],
      ["splitByString(',', '')", ['']],
      ["splitByString('ab', 'xabyabz', 2)", ['x', 'y']],
    ],
    [differing("splitByString('', 'é')", ['é'], ['\uFFFD', '\uFFFD'], inBytes)],
  ),
  splitByRegexp: {
    compiles: { at: 0, as: 'regexp' },
    ...divided(
      'splitByRegexp',
      'Splits a text at the matches of a regular expression.',
      (text, pattern, context) =>
        between(text, pattern, context, (t) =>
          pattern.constant === '' ? `string_split(${t}, '')` : `regexp_split_to_array(${t}, ${pattern.sql}, 's')`,
        ),
      [
        ["splitByRegexp('[0-9]+', 'a12bc3')", ['a', 'bc', '']],
        ["splitByRegexp('', 'abc')", ['a', 'b', 'c']],
        ["splitByRegexp('', '')", []],
        ["splitByRegexp('', null)", []],
        ["splitByRegexp(',', '')", ['']],
        ["splitByRegexp('[0-9]', '1a2', 2)", ['', 'a']],
      ],
      [differing("splitByRegexp('', 'é')", ['é'], ['\uFFFD', '\uFFFD'], inBytes)],
    ),
  },
  splitByWhitespace: pieces('splitByWhitespace', 'Splits a text at white space.', '[^\\s]+', [
    ["splitByWhitespace('  a b\\t c ')", ['a', 'b', 'c']],
    ["splitByWhitespace('a b c', 2)", ['a', 'b']],
  ]),
  splitByNonAlpha: pieces('splitByNonAlpha', 'Splits a text at white space and punctuation.', wordPattern, [
    ["splitByNonAlpha('a_b-c é d!')", ['a', 'b', 'c', 'é', 'd']],
  ]),
  alphaTokens: pieces('alphaTokens', 'Substrings of the letters a to z and A to Z.', '[A-Za-z]+', [
    ["alphaTokens('abca1abc')", ['abca', 'abc']],
    ["alphaTokens('a1b2c', 2)", ['a', 'b']],
  ]),
  tokens: { ...pieces('tokens', 'The words of a text.', wordPattern, [["tokens('a-b c_d é')", ['a', 'b', 'c', 'd', 'é']]]), args: 1 },
  ngrams: {
    args: 2,
    returns: listOfTexts,
    summary: 'All n-grams of a text: its substrings of n characters.',
    // A run starts at every letter, so each letter is in several runs.
    makes: counted((c) => c.times(c.bytes(0), c.plus(c.number(headBytes), c.least(c.value(1), c.bytes(0))))),
    duckdb: ([text, size], context) =>
      once(context, filled(text!), (t) => {
        const i = context.fresh()
        const runs = `list_transform(range(1, length(${t}) - ${size!.sql} + 2), lambda ${i}: substring(${t}, ${i}, ${size!.sql}))`
        return `CASE WHEN ${size!.sql} < 1 THEN ${context.refuse("'n must be at least 1'")} ELSE ${runs} END`
      }),
    clickhouse: ([text, size]) => `ngrams(${filledOnClickhouse(text!)}, ${size!.sql})`,
    cases: [
      ["ngrams('abcde', 3)", ['abc', 'bcd', 'cde']],
      ["ngrams('ébc', 2)", ['éb', 'bc']],
      ["ngrams('abc', 5)", []],
    ],
  },
})
