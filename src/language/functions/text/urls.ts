import { isNullable } from '../../types/types.ts'
import { smallPattern } from '../cells/duckdb-like.ts'
import { asInteger, once, unlessNull } from '../cells/duckdb-values.ts'
import { counted, type Makes, parts, times } from '../makes.ts'
import { listOfTexts, whenAll } from '../results.ts'
import { type Arg, type Case, type CellContext, type Difference, differing, type FunctionRow, type SqlCell } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Parts of URLs by regular expressions, with ClickHouse's rules: nothing is decoded, a host contains a dot, and an invalid part is ''.

const scheme = '(?:[A-Za-z0-9+.-]+:)?//'
const user = '(?:[^/?#@:\\s]*@)?'
const hostLetters = "[^/:?#@\\s<>=&~%{}|\\\\^\\[\\];,'']"
const host = `${hostLetters}*\\.${hostLetters}*`
const afterHost = '(?:[:/?#].*)?'
/** The host is \1 with a scheme, \2 without one. */
const hostPattern = `^(?:${scheme}${user}(${host})${afterHost}|(${host})${afterHost}|.*)$`
const hostPatternWithoutWww = `^(?:${scheme}${user}(?:www\\.)?(${host})${afterHost}|(?:www\\.)?(${host})${afterHost}|.*)$`

const replaced = (text: string, pattern: string, by: string): string => `regexp_replace(${text}, '${pattern}', '${by}', 's')`
const hostOf = (url: string): string => replaced(url, hostPattern, '\\1\\2')
const found = (text: string, pattern: string): string => `regexp_extract(${text}, '${pattern}', 1, 's')`

const part = (
  summary: string,
  duckdb: (url: string, context: CellContext) => string,
  cases: readonly Case[],
  differences: readonly Difference[] = [],
): ScalarSpec => ({
  args: 1,
  returns: whenAll('String'),
  summary,
  duckdb: ([url], context) => duckdb(url!.sql, context),
  cases,
  differences,
})

/** Public suffixes such as co.uk. ClickHouse knows the whole public list. */
const secondLevels = ['ac', 'co', 'com', 'edu', 'gob', 'gov', 'mil', 'ne', 'net', 'nom', 'or', 'org', 'sch'].join('|')
const suffixes =
  'ClickHouse has a list of all suffixes under which names are registered, DuckDB goes by the usual second parts (co, com, org, …)'
const registered = `([^.]+)\\.(?:(?:${secondLevels})\\.[a-z]{2}|[^.]+)$`
const registeredHost = `((?:[^.]+)\\.(?:(?:${secondLevels})\\.[a-z]{2}|[^.]+))$`

/** Characters not allowed in a URL, and those allowed in the user name only; written as in a character class. */
const [inNoUrl, onlyInUser] = [' \\t<>{}|\\\\^\\[\\]', ';=&~%']
/**
 * ClickHouse searches for an @ up to the end of the URL. With an @, everything before it is the user name, slashes included. Without one, the host
 * ends at the last slash, not at the first.
 */
const netlocOf = (url: string, context: CellContext): string =>
  once(context, found(url, '^(?:(?:[\\x00-\\x7f][A-Za-z0-9.+-]{0,12}:)?//)?(.*)$'), (rest) => {
    const withUser = `^[^#@${inNoUrl}]*@[^#/?${inNoUrl}${onlyInUser}]*`
    return once(context, `regexp_extract(${rest}, '${withUser}|^[^#${inNoUrl}]*', 0, 's')`, (netloc) => {
      const beforeLast = (letters: string): string => `regexp_replace(${netloc}, '[${letters}][^${letters}]*$', '')`
      return (
        `CASE WHEN regexp_matches(${url}, '^[\\x00-\\x7f][A-Za-z0-9.+-]{0,14}[${inNoUrl}${onlyInUser}]') THEN ''` +
        ` WHEN regexp_matches(${rest}, '${withUser}(?:[#/?]|$)|^[^#@${inNoUrl}]*#') THEN ${netloc}` +
        // the shortest of several prefixes of the same text
        ` ELSE least(${beforeLast('/')}, ${beforeLast('?')}, CASE WHEN ${rest} = ${netloc} THEN ${beforeLast(onlyInUser)} ELSE ${netloc} END) END`
      )
    })
  })

/** Arrays cannot be NULL on ClickHouse: NULL reads as ''. */
const listed = (name: string, summary: string, makes: Makes, duckdb: SqlCell, cases: readonly Case[]): ScalarSpec => ({
  makes,
  args: 1,
  returns: listOfTexts,
  summary,
  duckdb: ([url], context) => duckdb([{ ...url!, sql: isNullable(url!.type) ? `coalesce(${url!.sql}, '')` : url!.sql }], context),
  clickhouse: ([url]) => `${name}(${isNullable(url!.type) ? `ifNull(${url!.sql}, '')` : url!.sql})`,
  cases,
})
/**
 * Parameters behind the first `?` or `#`, each with the `&` or `#` that ends it, if any. A name without `=` that ends with another `?`, or with the text, is
 * none.
 */
const parameters = (url: string): string =>
  `regexp_extract_all(${found(url, '^[^?#]*[?#](.*)$')}, '(?:[^=&#?]*[?])*([^=&#?]*(?:=[^&#]*[&#]?|[&#]))', 1)`
const eachParameter = (url: string, context: CellContext, part: (parameter: string) => string): string => {
  const p = context.fresh()
  return `list_transform(${parameters(url)}, lambda ${p}: ${part(p)})`
}

/** The name of a parameter, escaped for a regular expression. */
const nameOf = (name: Arg, context: CellContext): string => `regexp_escape(${smallPattern(name, context)})`

/** Each prefix of the path up to a separator is copied. */
const ofParts = counted((c) => c.times(c.item(0), c.plus(c.letters(0, '/?#'), c.number(1))))
const prefixes = (base: string, rest: string, from: number): SqlCell => {
  const cell: SqlCell = ([url], context) =>
    once(context, url!.sql, (u) =>
      once(context, `regexp_extract_all(${found(u, rest)}, '[^/?#]*[/?#]|[^/?#]+')`, (segments) => {
        const i = context.fresh()
        const all = `list_transform(range(${from}, len(${segments}) + 1), lambda ${i}: ${base === '' ? '' : `${found(u, base)} || `}array_to_string(array_slice(${segments}, 1, ${i}), ''))`
        return from === 1 && base !== '' ? `CASE WHEN len(${segments}) > 0 THEN ${all} WHEN ${u} = '' THEN [] ELSE [${u}] END` : all
      }),
    )
  return cell
}

const formDecoded = (text: string): string => `url_decode(replace(${text}, '+', ' '))`
const component: FunctionRow['returns'] = whenAll('String')

export const urlFunctions = scalars({
  protocol: part('The part before `://`.', (url) => found(url, '^([A-Za-z0-9+.-]+)://'), [
    ["protocol('https://a.b')", 'https'],
    ["protocol('a.b')", ''],
    ["protocol('mailto:x')", ''],
    ['protocol(null)', null],
  ]),
  domain: part('The host, without the port.', hostOf, [
    ["domain('https://www.example.com:8080/a/b?x=1#f')", 'www.example.com'],
    ["domain('http://a@b.com/x')", 'b.com'],
    ["domain('example.com/a')", 'example.com'],
    ["domain('//example.com/x')", 'example.com'],
    ["domain('http://a.b?x=1')", 'a.b'],
    ["domain('http://localhost:8000/')", ''],
    ["domain('mailto:a@b.c')", ''],
    ["domain('?x=a.b')", ''],
    ["domain('http://a b.com/x')", ''],
    ["domain('https://münchen.de/x')", 'münchen.de'],
    ["domain('')", ''],
  ]),
  domainWithoutWWW: part('The host without a leading www.', (url) => replaced(url, hostPatternWithoutWww, '\\1\\2'), [
    ["domainWithoutWWW('https://www.example.com/')", 'example.com'],
    ["domainWithoutWWW('https://www2.example.com')", 'www2.example.com'],
  ]),
  topLevelDomain: part('The part of the host after the last dot.', (url) => found(hostOf(url), '\\.([^.0-9][^.]*)$'), [
    ["topLevelDomain('https://a.b.co.uk/x')", 'uk'],
    ["topLevelDomain('http://1.2.3.4/')", ''],
    ["topLevelDomain('http://localhost/')", ''],
  ]),
  firstSignificantSubdomain: part(
    'The registered name: example in www.example.co.uk.',
    (url) => found(hostOf(url), registered),
    [
      ["firstSignificantSubdomain('https://news.example.co.uk/')", 'example'],
      ["firstSignificantSubdomain('https://www.example.com/')", 'example'],
      ["firstSignificantSubdomain('https://localhost/')", ''],
    ],
    [differing("firstSignificantSubdomain('https://www.example.ltd.uk/')", 'ltd', 'example', suffixes)],
  ),
  cutToFirstSignificantSubdomain: part(
    'The registered domain: example.co.uk in www.example.co.uk.',
    (url) => found(hostOf(url), registeredHost),
    [
      ["cutToFirstSignificantSubdomain('https://news.example.co.uk/')", 'example.co.uk'],
      ["cutToFirstSignificantSubdomain('https://a.b.c.example.com/')", 'example.com'],
    ],
    [
      differing("cutToFirstSignificantSubdomain('https://www.example.ltd.uk/')", 'ltd.uk', 'example.ltd.uk', suffixes),
      differing(
        "cutToFirstSignificantSubdomain('https://www.com/')",
        'www.com',
        'com',
        'ClickHouse drops www. from the name even if nothing else is left',
      ),
    ],
  ),
  cutToFirstSignificantSubdomainWithWWW: part(
    'The registered domain; www. is a part of it if there is no other.',
    (url) => found(hostOf(url), registeredHost),
    [["cutToFirstSignificantSubdomainWithWWW('https://www.example.com/')", 'example.com']],
  ),
  netloc: part('User, host and port. With an @ or a second slash in the path, the result includes a part of the path.', netlocOf, [
    ["netloc('https://user:pw@www.example.com:8080/a')", 'user:pw@www.example.com:8080'],
    ["netloc('e.com/a')", 'e.com'],
    ["netloc('http://a.b/c/d')", 'a.b/c'],
    ["netloc('http://a.b/c?d=e@f.g/h')", 'a.b/c?d=e@f.g'],
    ["netloc('http://a.b/c?d=e@f.g&h')", 'a.b'],
    ["netloc('http://a.b/c?d=1&e=2')", 'a.b'],
    ["netloc('http://a.b/c/d#e')", 'a.b/c/d'],
    ["netloc('http://a b/')", 'a'],
    ["netloc('a b')", ''],
    ["netloc('%')", ''],
  ]),
  port: {
    args: [1, 2],
    returns: whenAll('UInt16'),
    summary: 'The port, or the second argument (default 0) if there is none.',
    duckdb: ([url, otherwise]) => {
      const written = found(url!.sql, `^(?:${scheme})?(?:[^/?#@]*@)?[^/:?#@]*:([0-9]{1,5})(?:[/?#]|$)`)
      const number = `coalesce(TRY_CAST(nullif(${written}, '') AS USMALLINT), ${otherwise ? `${asInteger(otherwise)} & 65535` : '0'})`
      return unlessNull(otherwise ? [url!, otherwise] : [url!], number)
    },
    clickhouse: ([url, otherwise]) => `port(${url!.sql}${otherwise ? `, toUInt16(${otherwise.sql})` : ''})`,
    cases: [
      ["port('https://e.com:8080/a')", 8080],
      ["port('https://e.com/a')", 0],
      ["port('https://e.com/a', 443)", 443],
      ["port('https://e.com/a', 80)", 80],
      ["port('https://e.com/a', 65537)", 1],
      ['port(null, 80)', null],
      ["port('https://e.com:1/a', null)", null],
      ["port('e.com:80')", 80],
    ],
  },
  path: part('The path, without parameters.', (url) => replaced(url, '^(?:[^/]*//[^/]*(/[^?#]*)?|[^/]*(/[^?#]*)?).*$', '\\1\\2'), [
    ["path('https://example.com/a/b?x=1#f')", '/a/b'],
    ["path('https://example.com')", ''],
    ["path('/a/b?x')", '/a/b'],
    ["path('example.com/a')", '/a'],
    ["path('//example.com/a/b')", '/a/b'],
  ]),
  pathFull: part('The path with parameters and fragment.', (url) => replaced(url, '^(?:[^/]*//[^/]*(/.*)?|[^/]*(/.*)?)$', '\\1\\2'), [
    ["pathFull('https://example.com/a/b?x=1#f')", '/a/b?x=1#f'],
    ["pathFull('https://e.com?x')", ''],
  ]),
  queryString: part('The part between `?` and `#`.', (url) => found(url, '^[^?]*\\?([^#]*)'), [
    ["queryString('https://e.com/a?x=1&y=2#f')", 'x=1&y=2'],
    ["queryString('https://e.com/a')", ''],
  ]),
  queryStringAndFragment: part('The part after `?`, or from `#` on.', (url) => replaced(url, '^[^?#]*(?:\\?(.*)|(#.*))?$', '\\1\\2'), [
    ["queryStringAndFragment('https://e.com/a?x=1#f')", 'x=1#f'],
    ["queryStringAndFragment('https://e.com/a#f')", '#f'],
    ["queryStringAndFragment('https://e.com/a')", ''],
  ]),
  fragment: part('The part after `#`.', (url) => found(url, '^[^#]*#(.*)$'), [
    ["fragment('https://e.com/a?x=1#f')", 'f'],
    ["fragment('a')", ''],
  ]),
  cutWWW: part('The URL without a leading www. of its host.', (url) => replaced(url, '^([A-Za-z0-9+.-]+://)www\\.', '\\1'), [
    ["cutWWW('https://www.example.com/www.')", 'https://example.com/www.'],
    ["cutWWW('www.a.b')", 'www.a.b'],
  ]),
  cutQueryString: part('The URL without its parameters.', (url) => replaced(url, '\\?[^#]*', ''), [
    ["cutQueryString('https://e.com/a?x=1#f')", 'https://e.com/a#f'],
    ["cutQueryString('a?x?y')", 'a'],
  ]),
  cutFragment: part('The URL without its fragment.', (url) => replaced(url, '#.*$', ''), [
    ["cutFragment('https://e.com/a?x=1#f')", 'https://e.com/a?x=1'],
  ]),
  cutQueryStringAndFragment: part(
    'The URL without its parameters and fragment.',
    (url) => replaced(url, '^([^?]*)\\?.*$|^([^#]*)#.*$', '\\1\\2'),
    [
      ["cutQueryStringAndFragment('https://e.com/a?x=1#f')", 'https://e.com/a'],
      ["cutQueryStringAndFragment('https://e.com/a#f')", 'https://e.com/a'],
    ],
  ),
  extractURLParameter: {
    args: 2,
    compiles: { at: 1, as: 'text' },
    returns: whenAll('String'),
    summary: "The value of a query parameter, not decoded; '' if it is missing.",
    duckdb: ([url, name], context) =>
      `regexp_extract(${url!.sql}, '^[^?#]*[?#](?:.*?[&#?])?' || ${nameOf(name!, context)} || '=([^&#]*)', 1, 's')`,
    cases: [
      ["extractURLParameter('https://e.com/a?x=1&y=2#f', 'y')", '2'],
      ["extractURLParameter('https://e.com/a?x=1', 'z')", ''],
      ["extractURLParameter('https://e.com/a?xy=1&y=2', 'y')", '2'],
      ["extractURLParameter('https://e.com/a#x=1', 'x')", '1'],
      ["extractURLParameter('https://e.com/a?a.b=1&x=a%20b', 'x')", 'a%20b'],
    ],
  },
  extractURLParameters: listed(
    'extractURLParameters',
    'All parameters as name=value.',
    parts(),
    ([url], context) => eachParameter(url!.sql, context, (p) => `rtrim(${p}, '&#')`),
    [
      ["extractURLParameters('https://e.com/a?x=1&y=2&z#f=3')", ['x=1', 'y=2', 'z', 'f=3']],
      ["extractURLParameters('https://e.com/?x&y=2&&z=3#f')", ['x', 'y=2', '', 'z=3']],
      ["extractURLParameters('https://e.com/?x#y&')", ['x', 'y']],
      ["extractURLParameters('https://e.com/??x=1=1#f?g=2')", ['x=1=1', 'g=2']],
      ["extractURLParameters('https://e.com/a')", []],
    ],
  ),
  extractURLParameterNames: listed(
    'extractURLParameterNames',
    'The names of all parameters.',
    parts(),
    ([url], context) => eachParameter(url!.sql, context, (p) => `regexp_extract(${p}, '^[^=&#]*')`),
    [
      ["extractURLParameterNames('https://e.com/a?x=1&y=2&z')", ['x', 'y']],
      ["extractURLParameterNames('https://e.com/?x&y=2#f&g=1')", ['x', 'y', 'f', 'g']],
    ],
  ),
  cutURLParameter: {
    args: 2,
    compiles: { at: 1, as: 'text' },
    returns: whenAll('String'),
    summary: 'Removes a query parameter from the URL.',
    duckdb: ([url, name], context) =>
      `regexp_replace(${url!.sql}, '([?#])' || ${nameOf(name!, context)} || '=[^&#]*&?|&' || ${nameOf(name!, context)} || '=[^&#]*', '\\1')`,
    cases: [
      ["cutURLParameter('https://e.com/a?x=1&y=2#f', 'x')", 'https://e.com/a?y=2#f'],
      ["cutURLParameter('https://e.com/a?x=1', 'x')", 'https://e.com/a?'],
      ["cutURLParameter('https://e.com/a?x=1&y=2', 'y')", 'https://e.com/a?x=1'],
      ["cutURLParameter('https://e.com/a?x=1&y=2&x=3', 'x')", 'https://e.com/a?y=2&x=3'],
    ],
  },
  URLHierarchy: listed(
    'URLHierarchy',
    'Prefixes of the URL up to each / ? and # of its path, shortest first.',
    ofParts,
    prefixes('^([A-Za-z0-9+.-]+://[^/?#]*)', '^[A-Za-z0-9+.-]+://[^/?#]*(.*)$', 1),
    [
      ["URLHierarchy('https://e.com/a/b?x=1')", ['https://e.com/', 'https://e.com/a/', 'https://e.com/a/b?', 'https://e.com/a/b?x=1']],
      ["URLHierarchy('http://e.com')", ['http://e.com']],
      ["URLHierarchy('')", []],
      ['URLHierarchy(null)', []],
    ],
  ),
  URLPathHierarchy: listed(
    'URLPathHierarchy',
    'Prefixes of the path up to each / ? and #, without the root.',
    ofParts,
    prefixes('', '^[A-Za-z0-9+.-]+://[^/?#]*(.*)$', 2),
    [
      ["URLPathHierarchy('https://e.com/a/b?x=1')", ['/a/', '/a/b?', '/a/b?x=1']],
      ["URLPathHierarchy('http://e.com/')", []],
    ],
  ),
  decodeURLComponent: {
    args: 1,
    returns: component,
    summary: 'Decodes percent-encoding (%XX).',
    duckdb: ([x]) => `url_decode(${x!.sql})`,
    cases: [
      ["decodeURLComponent('a%20b+c%C3%A9')", 'a b+cé'],
      ["decodeURLComponent('a%zz')", 'a%zz'],
    ],
  },
  encodeURLComponent: {
    args: 1,
    returns: component,
    summary: 'Percent-encodes everything but letters, digits and -_.~.',
    makes: times(3),
    duckdb: ([x]) => `url_encode(${x!.sql})`,
    cases: [["encodeURLComponent('a b+c/é?~')", 'a%20b%2Bc%2F%C3%A9%3F~']],
  },
  decodeURLFormComponent: {
    args: 1,
    returns: component,
    summary: 'Like `decodeURLComponent`; + is a space.',
    duckdb: ([x]) => formDecoded(x!.sql),
    cases: [["decodeURLFormComponent('a%20b+c')", 'a b c']],
  },
  encodeURLFormComponent: {
    args: 1,
    returns: component,
    summary: 'Like `encodeURLComponent`; a space becomes +.',
    makes: times(3),
    duckdb: ([x]) => `replace(url_encode(${x!.sql}), '%20', '+')`,
    cases: [["encodeURLFormComponent('a b+c/é')", 'a+b%2Bc%2F%C3%A9']],
  },
})
