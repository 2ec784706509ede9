import { families } from '../src/language/functions/registry.ts'
import { type Answered, type Case, type Difference, type FunctionRow, isUnsupported } from '../src/language/functions/row.ts'
import { signature } from '../src/language/functions/signature.ts'
import { casesOf } from '../test/language/functions/cases-of.ts'

// The reference of functions, from the registry's rows.

type Support = 'both' | 'one' | 'none'
function supportOf({ sql }: FunctionRow): Support {
  const engines = [sql.duckdb, sql.clickhouse].filter((cell) => !isUnsupported(cell)).length
  return engines === 2 ? 'both' : engines === 1 ? 'one' : 'none'
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const code = (text: string): string => {
  const ticks = text.includes('`') ? '``' : '`'
  return `${ticks}${ticks.length > 1 ? ' ' : ''}${cell(text)}${ticks.length > 1 ? ' ' : ''}${ticks}`
}
const shown = ([expression, value]: Case): string => `${code(expression)} → ${code(JSON.stringify(value))}`
const mostExamples = 2

const answered = (one: Answered): string => ('value' in one ? code(JSON.stringify(one.value)) : `an error (${code(one.refused)})`)
const differs = ({ expression, duckdb, clickhouse, reason }: Difference): string =>
  `**The engines differ** in ${code(expression)}: ${answered(duckdb)} on DuckDB, ${answered(clickhouse)} on ClickHouse; ${reason}.`

/** What it makes has a limit in each row, unless the arguments are constants that tell. */
function isBounded({ makes, kind, args, sql }: FunctionRow): boolean {
  if (isUnsupported(sql.duckdb) || kind !== 'scalar') return false
  const text = { type: { kind: 'scalar', name: 'String', nullable: false } } as const
  const made =
    typeof makes === 'function' ? makes({ args: Array.from({ length: args[1] ?? args[0] }, () => text), type: text.type }) : makes
  return made?.kind === 'counted' || made?.kind === 'inside' || made?.kind === 'steps'
}

function notes(row: FunctionRow): string[] {
  const { duckdb, clickhouse } = row.sql
  const isNeither = isUnsupported(duckdb) && isUnsupported(clickhouse)
  return [
    row.summary,
    row.caseInsensitive ? 'Any case.' : '',
    isBounded(row) ? '*Bounded.*' : '',
    isNeither ? `**Not supported**: ${duckdb.unsupported}.` : '',
    !isNeither && isUnsupported(duckdb) ? `**ClickHouse only**: ${duckdb.unsupported}.` : '',
    !isNeither && isUnsupported(clickhouse) ? `**DuckDB only**: ${clickhouse.unsupported}.` : '',
    ...(row.differences ?? []).map(differs),
  ].filter(Boolean)
}

const line = ([name, row]: readonly [string, FunctionRow]): string =>
  `| ${code(name)} | ${signature(row)} | ${cell(notes(row).join(' '))} | ${casesOf(name).slice(0, mostExamples).map(shown).join('<br>')} |`

const anchor = (family: string): string =>
  family
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')

function coverage(): string {
  const total = { both: 0, one: 0, none: 0 }
  const rows = Object.entries(families).map(([family, functions]) => {
    const found = { both: 0, one: 0, none: 0 }
    for (const row of Object.values(functions)) found[supportOf(row)]++
    for (const key of ['both', 'one', 'none'] as const) total[key] += found[key]
    return `| [${family}](#${anchor(family)}) | ${Object.keys(functions).length} | ${found.both} | ${found.one} | ${found.none} |`
  })
  const all = total.both + total.one + total.none
  return [
    '| family | functions | both engines | one | none |',
    '|---|---:|---:|---:|---:|',
    ...rows,
    `| all | ${all} | ${total.both} | ${total.one} | ${total.none} |`,
  ].join('\n')
}

const section = ([family, functions]: readonly [string, Readonly<Record<string, FunctionRow>>]): string =>
  [
    `## ${family}`,
    '',
    `${counted(Object.keys(functions).length, 'function')}.`,
    '',
    '| function | arguments | what it does | examples |',
    '|---|---|---|---|',
    ...Object.entries(functions).map(line),
  ].join('\n')

export const functionsPage = (): string => `# Functions

Generated from the registry in \`src/language/functions/\` by \`npm run docs\`; the tests run the examples on both engines.

Function names are case-sensitive, except in rows with "Any case". The second column is the number of arguments, after the number of parameters in parentheses for calls like \`quantile(0.5)(x)\`. Results are
those of ClickHouse, on DuckDB too, with these exceptions on both engines:

- Distinct counts (\`uniq\` and variants) are exact.
- Quantiles and medians are exact and interpolate between the two nearest values; \`quantileExact\` and \`medianExact…\` return one of the values.
- Dates and times are truncated, shifted and printed in the time zone of the project, of \`toTimeZone\`, or of an argument.
- \`toStartOfWeek\` and \`toLastDayOfWeek\` use the project's first day of the week unless a mode is given.
- Conversions return NULL for invalid values instead of failing.
- \`arrayReverseSort\` sorts in descending order.

Suffixes modify an aggregate. \`If\` aggregates only rows where an additional last argument is true; \`Distinct\` aggregates each value once; \`Array\` aggregates the items of arrays, \`ForEach\` each index of
arrays, \`Map\` the values of each key of maps; \`ArgMin\` and \`ArgMax\` aggregate the rows where an additional argument is smallest or largest; \`OrNull\` and \`OrDefault\` set the result for no rows; \`State\`
and \`Merge\` write and read intermediate states. On DuckDB a state is the list of its values.

*Bounded*: the function can produce more bytes than it reads; [sql.md](sql.md#limits-of-produced-values) has the limit per row.

${coverage()}

${Object.entries(families).map(section).join('\n\n')}
`
