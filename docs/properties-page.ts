import { orderedValues, rulesOfFilters, rulesOfQueries, rulesOfRows, rulesOfTexts, rulesOfValues, values } from './property-rule.ts'

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``
const json = (value: unknown): string => (value === undefined ? '' : code(JSON.stringify(value)))
const result = (value: unknown): string => (value === null ? '–' : String(value).replaceAll('<', '\\<').replaceAll('[', '\\['))
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')

const valueTable = (): string =>
  table(
    ['where', 'for example', ...values.map((value) => (value === null ? 'null or absent' : json(value)))],
    rulesOfValues.map(({ where, expression, becomes }) => [where, code(expression), ...becomes.map(result)]),
  )

const textTable = (): string =>
  table(
    ['where', 'expression', 'what becomes of it'],
    rulesOfTexts.map(({ where, expression, becomes }) => [
      where,
      code(expression),
      'value' in becomes ? result(becomes.value) : `type mismatch: ${becomes.refused}`,
    ]),
  )

const filterTable = (): string =>
  table(
    ['operator', 'value', 'keeps'],
    rulesOfFilters.map(({ operator, value, keeps }) => [
      code(operator),
      json(value),
      keeps.map((kept) => (kept === null ? 'null or absent' : json(kept))).join(', '),
    ]),
  )

const rowTable = (): string =>
  table(
    ['where', 'statement', 'rows'],
    rulesOfRows.map(({ where, statement, rows }) => [where, code(statement), rows.map((row) => json(row)).join(', ')]),
  )

const queryTable = (): string =>
  table(
    ['where', 'parts of the query', 'rows'],
    rulesOfQueries.map(({ where, parts, rows }) => [where, json(parts), rows.map((row) => json(row)).join(', ')]),
  )

export const propertiesPage = (): string => `# Properties

Each value of a property without a declared type keeps its own type, from the first event on and in any order of arrival. A JSON number is a number, a JSON text is a text: the postal code
\`'01234'\` keeps its zero, and \`'10'\` and \`'10.0'\` are two values of a breakdown. The context in which a query uses the property decides how a value is converted. The number of events never
changes an answer.

- **Numeric context**: JSON numbers, and texts that are a number from the first character to the last (\`'10'\`, \`'-1.5e3'\`, \`'.5'\`; not \`' 10'\`, \`'1,000'\`, \`'nan'\`). Contexts are
  arithmetic, comparison with a number, \`between\` numbers, \`sum\`, \`avg\`, \`quantile\`, \`round\` and other numeric functions, filters with \`gt\` and \`lt\` and a number, bins of a breakdown,
  \`math_property\`.
- **Time context**: texts in ISO form (\`2024-05-01\`, \`2024-05-01T10:00:00+02:00\`); without an offset the time is local to the project. Contexts are comparison with a time and date
  functions. \`toDateTime\` and filters such as \`is_date_before\` also read Unix seconds and common date formats.
- **Boolean context**: \`true\` and \`false\`, as JSON or as text. Numbers are not booleans: write \`properties.paid = 1\`.
- **Any other context**: the text. Lists and objects are their JSON.
- A value that cannot be converted is null, never an error. The \`warnings\` of the answer count all such values that were received for the property, inside the date range of the query or not:
  \`{ code, property, scope, type, count, message }\`.

The same rule applies to properties of events, persons and groups, to nested values (\`properties.a.b\`), to what a subquery or an alias returns, and to \`min\`, \`max\`, \`any\`, \`argMax\`,
\`if\` and \`coalesce\` of properties. Session properties are texts that convert to numbers and times in the same way. Inside arrays, maps and tuples (\`groupArray(properties.a)\`) they are texts. If the
order of such items matters, as in \`arraySort\` and \`arrayMax\`, the answer warns about numbers among them: write \`groupArray(toFloat(properties.a))\`.

A declared type overrides this rule: a property declared with \`definePropertyTypes\` is read as that type everywhere, and a value that does not match is null.

## Conversion of values

– is null. The rows of these tables run as tests on both engines.

${valueTable()}

## Comparing text and numbers

Only properties without a declared type convert to the type of their context. Any other expression of type String (\`toString(properties.x)\`, \`properties.x || ''\`, \`event\`, a property declared as
String) stays text next to a number. Text and numbers have no common order: a statement that orders them is refused with a fix. Filters such as \`gt\` compare a property declared as String as text.

${textTable()}

## Filters

For the same values.

${filterTable()}

## Rows

The events have the values ${orderedValues.map((value) => (value === null ? 'nothing' : json(value))).join(', ')}.

${rowTable()}

In a JSON answer, \`min\` and \`max\` of such a property are numbers if the value is a number (their type is \`Dynamic\`). In Arrow and CSV a column has one type, so they are texts; write
\`max(toFloat(properties.x))\` for a column of numbers.

## Insights

Over the same events, with a \`TrendsQuery\`.

${queryTable()}
`
