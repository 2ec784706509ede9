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

A property without a declared type is what each of its values is, from the first event on and whatever the order of arrival. A JSON number is a number, a
JSON text is a text: the postal code \`'01234'\` keeps its zero, and \`'10'\` and \`'10.0'\` are two values of a breakdown. What a query makes of a value
depends on what is asked for where the property stands, and on nothing else: no number of events changes an answer.

- **Where a number is asked for**, a JSON number counts, and a text that is a number from its first character to its last (\`'10'\`, \`'-1.5e3'\`,
  \`'.5'\`; not \`' 10'\`, \`'1,000'\`, \`'nan'\`). That is: arithmetic, comparison with a number, \`between\` numbers, \`sum\`, \`avg\`, \`quantile\`,
  \`round\` and whatever else computes, filters with \`gt\` and \`lt\` and a number, bins of a breakdown, \`math_property\`.
- **Where a time is asked for**, a text in ISO form counts (\`2024-05-01\`, \`2024-05-01T10:00:00+02:00\`); without an offset it is local to the project.
  That is: comparison with a time, functions of dates. \`toDateTime\` and filters with \`is_date_before\` and its like also read Unix seconds and the usual
  spellings of dates.
- **Where a boolean is asked for**, \`true\` and \`false\` count, as JSON or as text. Numbers do not: write \`properties.paid = 1\`.
- **Anywhere else** it is its text. Lists and objects are their JSON.
- Values that are not what is asked for are null there, never an error. The answer's \`warnings\` say how many such values were ever sent of the
  property, in the range of the query or not: \`{ code, property, scope, type, count, message }\`.

The same holds for properties of events, persons and groups, for values inside of them (\`properties.a.b\`), for what a subquery or an alias hands on, and
for \`min\`, \`max\`, \`any\`, \`argMax\`, \`if\` and \`coalesce\` of them. Properties of sessions are texts that count as numbers and times in the same way.
In lists, maps and tuples (\`groupArray(properties.a)\`) they are texts; where the order of such items decides, as in \`arraySort\` and \`arrayMax\`, the answer
warns of numbers among them: write \`groupArray(toFloat(properties.a))\`.

A declared type wins over all of this: a property that is declared with \`definePropertyTypes\` is read as that type everywhere, and what does not fit is
null.

## What becomes of a value

– is null. The rows of these tables run as tests on both engines.

${valueTable()}

## A text beside a number

Only properties without a declared type are read as what is asked for. Any other expression whose type is text (\`toString(properties.x)\`,
\`properties.x || ''\`, \`event\`, a property that is declared as text) is a text beside a number too, and has no order with it: statements that compare
the two are refused with the fix. Filters with \`gt\` and its like compare a property that is declared as text by its text.

${textTable()}

## What filters keep

Of the same values.

${filterTable()}

## What becomes of rows

The events have ${orderedValues.map((value) => (value === null ? 'nothing' : json(value))).join(', ')}.

${rowTable()}

In an answer as JSON, \`min\` and \`max\` of such a property are numbers where the value is a number (their type is \`Dynamic\`); in Arrow and CSV, where a
column has one type, they are texts: \`max(toFloat(properties.x))\` is a column of numbers.

## What becomes of insights

Over the same events, with a \`TrendsQuery\`.

${queryTable()}
`
