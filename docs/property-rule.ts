// What becomes of a property without a declared type: the table of properties.md, which the tests run on both engines.

/** The values that the table is about, each on an event of its own with its JSON as `kind`. */
export const values: readonly unknown[] = [10, '10', '10.0', '01234', true, 'true', 'abc', '2024-05-01', [10], null]

export interface RuleOfValue {
  readonly where: string
  /** Over the property `x`. */
  readonly expression: string
  /** For each of `values`. */
  readonly becomes: readonly unknown[]
}

const no = (count: number) => Array.from({ length: count }, () => 0)
const none = (count: number) => Array.from({ length: count }, () => null)

export const rulesOfValues: readonly RuleOfValue[] = [
  {
    where: 'it is shown',
    expression: 'properties.x',
    becomes: ['10', '10', '10.0', '01234', 'true', 'true', 'abc', '2024-05-01', '[10]', null],
  },
  {
    where: 'a text is asked for',
    expression: "concat('<', properties.x, '>')",
    becomes: ['<10>', '<10>', '<10.0>', '<01234>', '<true>', '<true>', '<abc>', '<2024-05-01>', '<[10]>', '<>'],
  },
  { where: 'a number is asked for', expression: 'properties.x + 1', becomes: [11, 11, 11, 1235, ...none(6)] },
  { where: 'a whole number is asked for', expression: 'toInt(properties.x)', becomes: [10, 10, null, 1234, ...none(6)] },
  { where: 'a time is asked for', expression: 'toYear(properties.x)', becomes: [...none(7), 2024, ...none(2)] },
  {
    where: 'a boolean is asked for',
    expression: "if(properties.x, 'yes', 'no')",
    becomes: Array.from('nnnnyynnnn', (c) => (c === 'y' ? 'yes' : 'no')),
  },
  { where: 'compared with a number', expression: 'properties.x = 10', becomes: [1, 1, 1, ...no(7)] },
  { where: 'compared with a number', expression: 'properties.x > 5', becomes: [1, 1, 1, 1, ...no(6)] },
  { where: 'between numbers', expression: 'properties.x between 5 and 100', becomes: [1, 1, 1, ...no(7)] },
  { where: 'equal to a text', expression: "properties.x = '10'", becomes: [1, 1, ...no(8)] },
  { where: 'ordered against a text', expression: "properties.x > '1234'", becomes: [0, 0, 0, 0, 1, 1, 1, 1, 1, 0] },
  { where: 'equal to a boolean', expression: 'properties.x = true', becomes: [0, 0, 0, 0, 1, 1, ...no(4)] },
  { where: 'compared with a time', expression: "properties.x >= toDateTime('2024-01-01 00:00:00')", becomes: [...no(7), 1, 0, 0] },
  { where: 'equal to another property', expression: 'properties.x = properties.ten', becomes: [1, 1, ...no(8)] },
  {
    where: 'ordered against another property',
    expression: 'properties.x > properties.ten',
    becomes: [0, ...Array.from({ length: 8 }, () => 1), 0],
  },
  { where: 'one of several', expression: "properties.x in (10, 'abc')", becomes: [1, 1, 1, 0, 0, 0, 1, ...no(3)] },
  { where: 'matched by a pattern', expression: "properties.x like '10%'", becomes: [1, 1, 1, ...no(7)] },
  { where: 'missing', expression: 'properties.x is null', becomes: [...no(9), 1] },
  { where: 'or a number', expression: 'coalesce(properties.x, 0)', becomes: [10, 10, 10, 1234, ...no(6)] },
  {
    where: 'or a text',
    expression: "coalesce(properties.x, '-')",
    becomes: ['10', '10', '10.0', '01234', 'true', 'true', 'abc', '2024-05-01', '[10]', '-'],
  },
]

export interface RuleOfText {
  readonly where: string
  readonly expression: string
  /** The message of the error where it is refused. */
  readonly becomes: { readonly value: unknown } | { readonly refused: string }
}

/** An expression whose type is text beside a number: what is no property, or one that is declared as text. */
export const rulesOfTexts: readonly RuleOfText[] = [
  { where: 'equal: the text of the number', expression: "concat('1', '0') = 10", becomes: { value: 1 } },
  { where: 'equal: the text of the number', expression: "concat('10', '.0') = 10", becomes: { value: 0 } },
  { where: 'one of several: as equal', expression: "concat('1', '0') in ('a', 10)", becomes: { value: 1 } },
  { where: 'a constant text that is a number', expression: "9 < '10'", becomes: { value: 1 } },
  {
    where: 'ordered, `between`',
    expression: "concat('1', '0') > 9",
    becomes: { refused: "'>' needs a number, but 'concat('1', '0')' is String. Use toFloat(concat('1', '0'))." },
  },
  { where: 'read as a number', expression: "toFloat(concat('1', '0')) > 9", becomes: { value: 1 } },
  {
    where: 'arithmetic',
    expression: "concat('1', '0') + 1",
    becomes: { refused: "'plus' needs a number, but 'concat('1', '0')' is String. Use toFloat(concat('1', '0'))." },
  },
]

export interface RuleOfFilter {
  readonly operator: string
  readonly value: unknown
  /** Which of `values` it keeps, by their JSON. */
  readonly keeps: readonly unknown[]
}
const but = (...others: readonly unknown[]) => values.filter((value) => !others.includes(value))

export const rulesOfFilters: readonly RuleOfFilter[] = [
  { operator: 'exact', value: '10', keeps: [10, '10'] },
  { operator: 'exact', value: 10, keeps: [10, '10', '10.0'] },
  { operator: 'exact', value: ['abc', 10], keeps: [10, '10', '10.0', 'abc'] },
  { operator: 'exact', value: true, keeps: [true, 'true'] },
  { operator: 'is_not', value: '10', keeps: but(10, '10') },
  { operator: 'gt', value: 5, keeps: [10, '10', '10.0', '01234'] },
  { operator: 'gt', value: '5', keeps: [10, '10', '10.0', '01234'] },
  { operator: 'lt', value: 100, keeps: [10, '10', '10.0'] },
  { operator: 'gt', value: 'abc', keeps: [true, 'true'] },
  { operator: 'between', value: [5, 100], keeps: [10, '10', '10.0'] },
  { operator: 'not_between', value: [5, 100], keeps: ['01234'] },
  { operator: 'icontains', value: '10', keeps: [10, '10', '10.0', values[8]] },
  { operator: 'regex', value: '^0', keeps: ['01234'] },
  { operator: 'is_set', value: 'is_set', keeps: but(null) },
]

export interface RuleOfRows {
  readonly where: string
  /** Over events with the numbers 10 and 9, and the texts '10', '9', 'b' and 'a', and one without the property. */
  readonly statement: string
  readonly rows: readonly (readonly unknown[])[]
}
export const orderedValues: readonly unknown[] = [10, 9, '10', '9', 'b', 'a', null]

export const rulesOfRows: readonly RuleOfRows[] = [
  {
    where: 'rows are ordered: numbers by value, then texts, then nothing',
    statement: 'select properties.x from events order by properties.x',
    rows: [['9'], ['10'], ['10'], ['9'], ['a'], ['b'], [null]],
  },
  {
    where: 'and the other way round',
    statement: 'select properties.x from events order by properties.x desc',
    rows: [['b'], ['a'], ['9'], ['10'], ['10'], ['9'], [null]],
  },
  {
    where: 'rows are grouped: by text, and a group is a number when one of its values is',
    statement: 'select properties.x, count() from events group by properties.x order by properties.x',
    rows: [
      ['9', 2],
      ['10', 2],
      ['a', 1],
      ['b', 1],
      [null, 1],
    ],
  },
  {
    where: 'equal rows are one',
    statement: 'select distinct properties.x from events order by properties.x desc',
    rows: [['b'], ['a'], ['10'], ['9'], [null]],
  },
  {
    where: 'the first and the last of the order are chosen, and shown as what they are',
    statement: 'select min(properties.x), max(properties.x) from events',
    rows: [[9, 'b']],
  },
  { where: 'numbers are summed up', statement: 'select sum(properties.x), avg(properties.x) from events', rows: [[38, 9.5]] },
  { where: 'values are counted', statement: 'select count(properties.x), uniq(properties.x) from events', rows: [[6, 4]] },
]

export interface RuleOfQuery {
  readonly where: string
  /** Of a TrendsQuery over the events of `orderedValues`. */
  readonly parts: object
  readonly rows: readonly (readonly [label: string, value: number])[]
}

export const rulesOfQueries: readonly RuleOfQuery[] = [
  {
    where: 'a breakdown: by text',
    parts: { breakdownFilter: { breakdown: 'x', breakdown_type: 'event' } },
    rows: [
      ['10', 2],
      ['9', 2],
      ['a', 1],
      ['b', 1],
      ['$$_posthog_breakdown_null_$$', 1],
    ],
  },
  {
    where: 'bins of a breakdown: by number',
    parts: { breakdownFilter: { breakdown: 'x', breakdown_type: 'event', breakdown_histogram_bin_count: 2 } },
    rows: [
      ['[9,9.5]', 2],
      ['[9.5,10.01]', 2],
      ['$$_posthog_breakdown_null_$$', 3],
    ],
  },
  {
    where: 'math of a property: by number',
    parts: { series: [{ kind: 'EventsNode', event: 'e', math: 'sum', math_property: 'x' }] },
    rows: [['e', 38]],
  },
  {
    where: 'a formula over such sums',
    parts: {
      series: [
        { kind: 'EventsNode', event: 'e', math: 'max', math_property: 'x' },
        { kind: 'EventsNode', event: 'e', math: 'min', math_property: 'x' },
      ],
      trendsFilter: { formula: 'A - B' },
    },
    rows: [['Formula (A - B)', 1]],
  },
]
