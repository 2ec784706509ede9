import { useState } from 'preact/hooks'
import { numberText, shareText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { AnswerOf } from '../ui/answer-of.tsx'
import { Scroll } from '../ui/list-table.tsx'
import { ClientIcon, CountryFlag } from '../ui/origin.tsx'
import { Change } from './overview.tsx'
import { rowName, type SiteChoices, type SiteFilter, siteQuery, type Table, type TableGroup } from './site-query.ts'

const rowsAtFirst = 8
const rowsMore = 100

type Pair = readonly [number | null, number | null]
interface TableRow {
  readonly value: unknown
  readonly pairs: readonly Pair[]
  /** How much of its cell is filled: the largest fills it. */
  readonly fill: number
}
interface Shown {
  readonly columns: readonly string[]
  readonly rows: readonly TableRow[]
  readonly hasMore: boolean
}

const titles: Readonly<Record<string, string>> = {
  visitors: 'Visitors',
  views: 'Views',
  clicks: 'Clicks',
  bounce_rate: 'Bounces',
  total_conversions: 'Conversions',
  unique_conversions: 'Converted',
  conversion_rate: 'Rate',
}
const isRate = (column: string) => column === 'bounce_rate' || column === 'conversion_rate'

/** Columns are named `context.columns.<name>`: first the value, then pairs, then what only fills the row. */
function read(answer: { columns?: readonly string[]; results?: unknown; hasMore?: boolean }): Shown {
  const names = (answer.columns ?? []).map((name) => name.replace('context.columns.', ''))
  const fillAt = names.indexOf('ui_fill_fraction')
  const measures = names.map((name, at) => ({ name, at })).filter(({ name }) => name in titles)
  const rows = (answer.results ?? []) as readonly (readonly unknown[])[]
  const shares = rows.map((row) => (fillAt < 0 ? 0 : Math.max(0, Number(row[fillAt]) || 0)))
  const largest = Math.max(0, ...shares)
  return {
    columns: measures.map(({ name }) => name),
    rows: rows.map((row, i) => ({
      value: row[0],
      pairs: measures.map(({ at }) => row[at] as Pair),
      fill: largest === 0 ? 0 : shares[i]! / largest,
    })),
    hasMore: answer.hasMore === true,
  }
}

const valueText = (column: string, value: number | null): string => (isRate(column) ? shareText(value) : numberText(value))

/** Tables about one thing, one of them shown. */
export function StatsTables({
  group,
  choices,
  onFilter,
}: {
  group: TableGroup
  choices: SiteChoices
  onFilter: (filter: SiteFilter) => void
}) {
  const [by, setBy] = useState(group.tables[0]!.by)
  const table = group.tables.find((one) => one.by === by) ?? group.tables[0]!
  return (
    <section class="tile" aria-label={group.title}>
      <header>
        <h2>{group.title}</h2>
        <div class="switch">
          {group.tables.map((one) => (
            <button type="button" class="plain" key={one.by} aria-pressed={one.by === by} onClick={() => setBy(one.by)}>
              {one.title}
            </button>
          ))}
        </div>
      </header>
      <StatsTable table={table} choices={choices} onFilter={onFilter} key={by} />
    </section>
  )
}

function StatsTable({ table, choices, onFilter }: { table: Table; choices: SiteChoices; onFilter: (filter: SiteFilter) => void }) {
  const project = useProject()
  const [limit, setLimit] = useState(rowsAtFirst)
  const isPage = table.by === 'Page' || table.by === 'InitialPage'
  const query = siteQuery('WebStatsTableQuery', choices, {
    breakdownBy: table.by,
    limit,
    ...(isPage && choices.goal === '' && { includeBounceRate: true }),
  })
  const loaded = useLoaded((signal) => project.ask(query, signal).then(read), [JSON.stringify(query)])
  return (
    <AnswerOf loaded={loaded} class="tile-body tall">
      {(value) => (
        <Rows
          value={value}
          table={table}
          isCompared={choices.isCompared}
          onFilter={onFilter}
          onMore={limit < rowsMore ? () => setLimit(rowsMore) : null}
        />
      )}
    </AnswerOf>
  )
}

function Rows({
  value,
  table,
  isCompared,
  onFilter,
  onMore,
}: {
  value: Shown
  table: Table
  isCompared: boolean
  onFilter: (filter: SiteFilter) => void
  onMore: (() => void) | null
}) {
  if (value.rows.length === 0) return <p class="note">No data in this period</p>
  return (
    <>
      <Scroll label={`Table: ${table.title}`}>
        <table class="rows">
          <thead>
            <tr>
              <th>{table.title}</th>
              {value.columns.map((name) => (
                <th class="number" key={name}>
                  {titles[name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {value.rows.map(({ value: of, pairs, fill }, i) => (
              <tr key={i}>
                <td class="filled">
                  <span class="fill" style={{ width: `${fill * 100}%` }} aria-hidden="true" />
                  <span class="origin">
                    <Mark by={table.by} value={of} />
                  </span>
                  <RowName table={table} value={of} onFilter={onFilter} />
                </td>
                {pairs.map(([now, before], at) => (
                  <td class="number" key={at}>
                    {valueText(value.columns[at]!, now)}
                    {isCompared && at === 0 && <Change value={now} previous={before} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {value.hasMore && onMore && (
        <button type="button" class="plain add" onClick={onMore}>
          Show more
        </button>
      )}
    </>
  )
}

/** Beside what has a flag or an icon. */
function Mark({ by, value }: { by: string; value: unknown }) {
  const first = [value].flat()[0]
  if (typeof first !== 'string' || first === '') return null
  if (['Country', 'Region', 'City'].includes(by)) return <CountryFlag code={first} name={rowName('Country', first)} />
  return by === 'Browser' || by === 'OS' ? <ClientIcon name={first} /> : null
}

function RowName({ table, value, onFilter }: { table: Table; value: unknown; onFilter: (filter: SiteFilter) => void }) {
  const name = rowName(table.by, value)
  const { filter } = table
  if (!filter || typeof value !== 'string') return <span class="row-name">{name}</span>
  return (
    <button
      type="button"
      class="plain cell row-name"
      title={`Only ${name}`}
      onClick={() => onFilter({ ...filter, operator: 'exact', value })}
    >
      {name}
    </button>
  )
}
