import { isProperty, readBeside } from '../../types/property-values.ts'
import { isNullable, isText, scalar } from '../../types/types.ts'
import { asFloat, once, onceAll, unlessNull } from '../cells/duckdb-values.ts'
import { counted, part } from '../makes.ts'
import { mustBeConstant } from '../must-be-constant.ts'
import { always, commonType, whenAll } from '../results.ts'
import { type Arg, call, differing, type SqlCell, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Human-readable values, and functions that fit in no other family.

/** The largest unit that fits, with two decimal places. */
const inUnits = (base: number, units: readonly string[], largest = units.at(-1)!): SqlCell => {
  const cell: SqlCell = ([x], context) =>
    once(context, asFloat(x!), (v) => {
      const least = `WHEN isnan(${v}) THEN 'nan${units[0]}' WHEN isinf(${v}) THEN CAST(${v} AS VARCHAR) || '${largest}'`
      const steps = units.map((unit, i) => [base ** i, unit] as const).reverse()
      const branches = steps.map(([size, unit]) => `WHEN abs(${v}) >= ${size}e0 THEN printf('%.2f${unit}', ${v} / ${size}e0)`)
      return `CASE ${least} ${branches.join(' ')} WHEN ${v} IS NOT NULL THEN printf('%.2f${units[0]}', ${v}) END`
    })
  return cell
}
const readable = (summary: string, base: number, units: readonly string[], largest: string, cases: ScalarSpec['cases']): ScalarSpec => ({
  args: 1,
  takes: 'number',
  returns: whenAll('String'),
  summary,
  duckdb: inUnits(base, units, largest),
  cases,
})

const timeUnits = [
  ['years', 31_536_000],
  ['months', 2_635_200],
  ['days', 86_400],
  ['hours', 3600],
  ['minutes', 60],
  ['seconds', 1],
] as const
const timeDelta: SqlCell = ([x, biggest], context) => {
  mustBeConstant(biggest, 'The largest unit')
  const first = Math.max(
    0,
    timeUnits.findIndex(([unit]) => unit === biggest?.constant),
  )
  const sign = `CASE WHEN ${asFloat(x!)} < 0 THEN '-' ELSE '' END`
  return once(context, `CAST(floor(abs(${asFloat(x!)})) AS BIGINT)`, (v) => {
    const units = timeUnits.slice(first)
    const parts = units.map(([unit, size], i) => {
      const before = units[i - 1]
      const rest = units.slice(0, i).reduce((sql, [, bigger]) => `(${sql} % ${bigger})`, v)
      const count = `(${before ? rest : v} // ${size})`
      return `CASE WHEN ${count} > 0 THEN printf('%d ${unit.slice(0, -1)}%s', ${count}, CASE WHEN ${count} = 1 THEN '' ELSE 's' END) END`
    })
    const p = context.fresh()
    return once(
      context,
      `list_filter([${parts.join(', ')}], lambda ${p}: ${p} IS NOT NULL)`,
      (list) =>
        `CASE WHEN ${v} IS NULL THEN NULL WHEN len(${list}) = 0 THEN ${sign} || '0 seconds' WHEN len(${list}) = 1 THEN ${sign} || ${list}[1] ELSE ${sign} || array_to_string(array_slice(${list}, 1, -2), ', ') || ' and ' || ${list}[-1] END`,
    )
  })
}

const bar: SqlCell = (args, context) =>
  onceAll(context, args.map(asFloat), (x, low, high, width) => {
    const share = `CASE WHEN ${x} <= ${low} THEN 0 WHEN ${x} >= ${high} THEN 1 ELSE (${x} - ${low}) / (${high} - ${low}) END`
    const eighths = `CAST(floor((${share}) * ${width} * 8) AS BIGINT)`
    return `repeat('█', CAST((${eighths} // 8) AS INTEGER)) || CASE ${eighths} % 8 ${[...'▏▎▍▌▋▊▉'].map((block, i) => `WHEN ${i + 1} THEN '${block}'`).join(' ')} ELSE '' END`
  })

const extreme = (name: 'greatest' | 'least', cases: ScalarSpec['cases']): ScalarSpec => ({
  args: 2,
  takes: (args) => args.map(() => (args.every(isProperty) ? 'order' : 'alike')),
  caseInsensitive: true,
  returns: commonType,
  makes: part,
  summary: `The ${name === 'greatest' ? 'greater' : 'lesser'} of two values; NULL is ignored.`,
  duckdb: call(name),
  cases,
})

/** English names of languages by their two-letter codes. */
const languageNames = (): readonly (readonly [string, string])[] => {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  return letters.flatMap((a) =>
    letters.flatMap((b) => {
      const name = names.of(a + b)
      return name ? [[a + b, name] as const] : []
    }),
  )
}
const quoted = (texts: readonly string[]): string => `[${texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')}]`
const codes = languageNames()
/** All codes in one text, three characters apart: searching it is several times as fast as searching a list. */
const codeText = `'|${codes.map(([code]) => code).join('|')}|'`
const nameList = quoted(codes.map(([, name]) => name))

const mapped =
  (otherwise: (args: readonly Arg[]) => string): SqlCell =>
  (args, context) => {
    const [x, from, to] = args
    return once(
      context,
      `list_position(${from!.sql}, ${x!.sql})`,
      (at) => `CASE WHEN ${at} > 0 THEN array_extract(${to!.sql}, ${at}) ELSE ${otherwise(args)} END`,
    )
  }

export const readableFunctions = scalars({
  formatReadableSize: readable('Bytes in KiB, MiB, GiB …', 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB', ' EiB'], ' YiB', [
    ['formatReadableSize(1500)', '1.46 KiB'],
    ['formatReadableSize(12)', '12.00 B'],
    ['formatReadableSize(123456789)', '117.74 MiB'],
    ['formatReadableSize(-1500)', '-1.46 KiB'],
    ['formatReadableSize(nan)', 'nan B'],
    ['formatReadableSize(-inf)', '-inf YiB'],
  ]),
  formatReadableDecimalSize: readable('Bytes in KB, MB, GB …', 1000, [' B', ' KB', ' MB', ' GB', ' TB', ' PB', ' EB'], ' YB', [
    ['formatReadableDecimalSize(1500)', '1.50 KB'],
  ]),
  formatReadableQuantity: readable(
    'A number in thousand, million, billion …',
    1000,
    ['', ' thousand', ' million', ' billion', ' trillion', ' quadrillion', ' quintillion'],
    ' vigintillion',
    [
      ['formatReadableQuantity(1500)', '1.50 thousand'],
      ['formatReadableQuantity(1234567890123)', '1.23 trillion'],
      ['formatReadableQuantity(12)', '12.00'],
      ['formatReadableQuantity(inf)', 'inf vigintillion'],
    ],
  ),
  formatReadableTimeDelta: {
    args: [1, 2],
    takes: ['number', 'text'],
    returns: whenAll('String'),
    summary: 'Formats seconds as years, months, days, hours, minutes and seconds; the second argument is the largest unit.',
    duckdb: (args, context) => unlessNull(args.slice(1), timeDelta(args, context)),
    cases: [
      ['formatReadableTimeDelta(3661, null)', null],
      ['formatReadableTimeDelta(3661)', '1 hour, 1 minute and 1 second'],
      ['formatReadableTimeDelta(100000000)', '3 years, 2 months, 1 day, 9 hours, 46 minutes and 40 seconds'],
      ['formatReadableTimeDelta(0)', '0 seconds'],
      ['formatReadableTimeDelta(60)', '1 minute'],
      ['formatReadableTimeDelta(-3661.5)', '-1 hour, 1 minute and 1 second'],
      ["formatReadableTimeDelta(90061, 'hours')", '25 hours, 1 minute and 1 second'],
    ],
  },
  bar: {
    args: 4,
    takes: 'number',
    returns: whenAll('String'),
    summary:
      'Draws a bar whose length shows where a number lies between a minimum and a maximum; the fourth argument is the width in characters.',
    makes: counted((c) => c.times(c.value(3), c.number(3))),
    duckdb: (args, context) => unlessNull(args, bar(args, context)),
    cases: [
      ['bar(5, null, 10, 10)', null],
      ['bar(5, 0, 10, 10)', '█████'],
      ['bar(3, 0, 10, 4)', '█▏'],
      ['bar(20, 0, 10, 2)', '██'],
      ['bar(3, 20, 10, 4)', ''],
    ],
  },
  greatest: extreme('greatest', [
    ['greatest(1.5, 2)', 2],
    ['greatest(1, null)', 1],
    ["greatest('a', 'b')", 'b'],
  ]),
  least: extreme('least', [
    ['least(1, 2)', 1],
    ['least(null, 1)', 1],
  ]),
  transform: {
    args: [3, 4],
    sideBySide: [1, 3],
    takes: ([, from]) => [from?.kind === 'array' ? readBeside(from.item) : 'text', 'text'],
    returns: ([x, , to, otherwise]) => commonType([to?.kind === 'array' ? to.item : to!, otherwise ?? x!]),
    makes: part,
    summary:
      'Maps the first argument from the items of one array to those of another; otherwise returns the fourth argument, or the first.',
    duckdb: mapped((args) => args[3]?.sql ?? args[0]!.sql),
    cases: [
      ["transform(2, [1, 2], ['a', 'b'], 'c')", 'b'],
      ["transform(3, [1, 2], ['a', 'b'], 'c')", 'c'],
      ['transform(3, [1, 2], [10, 20])', 3],
      ['transform(null, [1, 2], [10, 20], 5)', 5],
    ],
    differences: [
      differing('transform(null, [null, 2], [1, 3], 4)', 1, 4, 'DuckDB finds NULL among the values, and ClickHouse does not'),
      {
        expression: "transform('a', ['a', null], ['b', 'd'], 'c')",
        duckdb: { value: 'b' },
        clickhouse: { refused: 'Cannot convert NULL value' },
        reason: 'ClickHouse finds a value that cannot be NULL only among such values',
      },
    ],
  },
  languageCodeToName: {
    args: 1,
    returns: always('String'),
    summary: "English name of a two-letter language code; 'Unknown' for other texts.",
    duckdb: ([x], context) => {
      if (!isText(x!.type)) return "'Unknown'"
      const at = once(context, x!.sql, (code) => `CASE WHEN strlen(${code}) = 2 THEN strpos(${codeText}, '|' || ${code} || '|') END`)
      return `coalesce(array_extract(${nameList}, nullif((${at} + 2) // 3, 0)), 'Unknown')`
    },
    clickhouse: ([x]) => {
      const list = (texts: readonly string[]) => `[${texts.map((text) => `'${text.replaceAll("'", "\\'")}'`).join(', ')}]`
      const text = isNullable(x!.type) ? `ifNull(${isText(x!.type) ? x!.sql : 'CAST(NULL AS Nullable(String))'}, '')` : x!.sql
      return `transform(${text}, ${list(codes.map(([code]) => code))}, ${list(codes.map(([, name]) => name))}, 'Unknown')`
    },
    cases: [
      ["languageCodeToName('en')", 'English'],
      ["languageCodeToName('de')", 'German'],
      ["languageCodeToName('??')", 'Unknown'],
      ["languageCodeToName('a|')", 'Unknown'],
      ["languageCodeToName('aa|ab')", 'Unknown'],
      ['languageCodeToName(null)', 'Unknown'],
    ],
  },
  throwIf: {
    args: [1, 2],
    takes: ['boolean', 'text'],
    returns: whenAll('UInt8'),
    summary: 'Raises an error, with the given message, if the condition is true; otherwise returns 0.',
    duckdb: ([condition, message], context) =>
      unlessNull(
        message ? [condition!, message] : [condition!],
        `CASE WHEN ${condition!.sql} THEN ${context.refuse(message?.sql ?? "'Value passed to throwIf is not zero'")} ELSE 0 END`,
      ),
    cases: [
      ['throwIf(0)', 0],
      ['throwIf(null)', null],
      ["throwIf(1 = 2, 'no')", 0],
      ['throwIf(1 = 2, null)', null],
    ],
  },
  indexHint: {
    args: 1,
    returns: () => scalar('Bool'),
    summary: 'Always true: a hint for indexes, which this engine does not have.',
    duckdb: () => 'true',
    clickhouse: () => 'true',
    cases: [['indexHint(1 = 2)', 1]],
  },
  extractIPv4Substrings: {
    args: 1,
    returns: () => ({ kind: 'array', item: scalar('String') }),
    summary: 'The IPv4 addresses in a text.',
    duckdb: unsupported('the version of ClickHouse in the tests does not have this function, so there is nothing to compare with'),
    clickhouse: unsupported('this version of ClickHouse has no such function'),
    cases: [],
  },
  jev: {
    args: [0, null],
    returns: always('String'),
    summary: 'Belongs to another product; it has no effect here.',
    duckdb: unsupported('it belongs to a feature that this engine does not have'),
    clickhouse: unsupported('it belongs to a feature that this engine does not have'),
    cases: [],
  },
})
