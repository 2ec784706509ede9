import { isNullable, isText, scalar } from '../../types/types.ts'
import { hasInOrder } from '../cells/duckdb-like.ts'
import { asTextOrNull, asTextsOrNulls, once, onceAll, unlessNull } from '../cells/duckdb-values.ts'
import { asciiLower } from '../cells/text-bytes.ts'
import { whenAll } from '../results.ts'
import { type Arg, type Case, type CellContext, type Difference, type FunctionFamily, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { allIndexes, constantsOf, everySuffix, firstIndex, inVariants, type Variant, variants } from './search-variants.ts'

// Searches for texts and words in texts.

/** The position of a text in another one; 0 if it does not occur. */
function positionIn(text: string, needle: string, countsBytes: boolean): string {
  const before = `${countsBytes ? 'strlen' : 'length'}(split_part(${text}, ${needle}, 1))`
  // NULL if either is, since no condition is true then.
  return `CASE WHEN ${needle} = '' AND ${text} IS NOT NULL THEN 1 WHEN NOT contains(${text}, ${needle}) THEN 0 ELSE ${before} + 1 END`
}
const foundAt = (text: Arg, needle: Arg, start: Arg | undefined, variant: Variant, context: CellContext): string => {
  const folded = [text, needle].map((arg) => variant.fold(asTextOrNull(arg), context))
  if (!start) return onceAll(context, folded, (t, n) => positionIn(t!, n!, variant.countsBytes))
  const found = onceAll(context, [...folded, `least(greatest(CAST(${start.sql} AS BIGINT), 1), 2147483647)`], (t, n, s) => {
    const rest = variant.countsBytes
      ? `CASE WHEN strlen(${t}) = length(${t}) THEN substring(${t}, ${s}) ELSE coalesce(TRY(decode(array_slice(encode(${t}), ${s}, -1))), '') END`
      : `substring(${t}, ${s})`
    return once(
      context,
      rest,
      (r) => `CASE WHEN ${n} <> '' AND NOT contains(${r}, ${n}) THEN 0 ELSE ${positionIn(r, n!, variant.countsBytes)} + ${s} - 1 END`,
    )
  })
  const known = [text, start].filter((arg) => isNullable(arg.type)).map((arg) => `${arg.sql} IS NOT NULL`)
  return known.length ? `CASE WHEN ${known.join(' AND ')} THEN ${found} END` : found
}
const inWhat = ({ suffix, countsBytes }: Variant): string =>
  `${countsBytes ? 'in bytes' : 'in characters'}${suffix.startsWith('Case') ? ', ignoring case' : ''}`

const placesOf = (text: string, needles: Arg, variant: Variant, context: CellContext): string => {
  const placed = (needle: string) => positionIn(text, variant.fold(needle, context), variant.countsBytes)
  const constants = constantsOf(needles)
  if (constants) return constants.length === 0 ? 'CAST([] AS BIGINT[])' : `[${constants.map(({ sql }) => placed(sql)).join(', ')}]`
  const n = context.fresh()
  return `list_transform(${needles.sql}, lambda ${n}: ${placed(n)})`
}
const holds = (text: string, variant: Variant, context: CellContext) => (needle: string) =>
  `contains(${text}, ${variant.fold(needle, context)})`
const manyNeedles = (
  name: string,
  summary: string,
  returns: ScalarSpec['returns'],
  duckdb: (text: string, needles: Arg, variant: Variant, context: CellContext) => string,
  cases: (name: string, ignoresCase: boolean) => readonly Case[],
  differences: readonly Difference[] = [],
): Record<string, ScalarSpec> =>
  inVariants(name, everySuffix, (variant, fullName) => ({
    args: 2,
    returns,
    summary: `${summary} (${inWhat(variant)}).`,
    duckdb: ([text, needles], context) => {
      const typed = { ...needles!, sql: asTextsOrNulls(needles!) }
      const found = once(context, variant.fold(asTextOrNull(text!), context), (t) => duckdb(t, typed, variant, context))
      return context.type.kind === 'array' ? found : unlessNull([text!], found)
    },
    cases: [
      ...cases(fullName, variant.suffix.startsWith('Case')),
      ...(name === 'multiSearchAllPositions'
        ? []
        : [[`${fullName}(null, ['x'])`, null] as const, [`${fullName}(null, [null])`, null] as const]),
    ],
    differences: fullName === name ? differences : [],
  }))

const noNeedle = (name: string, duckdb: unknown): Difference => ({
  expression: `${name}('hello', ['x', null])`,
  duckdb: { value: duckdb },
  clickhouse: { refused: 'Illegal type Array(Nullable(String))' },
  reason: 'ClickHouse does not search for texts that may be NULL; DuckDB skips NULL',
})

/** Words of ASCII letters and digits; all characters beyond ASCII also count as letters. */
export const wordPattern = '[0-9A-Za-z\\x{80}-\\x{10FFFF}]+'
const words = (text: string): string => `regexp_extract_all(${text}, '${wordPattern}')`
const hasWord = (name: string, ignoresCase: boolean, orNull: boolean): ScalarSpec => ({
  args: 2,
  returns: orNull ? () => scalar('Bool', true) : whenAll('Bool'),
  summary: `Whether a word is in the text${ignoresCase ? ', ignoring case' : ''}${orNull ? '; NULL when the second argument is not one word' : ''}.`,
  duckdb: ([text, token], context) => {
    const fold = (sql: string) => (ignoresCase ? asciiLower(sql, context) : sql)
    return unlessNull(
      [token!],
      once(context, fold(token!.sql), (t) => {
        const otherwise = orNull ? 'NULL' : context.refuse("'The second argument must be one word'")
        return `CASE WHEN regexp_full_match(${t}, '${wordPattern}') THEN list_contains(${words(fold(text!.sql))}, ${t}) ELSE ${otherwise} END`
      }),
    )
  },
  clickhouse: name,
  cases: [
    [`${name}('a b-c', 'b')`, 1],
    [`${name}('ab c', 'b')`, 0],
    [`${name}('ab c', null)`, null],
    ...(ignoresCase ? [[`${name}('a B', 'b')`, 1] as const] : []),
    ...(orNull ? [[`${name}('a b', 'a b')`, null] as const] : []),
  ],
})
const hasWords = (name: string, all: boolean): ScalarSpec => ({
  args: 2,
  returns: whenAll('Bool'),
  summary: `Whether ${all ? 'all' : 'any'} of the words (an array, or a text of words) are in the text.`,
  duckdb: ([text, needles]) => {
    const list = isText(needles!.type) ? words(needles!.sql) : needles!.sql
    // An empty list of words never matches.
    const found = `${all ? 'list_has_all' : 'list_has_any'}(${words(text!.sql)}, ${list})`
    return all ? unlessNull([text!], `(${found} AND len(${list}) > 0)`) : found
  },
  clickhouse: name,
  cases: [
    [`${name}('a b-c', ['b', 'x'])`, all ? 0 : 1],
    [`${name}('a b-c', 'c a')`, 1],
    [`${name}('a b-c', ['x'])`, 0],
    [`${name}('a b-c', '-')`, 0],
    [`${name}(null, '-')`, null],
  ],
})

const ngramRows = (name: string, summary: string): Record<string, ScalarSpec> =>
  inVariants(name, everySuffix, (variant, fullName) => ({
    args: 2,
    returns: whenAll('Float32'),
    summary: `${summary}${variant.suffix.startsWith('Case') ? ', ignoring case' : ''}.`,
    duckdb: unsupported('ClickHouse counts hashes of n-grams; DuckDB has no such count'),
    cases: [[`${fullName}('clickhouse', 'clickhouse')`, name === 'ngramDistance' ? 0 : 1]],
  }))

export const searchFunctions: FunctionFamily = scalars({
  ...inVariants('position', everySuffix, (variant, name) => ({
    args: [2, 3],
    ...(variant.suffix === '' ? { caseInsensitive: true as const } : {}),
    returns: whenAll('UInt64'),
    summary: `Position of the substring (${inWhat(variant)}), from 1; 0 if absent. The third argument is where the search starts.`,
    duckdb: ([text, needle, start], context) => foundAt(text!, needle!, start, variant, context),
    cases: [
      [`${name}('abcabc', 'b')`, 2],
      [`${name}('abcabc', 'b', 3)`, 5],
      [`${name}('éb', 'b')`, variant.countsBytes ? 3 : 2],
      [`${name}('abc', 'x')`, 0],
      [`${name}('abc', '')`, 1],
      [`${name}('abc', null)`, null],
      [`${name}(null, null)`, null],
      [`${name}(null, '')`, null],
      [`${name}('abc', 'b', null)`, null],
      [`${name}(null, 'b', 1)`, null],
      [`${name}('ABC', 'b')`, variant.suffix.startsWith('Case') ? 2 : 0],
    ],
  })),
  locate: {
    args: [2, 3],
    returns: whenAll('UInt64'),
    summary: 'Like `position`, with the substring first.',
    duckdb: ([needle, text, start], context) => foundAt(text!, needle!, start, variants[0]!, context),
    cases: [
      ["locate('b', 'abc')", 2],
      ["locate('b', 'abcb', 3)", 4],
    ],
  },
  ...inVariants('countSubstrings', ['', 'CaseInsensitive', 'CaseInsensitiveUTF8'], (variant, name) => ({
    args: [2, 3],
    returns: whenAll('UInt64'),
    summary: `Number of non-overlapping occurrences of a substring (${inWhat(variant)}).`,
    duckdb: ([text, needle, start], context) => {
      const from = start ? `substring(${variant.fold(text!.sql, context)}, ${start.sql})` : variant.fold(text!.sql, context)
      const count = onceAll(
        context,
        [from, variant.fold(needle!.sql, context)],
        (t, n) => `CASE WHEN ${n} = '' THEN 0 ELSE (strlen(${t}) - strlen(replace(${t}, ${n}, ''))) // strlen(${n}) END`,
      )
      return unlessNull([text!], count)
    },
    cases: [
      [`${name}('ababab', 'ab')`, 3],
      [`${name}('aaaa', 'aa')`, 2],
      [`${name}('abc', '')`, 0],
      [`${name}(null, '')`, null],
      [`${name}('ABab', 'ab')`, variant.suffix ? 2 : 1],
      [`${name}('ababab', 'ab', 2)`, 2],
    ],
  })),
  ...manyNeedles(
    'multiSearchAllPositions',
    'Position of each of the substrings, 0 where absent',
    allIndexes,
    placesOf,
    (name, ignoresCase) => [[`${name}('hello World', ['world', 'hello', 'x'])`, ignoresCase ? [7, 1, 0] : [0, 1, 0]]],
    [noNeedle('multiSearchAllPositions', [0, null])],
  ),
  ...manyNeedles(
    'multiSearchAny',
    'Whether any of the texts occurs in the first argument',
    whenAll('Bool'),
    (t, needles, variant, context) => `(${firstIndex(needles, context, holds(t, variant, context))} > 0)`,
    (name, ignoresCase) => [
      [`${name}('hello', ['x', 'ELL'])`, ignoresCase ? 1 : 0],
      [`${name}('hello', ['x', 'ell'])`, 1],
    ],
    [noNeedle('multiSearchAny', 0)],
  ),
  ...manyNeedles(
    'multiSearchFirstIndex',
    'The index of the first of the texts that occurs in the first argument, from 1; 0 for none',
    whenAll('UInt64'),
    (t, needles, variant, context) => firstIndex(needles, context, holds(t, variant, context)),
    (name) => [
      [`${name}('hello world', ['x', 'world', 'hello'])`, 2],
      [`${name}('hello', ['x'])`, 0],
    ],
    [noNeedle('multiSearchFirstIndex', 0)],
  ),
  ...manyNeedles(
    'multiSearchFirstPosition',
    'The leftmost position of any of the texts; 0 for none',
    whenAll('UInt64'),
    (t, needles, variant, context) => {
      const n = context.fresh()
      return `coalesce(list_min(list_filter(${placesOf(t, needles, variant, context)}, lambda ${n}: ${n} > 0)), 0)`
    },
    (name) => [
      [`${name}('hello world', ['world', 'llo'])`, 3],
      [`${name}('hello', ['x'])`, 0],
    ],
    [noNeedle('multiSearchFirstPosition', 0)],
  ),
  hasToken: hasWord('hasToken', false, false),
  hasTokenOrNull: hasWord('hasTokenOrNull', false, true),
  hasTokenCaseInsensitive: hasWord('hasTokenCaseInsensitive', true, false),
  hasTokenCaseInsensitiveOrNull: hasWord('hasTokenCaseInsensitiveOrNull', true, true),
  hasAnyTokens: hasWords('hasAnyTokens', false),
  hasAllTokens: hasWords('hasAllTokens', true),
  ...inVariants('hasSubsequence', everySuffix, (variant, name) => ({
    args: 2,
    compiles: { at: 1, as: 'text' },
    returns: whenAll('Bool'),
    summary: `Whether the second text is a subsequence of the first${variant.suffix.startsWith('Case') ? ', ignoring case' : ''}.`,
    duckdb: ([text, needle], context) => {
      return hasInOrder(variant.fold(text!.sql, context), variant.fold(needle!.sql, context), typeof needle!.constant === 'string', context)
    },
    cases: [
      [`${name}('garbage', 'arg')`, 1],
      [`${name}('garbage', 'eg')`, 0],
      [`${name}('50% off', '5%o')`, 1],
      [`${name}('garbage', 'ARG')`, variant.suffix.startsWith('Case') ? 1 : 0],
    ],
  })),
  ...ngramRows('ngramDistance', 'Distance between two texts by their n-grams; 0 if equal'),
  ...ngramRows('ngramSearch', 'Share of the n-grams of the second text that occur in the first'),
})
