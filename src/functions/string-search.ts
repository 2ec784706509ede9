import { QueryError } from '../errors/errors.ts'
import { arrayOf, isNamed, isNullable, isText, type SqlType, scalar } from '../types/types.ts'
import { asText } from './clickhouse-values.ts'
import { once, onceAll, toText } from './duckdb-values.ts'
import { always, whenAll } from './results.ts'
import { type Arg, type Case, type CellContext, type FunctionFamily, type SqlCell, unsupported } from './row.ts'
import { type ScalarSpec, scalars } from './scalars.ts'
import { asciiLower } from './strings.ts'

// LIKE, regular expressions (RE2 on both engines, `.` matches line ends too), and searches for texts in texts.

const isNullLiteral = (arg: Arg): boolean => arg.constant === null || isNamed(arg.type, 'Nothing')

/** Patterns compare like values: NULL fits NULL and nothing else, and the answer is never NULL. */
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
    duckdb: ([text, pattern], context) => {
      if (isNullLiteral(pattern!)) return `(${text!.sql} IS ${negated ? 'NOT ' : ''}NULL)`
      if (isNullLiteral(text!)) return `(${pattern!.sql} IS ${negated ? 'NOT ' : ''}NULL)`
      const fits = duckdb(toText(text!, context), pattern!, context)
      if (!isNullable(pattern!.type)) return not(isNullable(text!.type) ? `coalesce(${fits}, false)` : fits)
      return not(`coalesce(${fits}, ${text!.sql} IS NULL AND ${pattern!.sql} IS NULL)`)
    },
    clickhouse: ([text, pattern]) => {
      if (isNullLiteral(pattern!)) return `${negated ? 'isNotNull' : 'isNull'}(${text!.sql})`
      if (isNullLiteral(text!)) return `${negated ? 'isNotNull' : 'isNull'}(${pattern!.sql})`
      const fits = `${clickhouse}(${asText(text!)}, ${pattern!.sql})`
      if (!isNullable(text!.type) && !isNullable(pattern!.type)) return negated ? `not(${fits})` : fits
      const otherwise = isNullable(pattern!.type) ? `and(isNull(${text!.sql}), isNull(${pattern!.sql}))` : '0'
      return negated ? `not(ifNull(${fits}, ${otherwise}))` : `ifNull(${fits}, ${otherwise})`
    },
    cases,
  }
}

/** A backslash before anything but % _ \ stands for itself on ClickHouse. */
const escapedPattern = (pattern: string): string => pattern.replace(/\\([%_\\])|\\/g, (all, next?: string) => (next ? all : '\\\\'))
const like =
  (operator: 'LIKE' | 'ILIKE') =>
  (text: string, pattern: Arg, context: CellContext): string => {
    if (typeof pattern.constant !== 'string') return `(${text} ${operator} ${pattern.sql} ESCAPE '\\')`
    if (!pattern.constant.includes('\\')) return `(${text} ${operator} ${pattern.sql})`
    const escaped = escapedPattern(pattern.constant)
    return `(${text} ${operator} ${escaped === pattern.constant ? pattern.sql : context.bind(escaped)} ESCAPE '\\')`
  }
const matches = (text: string, pattern: Arg): string => `regexp_matches(${text}, ${pattern.sql}, 's')`

const nullCases = (name: string, negated: boolean): Case[] => [
  [`${name}(null, '2')`, negated ? 1 : 0],
  [`${name}('2', null)`, negated ? 1 : 0],
  [`${name}(null, null)`, negated ? 0 : 1],
  [`${name}(toNullable('a'), toNullable('a'))`, negated ? 0 : 1],
]

/** Capturing groups of a regular expression. */
export const groupCount = (pattern: string): number =>
  [...pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?(?!P<|<))/gs)].filter(([part]) => part === '(').length

/** What ClickHouse's extract() means: the first group, or the whole match when there is none. */
const extracted = (name: 'regexp_extract' | 'regexp_extract_all', text: string, pattern: Arg): string => {
  const group = (i: number) => `${name}(${text}, ${pattern.sql}, ${i}, 's')`
  if (typeof pattern.constant === 'string') return group(groupCount(pattern.constant) > 0 ? 1 : 0)
  return `CASE WHEN regexp_matches(${pattern.sql}, '(^|[^\\\\])\\((?:[^?]|\\?P?<)') THEN ${group(1)} ELSE ${group(0)} END`
}

const texts = arrayOf(scalar('String'))
const listOfTexts = (): SqlType => texts
/** A constant pattern is needed where the number of groups decides about the answer. */
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

interface Variant {
  readonly suffix: string
  readonly fold: (sql: string) => string
  readonly countsBytes: boolean
}
const variants: readonly Variant[] = [
  { suffix: '', fold: (sql) => sql, countsBytes: true },
  { suffix: 'CaseInsensitive', fold: asciiLower, countsBytes: true },
  { suffix: 'UTF8', fold: (sql) => sql, countsBytes: false },
  { suffix: 'CaseInsensitiveUTF8', fold: (sql) => `lower(${sql})`, countsBytes: false },
]
/** One row for each spelling: plain, CaseInsensitive, UTF8, CaseInsensitiveUTF8. */
const inVariants = (
  name: string,
  suffixes: readonly string[],
  spec: (variant: Variant, name: string) => ScalarSpec,
): Record<string, ScalarSpec> =>
  Object.fromEntries(variants.filter((v) => suffixes.includes(v.suffix)).map((v) => [`${name}${v.suffix}`, spec(v, `${name}${v.suffix}`)]))
const everySuffix = variants.map((v) => v.suffix)

/** The place of a text in another one, 0 when it is not there. */
function place(text: string, needle: string, countsBytes: boolean): string {
  const before = `${countsBytes ? 'strlen' : 'length'}(split_part(${text}, ${needle}, 1))`
  return `CASE WHEN ${needle} = '' THEN 1 WHEN contains(${text}, ${needle}) THEN ${before} + 1 ELSE 0 END`
}
const placeOf = (text: Arg, needle: Arg, start: Arg | undefined, variant: Variant, context: CellContext): string => {
  const folded = [variant.fold(text.sql), variant.fold(needle.sql)]
  if (!start) return onceAll(context, folded, (t, n) => place(t!, n!, variant.countsBytes))
  return onceAll(context, [...folded, `greatest(CAST(${start.sql} AS BIGINT), 1)`], (t, n, s) => {
    const rest = variant.countsBytes
      ? `CASE WHEN strlen(${t}) = length(${t}) THEN substring(${t}, ${s}) ELSE coalesce(TRY(decode(array_slice(encode(${t}), ${s}, -1))), '') END`
      : `substring(${t}, ${s})`
    return once(
      context,
      rest,
      (r) => `CASE WHEN ${n} <> '' AND NOT contains(${r}, ${n}) THEN 0 ELSE ${place(r, n!, variant.countsBytes)} + ${s} - 1 END`,
    )
  })
}
const inWhat = ({ suffix, countsBytes }: Variant): string =>
  `${countsBytes ? 'in bytes' : 'in characters'}${suffix.startsWith('Case') ? ', capitals or not' : ''}`

const needlesOf = (
  variant: Variant,
  context: CellContext,
  needles: Arg,
  body: (needle: string) => string,
  list = 'list_transform',
): string => {
  const n = context.fresh()
  return `${list}(${needles.sql}, lambda ${n}: ${body(variant.fold(n))})`
}
const manyNeedles = (
  name: string,
  summary: string,
  returns: ScalarSpec['returns'],
  duckdb: (text: string, needles: Arg, variant: Variant, context: CellContext) => string,
  cases: (name: string, ignoresCase: boolean) => readonly Case[],
): Record<string, ScalarSpec> =>
  inVariants(name, everySuffix, (variant, fullName) => ({
    args: 2,
    returns,
    summary: `${summary} (${inWhat(variant)}).`,
    duckdb: ([text, needles], context) => once(context, variant.fold(text!.sql), (t) => duckdb(t, needles!, variant, context)),
    cases: cases(fullName, variant.suffix.startsWith('Case')),
  }))

/** Words of ASCII letters and digits; everything beyond ASCII belongs to words too. */
export const wordPattern = '[0-9A-Za-z\\x{80}-\\x{10FFFF}]+'
const words = (text: string): string => `regexp_extract_all(${text}, '${wordPattern}')`
const hasWord = (name: string, ignoresCase: boolean, orNull: boolean): ScalarSpec => ({
  args: 2,
  returns: orNull ? () => scalar('Bool', true) : whenAll('Bool'),
  summary: `Whether a word stands in the text${ignoresCase ? ', capitals or not' : ''}${orNull ? '; NULL when the second argument is not one word' : ''}.`,
  duckdb: ([text, token], context) => {
    const fold = (sql: string) => (ignoresCase ? asciiLower(sql) : sql)
    return once(context, fold(token!.sql), (t) => {
      const otherwise = orNull ? 'NULL' : "error('The second argument must be one word')"
      return `CASE WHEN regexp_full_match(${t}, '${wordPattern}') THEN list_contains(${words(fold(text!.sql))}, ${t}) ELSE ${otherwise} END`
    })
  },
  clickhouse: name,
  cases: [
    [`${name}('a b-c', 'b')`, 1],
    [`${name}('ab c', 'b')`, 0],
    ...(ignoresCase ? [[`${name}('a B', 'b')`, 1] as const] : []),
    ...(orNull ? [[`${name}('a b', 'a b')`, null] as const] : []),
  ],
})
const hasWords = (name: string, all: boolean): ScalarSpec => ({
  args: 2,
  returns: whenAll('Bool'),
  summary: `Whether ${all ? 'all' : 'any'} of the words (an array, or a text of words) stand in the text.`,
  duckdb: ([text, needles]) => {
    const list = isText(needles!.type) ? words(needles!.sql) : needles!.sql
    return `${all ? 'list_has_all' : 'list_has_any'}(${words(text!.sql)}, ${list})`
  },
  clickhouse: name,
  cases: [
    [`${name}('a b-c', ['b', 'x'])`, all ? 0 : 1],
    [`${name}('a b-c', 'c a')`, 1],
    [`${name}('a b-c', ['x'])`, 0],
  ],
})

const indexed = (list: string, context: CellContext, body: (item: string) => string): string => {
  const [n, i] = [context.fresh(), context.fresh()]
  return `list_filter(list_transform(${list}, lambda ${n}, ${i}: CASE WHEN ${body(n)} THEN ${i} END), lambda ${n}: ${n} IS NOT NULL)`
}
const first = (list: string): string => `coalesce(${list}[1], 0)`
const regexps = (
  name: string,
  summary: string,
  returns: ScalarSpec['returns'],
  body: (indexes: string) => string,
  value: unknown,
  none: unknown,
): ScalarSpec => ({
  args: 2,
  returns,
  summary,
  duckdb: ([text, patterns], context) =>
    once(context, text!.sql, (t) => body(indexed(patterns!.sql, context, (p) => `regexp_matches(${t}, ${p}, 's')`))),
  cases: [
    [`${name}('hello', ['x', '^h', 'l'])`, value],
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
const ngramRows = (name: string, summary: string): Record<string, ScalarSpec> =>
  inVariants(name, everySuffix, (variant, fullName) => ({
    args: 2,
    returns: whenAll('Float32'),
    summary: `${summary}${variant.suffix.startsWith('Case') ? ', capitals or not' : ''}.`,
    duckdb: unsupported('ClickHouse counts hashes of n-grams; DuckDB has no such count'),
    cases: [[`${fullName}('clickhouse', 'clickhouse')`, name === 'ngramDistance' ? 0 : 1]],
  }))

const allIndexes = (): SqlType => arrayOf(scalar('UInt64'))

export const searchFunctions: FunctionFamily = scalars({
  like: patternMatch('Whether the whole text fits a pattern of % (anything) and _ (one character).', false, like('LIKE'), 'like', [
    ["like('abc', 'a%')", 1],
    ["like('abc', 'b%')", 0],
    ["like('abc', 'a_c')", 1],
    ["like('a%c', 'a\\%c')", 1],
    ["like('abc', 'a\\%c')", 0],
    ["like('a\\\\xb', 'a\\\\x%')", 1],
    ["like('ABC', 'abc')", 0],
    ...nullCases('like', false),
  ]),
  ilike: patternMatch('As like, capitals or not.', false, like('ILIKE'), 'ilike', [
    ["ilike('ABC', 'a%')", 1],
    ["ilike('É', 'é')", 1],
    ...nullCases('ilike', false),
  ]),
  notLike: patternMatch('The opposite of like.', true, like('LIKE'), 'like', [["notLike('abc', 'a%')", 0], ...nullCases('notLike', true)]),
  notILike: patternMatch('The opposite of ilike.', true, like('ILIKE'), 'ilike', [
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
    summary: "The first match of a regular expression, or its first group when it has one; '' without a match.",
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
    summary: 'All matches of a regular expression, or their first groups.',
    duckdb: ([text, pattern]) => extracted('regexp_extract_all', text!.sql, pattern!),
    cases: [
      ["extractAll('a1b2', '[0-9]')", ['1', '2']],
      ["extractAll('a1b2', '([a-z])[0-9]')", ['a', 'b']],
      ["extractAll('a', '[0-9]')", []],
    ],
  },
  extractGroups: {
    args: 2,
    returns: listOfTexts,
    summary: 'The groups of the first match of a regular expression; none without a match.',
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
    summary: 'The groups of all matches of a regular expression, a list for each match.',
    duckdb: vertically,
    cases: verticalCases('extractAllGroups'),
  },
  extractAllGroupsVertical: {
    args: 2,
    returns: () => arrayOf(texts),
    summary: 'The groups of all matches of a regular expression, a list for each match.',
    duckdb: vertically,
    cases: verticalCases('extractAllGroupsVertical'),
  },
  extractAllGroupsHorizontal: {
    args: 2,
    returns: () => arrayOf(texts),
    summary: 'The groups of all matches of a regular expression, a list for each group.',
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
    summary: 'A group (1 unless given, 0 for all) of the first match of a regular expression.',
    duckdb: ([text, pattern, group]) =>
      group ? `regexp_extract(${text!.sql}, ${pattern!.sql}, ${group.sql}, 's')` : extracted('regexp_extract', text!.sql, pattern!),
    cases: [
      ["regexpExtract('foobar', 'foo(.*)', 1)", 'bar'],
      ["regexpExtract('foobar', 'foo(.*)', 0)", 'foobar'],
      ["regexpExtract('foobar', 'foo(.*)')", 'bar'],
    ],
  },
  ...inVariants('countMatches', ['', 'CaseInsensitive'], ({ suffix }, name) => ({
    args: 2,
    returns: whenAll('UInt64'),
    summary: `How often a regular expression matches${suffix ? ', capitals or not' : ''}; empty matches do not count.`,
    duckdb: ([text, pattern], context) => {
      const m = context.fresh()
      return `len(list_filter(regexp_extract_all(${text!.sql}, ${pattern!.sql}, 0, '${suffix ? 'si' : 's'}'), lambda ${m}: ${m} <> ''))`
    },
    cases: [
      [`${name}('a1B2', '[a-z][0-9]')`, suffix ? 2 : 1],
      [`${name}('aaa', 'x*')`, 0],
    ],
  })),
  ...inVariants('position', everySuffix, (variant, name) => ({
    args: [2, 3],
    ...(variant.suffix === '' ? { caseInsensitive: true as const } : {}),
    returns: whenAll('UInt64'),
    summary: `Where a text stands in another one (${inWhat(variant)}), from 1; 0 when it does not. The third argument is where to begin.`,
    duckdb: ([text, needle, start], context) => placeOf(text!, needle!, start, variant, context),
    cases: [
      [`${name}('abcabc', 'b')`, 2],
      [`${name}('abcabc', 'b', 3)`, 5],
      [`${name}('éb', 'b')`, variant.countsBytes ? 3 : 2],
      [`${name}('abc', 'x')`, 0],
      [`${name}('abc', '')`, 1],
      [`${name}('ABC', 'b')`, variant.suffix.startsWith('Case') ? 2 : 0],
    ],
  })),
  locate: {
    args: [2, 3],
    returns: whenAll('UInt64'),
    summary: 'As position, with the text to look for first.',
    duckdb: ([needle, text, start], context) => placeOf(text!, needle!, start, variants[0]!, context),
    cases: [
      ["locate('b', 'abc')", 2],
      ["locate('b', 'abcb', 3)", 4],
    ],
  },
  ...inVariants('countSubstrings', ['', 'CaseInsensitive', 'CaseInsensitiveUTF8'], (variant, name) => ({
    args: [2, 3],
    returns: whenAll('UInt64'),
    summary: `How often a text stands in another one (${inWhat(variant)}), without overlaps.`,
    duckdb: ([text, needle, start], context) => {
      const from = start ? `substring(${variant.fold(text!.sql)}, ${start.sql})` : variant.fold(text!.sql)
      return onceAll(
        context,
        [from, variant.fold(needle!.sql)],
        (t, n) => `CASE WHEN ${n} = '' THEN 0 ELSE (strlen(${t}) - strlen(replace(${t}, ${n}, ''))) // strlen(${n}) END`,
      )
    },
    cases: [
      [`${name}('ababab', 'ab')`, 3],
      [`${name}('aaaa', 'aa')`, 2],
      [`${name}('abc', '')`, 0],
      [`${name}('ABab', 'ab')`, variant.suffix ? 2 : 1],
      [`${name}('ababab', 'ab', 2)`, 2],
    ],
  })),
  ...manyNeedles(
    'multiSearchAllPositions',
    'Where each of the texts stands, 0 where it does not',
    allIndexes,
    (t, needles, variant, context) => needlesOf(variant, context, needles, (n) => place(t, n, variant.countsBytes)),
    (name, ignoresCase) => [[`${name}('hello World', ['world', 'hello', 'x'])`, ignoresCase ? [7, 1, 0] : [0, 1, 0]]],
  ),
  ...manyNeedles(
    'multiSearchAny',
    'Whether any of the texts stands in the first one',
    whenAll('Bool'),
    (t, needles, variant, context) => `(len(${needlesOf(variant, context, needles, (n) => `contains(${t}, ${n})`, 'list_filter')}) > 0)`,
    (name, ignoresCase) => [
      [`${name}('hello', ['x', 'ELL'])`, ignoresCase ? 1 : 0],
      [`${name}('hello', ['x', 'ell'])`, 1],
    ],
  ),
  ...manyNeedles(
    'multiSearchFirstIndex',
    'The number of the first of the texts that stands in the first one, from 1; 0 for none',
    whenAll('UInt64'),
    (t, needles, variant, context) => first(indexed(needles.sql, context, (n) => `contains(${t}, ${variant.fold(n)})`)),
    (name) => [
      [`${name}('hello world', ['x', 'world', 'hello'])`, 2],
      [`${name}('hello', ['x'])`, 0],
    ],
  ),
  ...manyNeedles(
    'multiSearchFirstPosition',
    'The first place where any of the texts stands; 0 for none',
    whenAll('UInt64'),
    (t, needles, variant, context) => {
      const n = context.fresh()
      const places = needlesOf(variant, context, needles, (needle) => place(t, needle, variant.countsBytes))
      return `coalesce(list_min(list_filter(${places}, lambda ${n}: ${n} > 0)), 0)`
    },
    (name) => [
      [`${name}('hello world', ['world', 'llo'])`, 3],
      [`${name}('hello', ['x'])`, 0],
    ],
  ),
  multiMatchAny: regexps(
    'multiMatchAny',
    'Whether any of the regular expressions matches.',
    whenAll('Bool'),
    (list) => `(len(${list}) > 0)`,
    1,
    0,
  ),
  multiMatchAnyIndex: {
    ...regexps(
      'multiMatchAnyIndex',
      'The number of a regular expression that matches, from 1; 0 for none.',
      whenAll('UInt64'),
      first,
      2,
      0,
    ),
    cases: [
      ["multiMatchAnyIndex('hello', ['x', '^h'])", 2],
      ["multiMatchAnyIndex('hello', ['x'])", 0],
    ],
  },
  multiMatchAllIndices: regexps(
    'multiMatchAllIndices',
    'The numbers of all regular expressions that match, from 1.',
    allIndexes,
    (list) => list,
    [2, 3],
    [],
  ),
  multiFuzzyMatchAny: fuzzy(
    'multiFuzzyMatchAny',
    'Whether any of the regular expressions matches within a distance of edits.',
    whenAll('Bool'),
    1,
  ),
  multiFuzzyMatchAnyIndex: fuzzy(
    'multiFuzzyMatchAnyIndex',
    'The number of a regular expression that matches within a distance of edits.',
    whenAll('UInt64'),
    1,
  ),
  multiFuzzyMatchAllIndices: fuzzy(
    'multiFuzzyMatchAllIndices',
    'The numbers of all regular expressions that match within a distance of edits.',
    allIndexes,
    [1],
  ),
  hasToken: hasWord('hasToken', false, false),
  hasTokenOrNull: hasWord('hasTokenOrNull', false, true),
  hasTokenCaseInsensitive: hasWord('hasTokenCaseInsensitive', true, false),
  hasTokenCaseInsensitiveOrNull: hasWord('hasTokenCaseInsensitiveOrNull', true, true),
  hasAnyTokens: hasWords('hasAnyTokens', false),
  hasAllTokens: hasWords('hasAllTokens', true),
  ...inVariants('hasSubsequence', everySuffix, (variant, name) => ({
    args: 2,
    returns: whenAll('Bool'),
    summary: `Whether the characters of the second text stand in the first one in that order${variant.suffix.startsWith('Case') ? ', capitals or not' : ''}.`,
    duckdb: ([text, needle], context) => {
      const c = context.fresh()
      const characters = `list_transform(string_split(${variant.fold(needle!.sql)}, ''), lambda ${c}: regexp_replace(${c}, '([%_\\\\])', '\\\\\\1'))`
      return `(${variant.fold(text!.sql)} LIKE '%' || array_to_string(${characters}, '%') || '%' ESCAPE '\\')`
    },
    cases: [
      [`${name}('garbage', 'arg')`, 1],
      [`${name}('garbage', 'eg')`, 0],
      [`${name}('50% off', '5%o')`, 1],
      [`${name}('garbage', 'ARG')`, variant.suffix.startsWith('Case') ? 1 : 0],
    ],
  })),
  ...ngramRows('ngramDistance', 'How far two texts are apart by their n-grams, 0 for equal ones'),
  ...ngramRows('ngramSearch', 'How much of the second text stands in the first one by n-grams'),
})
