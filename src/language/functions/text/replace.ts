import { asTextOrNull, once, unlessNull } from '../cells/duckdb-values.ts'
import { counted, type MadeCall, type Makes, times } from '../makes.ts'
import { whenAll } from '../results.ts'
import { call, type SqlCell } from '../row.ts'
import { scalars } from '../scalars.ts'

/** `s`: a dot matches line ends, as in ClickHouse. */
const replaceRegexp =
  (options: string): SqlCell =>
  ([text, pattern, replacement]) => {
    if (pattern!.constant === '') return unlessNull([replacement!], text!.sql)
    const replaced = `regexp_replace(${text!.sql}, ${pattern!.sql}, ${replacement!.sql}, '${options}')`
    if (typeof pattern!.constant === 'string') return replaced
    return unlessNull([replacement!], `CASE WHEN ${pattern!.sql} = '' THEN ${text!.sql} ELSE ${replaced} END`)
  }

/** How often the searched text fits into the other one. */
const ofAll = ({ args: [, from, to] }: MadeCall): Makes =>
  typeof from?.constant === 'string' && typeof to?.constant === 'string'
    ? times(Math.max(1, Buffer.byteLength(to.constant) / Math.max(1, Buffer.byteLength(from.constant))))
    : counted((c) => c.plus(c.bytes(0), c.over(c.times(c.bytes(0), c.bytes(2)), c.most(c.bytes(1), c.number(1)))))
/** A pattern may match the empty text between any two letters; \\0 is the whole match. */
const ofMatches = ({ args: [, , to] }: MadeCall): Makes =>
  typeof to?.constant === 'string'
    ? times(2 + Buffer.byteLength(to.constant))
    : counted((c) => c.plus(c.bytes(0), c.times(c.plus(c.bytes(0), c.number(1)), c.bytes(2))))
/** A single match may be the whole text. */
const ofMatch = ({ args: [, , to] }: MadeCall): Makes =>
  typeof to?.constant === 'string'
    ? times(1 + (to.constant.match(/\\\d/g) ?? []).length)
    : counted((c) => c.plus(c.bytes(0), c.times(c.bytes(0), c.bytes(2))))

const replaceAll: SqlCell = call('replace')
const replaceOne: SqlCell = ([text, from, to], context) => {
  const sought = asTextOrNull(from!)
  const replaced = once(context, asTextOrNull(text!), (t) => {
    const before = `split_part(${t}, ${sought}, 1)`
    return `CASE WHEN ${sought} <> '' AND contains(${t}, ${sought}) THEN ${before} || ${asTextOrNull(to!)} || substring(${t}, length(${before}) + length(${sought}) + 1) ELSE ${t} END`
  })
  return unlessNull([from!, to!], replaced)
}

const all = 'Replaces every occurrence of a substring.'

export const replaceFunctions = scalars({
  replace: {
    args: 3,
    caseInsensitive: true,
    returns: whenAll('String'),
    summary: all,
    makes: ofAll,
    duckdb: replaceAll,
    clickhouse: 'replaceAll',
    cases: [
      ["replace('a-b-c', '-', '+')", 'a+b+c'],
      ["replace('abc', '', 'x')", 'abc'],
      ["replace(null, 'a', 'b')", null],
    ],
  },
  replaceAll: {
    args: 3,
    returns: whenAll('String'),
    summary: all,
    makes: ofAll,
    duckdb: replaceAll,
    cases: [["replaceAll('aaa', 'a', 'bb')", 'bbbbbb']],
  },
  replaceOne: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Replaces the first occurrence of a substring.',
    duckdb: replaceOne,
    cases: [
      ["replaceOne('aaa', 'a', 'b')", 'baa'],
      ["replaceOne('abc', 'x', 'y')", 'abc'],
      ["replaceOne('abc', '', 'x')", 'abc'],
      ["replaceOne('abc', 'x', null)", null],
      ["replaceOne('abc', null, 'x')", null],
      ['replaceOne(null, null, null)', null],
      ["replaceOne('a-é-b', '-', '')", 'aé-b'],
    ],
  },
  replaceRegexpOne: {
    args: 3,
    compiles: { at: 1, as: 'regexp' },
    returns: whenAll('String'),
    summary: 'Replaces the first match of a regular expression; \\1 to \\9 are its groups, \\0 is the whole match.',
    makes: ofMatch,
    duckdb: replaceRegexp('s'),
    cases: [
      ["replaceRegexpOne('hello world', '(o)', '<\\\\1>')", 'hell<o> world'],
      ["replaceRegexpOne('abc', 'x', 'y')", 'abc'],
    ],
  },
  replaceRegexpAll: {
    args: 3,
    compiles: { at: 1, as: 'regexp' },
    returns: whenAll('String'),
    summary: 'Replaces all matches of a regular expression; \\1 to \\9 are its groups, \\0 is the whole match.',
    makes: ofMatches,
    duckdb: replaceRegexp('gs'),
    cases: [
      ["replaceRegexpAll('a1b2', '[0-9]', '<\\\\0>')", 'a<1>b<2>'],
      ["replaceRegexpAll('hello', '^', 'x')", 'xhello'],
      ["replaceRegexpAll('hello', '', '-')", 'hello'],
      ["replaceRegexpAll('hello', '', null)", null],
      ["replaceRegexpAll('a\\nb', 'a.b', 'x')", 'x'],
      ["replaceRegexpAll('aXbX', '(?i)x', '-')", 'a-b-'],
    ],
  },
  translate: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Replaces each character of the second argument by the one at the same position in the third, or deletes it if there is none.',
    makes: times(4),
    duckdb: call('translate'),
    cases: [
      ["translate('abcabc', 'ab', 'xy')", 'xycxyc'],
      ["translate('abc', 'ab', 'x')", 'xc'],
    ],
  },
  translateUTF8: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Like `translate`, for all Unicode characters.',
    makes: times(4),
    duckdb: call('translate'),
    cases: [["translateUTF8('aéc', 'é', 'e')", 'aec']],
  },
  regexpQuoteMeta: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Escapes the metacharacters of regular expressions.',
    makes: times(2),
    duckdb: ([text]) => `regexp_replace(${text!.sql}, '([\\\\|()^$.\\[\\]?*+{:-])', '\\\\\\1', 'g')`,
    cases: [
      ["regexpQuoteMeta('a.b-c+d_e é(:)')", 'a\\.b\\-c\\+d_e é\\(\\:\\)'],
      ["regexpQuoteMeta('{a}')", '\\{a}'],
    ],
  },
})
