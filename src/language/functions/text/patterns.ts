import { QueryError } from '../../../errors/errors.ts'
import { arrayOf, isNullable, scalar } from '../../types/types.ts'
import { asText } from '../cells/clickhouse-values.ts'
import { likeText } from '../cells/duckdb-like.ts'
import { asTextOrNull, isNullLiteral, once, toText, unlessNull } from '../cells/duckdb-values.ts'
import { type MadeCall, parts } from '../makes.ts'
import { always, listOfTexts, whenAll } from '../results.ts'
import { type Arg, type Case, type CellContext, type FunctionFamily, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'
import { allIndexes, firstIndex, indexed, inVariants } from './search-variants.ts'

// LIKE and regular expressions: RE2 on both engines, `.` also matches line ends.

/** Patterns compare like values: NULL matches NULL only, and the result is never NULL. */
function patternMatch(
  summary: string,
  negated: boolean,
  duckdb: (text: string, pattern: Arg, context: CellContext) => string,
  clickhouse: string,
  cases: readonly Case[],
): ScalarSpec {
  const not = (positive: string): string => (negated ? `(NOT ${positive})` : positive)
  return {
    args: 2,
    returns: always('Bool'),
    summary,
    compiles: { at: 1, as: clickhouse === 'match' ? 'regexp' : 'like' },
    duckdb: ([text, pattern], context) => {
      if (isNullLiteral(pattern!)) return `(${text!.sql} IS ${negated ? 'NOT ' : ''}NULL)`
      if (isNullLiteral(text!)) return `(${pattern!.sql} IS ${negated ? 'NOT ' : ''}NULL)`
      const fits = duckdb(toText(text!, context), pattern!, context)
      if (!isNullable(pattern!.type)) return not(isNullable(text!.type) ? `coalesce(${fits}, false)` : fits)
      return not(`coalesce(${fits}, ${text!.sql} IS NULL AND ${pattern!.sql} IS NULL)`)
    },
    clickhouse: ([text, pattern], context) => {
      if (isNullLiteral(pattern!)) return `${negated ? 'isNotNull' : 'isNull'}(${text!.sql})`
      if (isNullLiteral(text!)) return `${negated ? 'isNotNull' : 'isNull'}(${pattern!.sql})`
      const fits = `${clickhouse}(${asText(text!, context)}, ${pattern!.sql})`
      if (!isNullable(text!.type) && !isNullable(pattern!.type)) return negated ? `not(${fits})` : fits
      const otherwise = isNullable(pattern!.type) ? `and(isNull(${text!.sql}), isNull(${pattern!.sql}))` : '0'
      return negated ? `not(ifNull(${fits}, ${otherwise}))` : `ifNull(${fits}, ${otherwise})`
    },
    cases,
  }
}

const like =
  (operator: 'LIKE' | 'ILIKE') =>
  (text: string, pattern: Arg, context: CellContext): string =>
    likeText(operator, text, pattern, context)
const matches = (text: string, pattern: Arg): string => `regexp_matches(${text}, ${pattern.sql}, 's')`

const nullCases = (name: string, negated: boolean): Case[] => [
  [`${name}(null, '2')`, negated ? 1 : 0],
  [`${name}('2', null)`, negated ? 1 : 0],
  [`${name}(null, null)`, negated ? 0 : 1],
  [`${name}(toNullable('a'), toNullable('a'))`, negated ? 0 : 1],
]

/** Capturing groups of a regular expression. */
const groupCount = (pattern: string): number =>
  [...pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*|\((?!\?(?!P<|<))/gs)].filter(([part]) => part === '(').length

const hasGroups = ({ sql, constant }: Arg): string =>
  typeof constant === 'string' ? String(groupCount(constant) > 0) : `regexp_matches(${sql}, '(^|[^\\\\])\\((?:[^?]|\\?P?<)')`

/** ClickHouse's extract() returns the first group, or the whole match without groups. */
const extracted = (name: 'regexp_extract' | 'regexp_extract_all', text: string, pattern: Arg): string => {
  const group = (i: number) => `${name}(${text}, ${pattern.sql}, ${i}, 's')`
  if (typeof pattern.constant === 'string') return group(groupCount(pattern.constant) > 0 ? 1 : 0)
  return `CASE WHEN ${hasGroups(pattern)} THEN ${group(1)} ELSE ${group(0)} END`
}

const compiles = { at: 1, as: 'regexp' } as const
const texts = arrayOf(scalar('String'))
/** Every group may contain the whole match. */
const ofGroups = ({ args }: MadeCall) => parts(1 + (typeof args[1]?.constant === 'string' ? groupCount(args[1].constant) : 0))
/** The pattern must be constant if the result depends on the number of groups. */
const withGroups =
  (body: (text: string, pattern: Arg, groups: readonly number[]) => string): SqlCell =>
  ([text, pattern]) => {
    if (typeof pattern!.constant !== 'string')
      throw new QueryError('invalid-query', { message: 'The regular expression must be a constant.' })
    const count = groupCount(pattern!.constant)
    return body(
      text!.sql,
      pattern!,
      Array.from({ length: count }, (_, i) => i + 1),
    )
  }
const horizontally = (text: string, pattern: Arg, groups: readonly number[]): string =>
  `[${groups.map((i) => `regexp_extract_all(${text}, ${pattern.sql}, ${i}, 's')`).join(', ')}]`
const vertically: SqlCell = (args, context) =>
  withGroups((text, pattern, groups) =>
    once(context, text, (t) => {
      const m = context.fresh()
      const row = groups.map((i) => `regexp_extract(${m}, ${pattern.sql}, ${i}, 's')`).join(', ')
      return `list_transform(regexp_extract_all(${t}, ${pattern.sql}, 0, 's'), lambda ${m}: [${row}])`
    }),
  )(args, context)
const verticalCases = (name: string): Case[] => [
  [
    `${name}('a=1, b=2', '(\\\\w)=(\\\\d)')`,
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
]

const regexps = (
  name: string,
  summary: string,
  returns: ScalarSpec['returns'],
  body: (patterns: Arg, context: CellContext, fits: (pattern: string) => string) => string,
  value: unknown,
  none: unknown,
): ScalarSpec => ({
  args: 2,
  returns,
  summary,
  compiles: { at: 1, as: 'regexps' },
  duckdb: ([text, patterns], context) => {
    const found = once(context, text!.sql, (t) => body(patterns!, context, (p) => `regexp_matches(${t}, ${p}, 's')`))
    return context.type.kind === 'array' ? found : unlessNull([text!], found)
  },
  cases: [
    [`${name}('hello', ['x', '^h', 'l'])`, value],
    ...(Array.isArray(none) ? [] : [[`${name}(null, ['x'])`, null] as const]),
    [`${name}('hello', ['x'])`, none],
  ],
})
const fuzzy = (name: string, summary: string, returns: ScalarSpec['returns'], value: unknown): ScalarSpec => ({
  args: 3,
  returns,
  summary,
  duckdb: unsupported('DuckDB matches regular expressions exactly only'),
  cases: [[`${name}('hello', 1, ['helo'])`, value]],
})
export const patternFunctions: FunctionFamily = scalars({
  like: patternMatch('Whether the whole text matches a pattern of % (anything) and _ (one character).', false, like('LIKE'), 'like', [
    ["like('abc', 'a%')", 1],
    ["like('abc', 'b%')", 0],
    ["like('abc', 'a_c')", 1],
    ["like('a%c', 'a\\%c')", 1],
    ["like('abc', 'a\\%c')", 0],
    ["like('a\\\\xb', 'a\\\\x%')", 1],
    ["like('ABC', 'abc')", 0],
    ...nullCases('like', false),
  ]),
  ilike: patternMatch('Like `like`, ignoring case.', false, like('ILIKE'), 'ilike', [
    ["ilike('ABC', 'a%')", 1],
    ["ilike('É', 'é')", 1],
    ...nullCases('ilike', false),
  ]),
  notLike: patternMatch('Negation of `like`.', true, like('LIKE'), 'like', [["notLike('abc', 'a%')", 0], ...nullCases('notLike', true)]),
  notILike: patternMatch('Negation of `ilike`.', true, like('ILIKE'), 'ilike', [
    ["notILike('ABC', 'b%')", 1],
    ...nullCases('notILike', true),
  ]),
  match: patternMatch('Whether a regular expression matches anywhere in the text.', false, matches, 'match', [
    ["match('abc', '^b')", 0],
    ["match('abc', 'b.')", 1],
    ["match('ABC', '(?i)b')", 1],
    ["match('a\\nb', 'a.b')", 1],
    ["match('abc', '')", 1],
    ...nullCases('match', false),
  ]),
  extract: {
    args: 2,
    caseInsensitive: true,
    returns: whenAll('String'),
    compiles,
    summary: "The first match of a regular expression, or its first capture group if there is one; '' without a match.",
    duckdb: ([text, pattern]) => extracted('regexp_extract', text!.sql, pattern!),
    cases: [
      ["extract('hello', 'l+')", 'll'],
      ["extract('hello', 'h(e)l')", 'e'],
      ["extract('hello', 'h(?:e)l')", 'hel'],
      ["extract('hello', 'x')", ''],
      ["extract(null, 'x')", null],
    ],
  },
  extractAll: {
    args: 2,
    returns: listOfTexts,
    summary: 'All matches of a regular expression, or their first capture groups.',
    compiles,
    makes: parts(),
    scratch: parts(),
    duckdb: ([text, pattern], context) => {
      const all = extracted('regexp_extract_all', text!.sql, pattern!)
      if (typeof pattern!.constant === 'string' && groupCount(pattern!.constant) > 0) return all
      // ClickHouse stops at the first empty match.
      const stops = pattern!.constant === undefined ? `NOT ${hasGroups(pattern!)} AND ` : ''
      return once(context, all, (l) => `CASE WHEN ${stops}list_contains(${l}, '') THEN ${l}[1:list_position(${l}, '') - 1] ELSE ${l} END`)
    },
    cases: [
      ["extractAll('12a3', '[0-9]*')", ['12']],
      ["extractAll('a1', '')", []],
      ["extractAll('a1b2', '[0-9]')", ['1', '2']],
      ["extractAll('a1b2', '([a-z])[0-9]')", ['a', 'b']],
      ["extractAll('a', '[0-9]')", []],
    ],
  },
  extractGroups: {
    args: 2,
    returns: listOfTexts,
    summary: 'Capture groups of the first match of a regular expression; [] without a match.',
    compiles,
    makes: ofGroups,
    duckdb: withGroups((text, pattern, groups) => {
      const found = groups.map((i) => `regexp_extract(${text}, ${pattern.sql}, ${i}, 's')`).join(', ')
      return `CASE WHEN regexp_matches(${text}, ${pattern.sql}, 's') THEN [${found}] ELSE [] END`
    }),
    cases: [
      ["extractGroups('hello world', '(\\\\w+) (\\\\w+)')", ['hello', 'world']],
      ["extractGroups('hello', '(x)(y)')", []],
    ],
  },
  extractAllGroups: {
    args: 2,
    returns: () => arrayOf(texts),
    summary: 'Capture groups of all matches of a regular expression, one array per match.',
    compiles,
    makes: ofGroups,
    scratch: parts(),
    duckdb: vertically,
    cases: verticalCases('extractAllGroups'),
  },
  extractAllGroupsVertical: {
    args: 2,
    returns: () => arrayOf(texts),
    summary: 'Capture groups of all matches of a regular expression, one array per match.',
    compiles,
    makes: ofGroups,
    scratch: parts(),
    duckdb: vertically,
    cases: verticalCases('extractAllGroupsVertical'),
  },
  extractAllGroupsHorizontal: {
    args: 2,
    returns: () => arrayOf(texts),
    summary: 'Capture groups of all matches of a regular expression, one array per group.',
    compiles,
    makes: ofGroups,
    scratch: parts(),
    duckdb: withGroups(horizontally),
    cases: [
      [
        "extractAllGroupsHorizontal('a=1, b=2', '(\\\\w)=(\\\\d)')",
        [
          ['a', 'b'],
          ['1', '2'],
        ],
      ],
      ["extractAllGroupsHorizontal('x', '(\\\\w)=(\\\\d)')", [[], []]],
    ],
  },
  regexpExtract: {
    args: [2, 3],
    returns: whenAll('String'),
    summary: 'A capture group of the first match of a regular expression (default 1); 0 is the whole match.',
    compiles,
    duckdb: ([text, pattern, group]) =>
      group
        ? unlessNull([group], `regexp_extract(${asTextOrNull(text!)}, ${pattern!.sql}, ${group.sql}, 's')`)
        : extracted('regexp_extract', text!.sql, pattern!),
    cases: [
      ["regexpExtract('foobar', 'foo(.*)', 1)", 'bar'],
      ["regexpExtract('foobar', 'foo(.*)', 0)", 'foobar'],
      ["regexpExtract('foobar', 'foo(.*)')", 'bar'],
      ["regexpExtract('foobar', 'foo(.*)', null)", null],
      ["regexpExtract(null, 'foo(.*)', 1)", null],
    ],
  },
  ...inVariants('countMatches', ['', 'CaseInsensitive'], ({ suffix }, name) => ({
    args: 2,
    returns: whenAll('UInt64'),
    summary: `Number of matches of a regular expression${suffix ? ', ignoring case' : ''}; empty matches do not count.`,
    compiles,
    scratch: parts(2),
    duckdb: ([text, pattern], context) => {
      const m = context.fresh()
      return `len(list_filter(regexp_extract_all(${text!.sql}, ${pattern!.sql}, 0, '${suffix ? 'si' : 's'}'), lambda ${m}: ${m} <> ''))`
    },
    cases: [
      [`${name}('a1B2', '[a-z][0-9]')`, suffix ? 2 : 1],
      [`${name}('aaa', 'x*')`, 0],
    ],
  })),
  multiMatchAny: regexps(
    'multiMatchAny',
    'Whether any of the regular expressions matches.',
    whenAll('Bool'),
    (...patterns) => `(${firstIndex(...patterns)} > 0)`,
    1,
    0,
  ),
  multiMatchAnyIndex: {
    ...regexps(
      'multiMatchAnyIndex',
      'The index of a regular expression that matches, from 1; 0 for none.',
      whenAll('UInt64'),
      firstIndex,
      2,
      0,
    ),
    cases: [
      ["multiMatchAnyIndex('hello', ['x', '^h'])", 2],
      ["multiMatchAnyIndex('hello', ['x'])", 0],
      ["multiMatchAnyIndex(null, ['x'])", null],
    ],
  },
  multiMatchAllIndices: regexps(
    'multiMatchAllIndices',
    'The indexes of all regular expressions that match, from 1.',
    allIndexes,
    indexed,
    [2, 3],
    [],
  ),
  multiFuzzyMatchAny: fuzzy(
    'multiFuzzyMatchAny',
    'Whether any of the regular expressions matches within an edit distance.',
    whenAll('Bool'),
    1,
  ),
  multiFuzzyMatchAnyIndex: fuzzy(
    'multiFuzzyMatchAnyIndex',
    'The index of a regular expression that matches within an edit distance.',
    whenAll('UInt64'),
    1,
  ),
  multiFuzzyMatchAllIndices: fuzzy(
    'multiFuzzyMatchAllIndices',
    'The indexes of all regular expressions that match within an edit distance.',
    allIndexes,
    [1],
  ),
})
