import { once, unlessNull } from '../cells/duckdb-values.ts'
import { times } from '../makes.ts'
import { whenAll } from '../results.ts'
import { sql, unsupported } from '../row.ts'
import { scalars } from '../scalars.ts'

// Encodings of characters, XML and HTML.

const xmlNames = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["''", '&apos;'],
] as const

export const markupFunctions = scalars({
  isValidUTF8: {
    args: 1,
    returns: whenAll('Bool'),
    summary: 'Whether the bytes are valid UTF-8.',
    duckdb: ([text]) => unlessNull([text!], 'true'),
    cases: [
      ["isValidUTF8('é')", 1],
      ['isValidUTF8(null)', null],
    ],
  },
  toValidUTF8: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Replaces invalid UTF-8.',
    duckdb: sql`${0}`,
    cases: [["toValidUTF8('é')", 'é']],
  },
  convertCharset: {
    args: 3,
    returns: whenAll('String'),
    summary: 'Converts a text to another character set.',
    duckdb: unsupported('a text of DuckDB is always UTF-8'),
    cases: [["length(convertCharset('é', 'UTF-8', 'ISO-8859-1'))", 1]],
  },
  encodeXMLComponent: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Escapes the special characters of XML.',
    makes: times(6, 2),
    scratch: times(10, 5),
    duckdb: ([x]) => xmlNames.reduce((text, [char, name]) => `replace(${text}, '${char}', '${name}')`, x!.sql),
    cases: [["encodeXMLComponent('<a & \"b\" ''c''>')", '&lt;a &amp; &quot;b&quot; &apos;c&apos;&gt;']],
  },
  decodeXMLComponent: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Decodes XML entities.',
    duckdb: ([x], context) => {
      const p = context.fresh()
      const named = xmlNames.map(([char, name]) => `WHEN ${p} = '${name}' THEN '${char}'`).join(' ')
      const hex = `WHEN regexp_full_match(${p}, '&#[xX][0-9a-fA-F]{1,6};') THEN chr(CAST('0x' || substring(${p}, 4, length(${p}) - 4) AS INTEGER))`
      const decimal = `WHEN regexp_full_match(${p}, '&#[0-9]{1,7};') THEN chr(CAST(substring(${p}, 3, length(${p}) - 3) AS INTEGER))`
      const decoded = (text: string) =>
        `array_to_string(list_transform(regexp_extract_all(${text}, '&#?[0-9A-Za-z]+;|[^&]+|&', 0, 's'), lambda ${p}: CASE ${named} ${hex} ${decimal} ELSE ${p} END), '')`
      return once(context, x!.sql, (text) => `CASE WHEN contains(${text}, '&') THEN ${decoded(text)} ELSE ${text} END`)
    },
    cases: [
      ["decodeXMLComponent('&lt;a&gt; &amp; &quot; &apos; &#39; &#x41;')", "<a> & \" ' ' A"],
      ["decodeXMLComponent('&#x20ac;&#8364;&nope;&amp')", '€€&nope;&amp'],
    ],
  },
  extractTextFromHTML: {
    args: 1,
    returns: whenAll('String'),
    summary: 'Extracts the text of an HTML page, without tags, scripts and styles.',
    duckdb: unsupported('DuckDB has no reader for HTML'),
    cases: [["extractTextFromHTML('<p>Hello <b>World</b></p><script>x</script>')", 'Hello World']],
  },
})
