import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { axisLabels } from '../../service/pictures/axes.ts'
import type { Chart } from '../../service/pictures/chart.ts'
import { boxColumns, boxNumbers } from '../../service/pictures/chart-rows.ts'
import { shareName, sharesOf } from '../../service/pictures/charts/funnels.ts'
import { beganTexts, unreached } from '../../service/pictures/charts/retention.ts'
import { labelsOf } from '../../service/pictures/charts/trends.ts'
import { breakdownInBrackets, breakdownText } from '../../service/pictures/charts/values.ts'
import { durationText, type NumberFormat, numberText, plainNumbers } from '../../service/pictures/format.ts'
import { readableEvent } from '../../service/pictures/readable.ts'
import type { Picked } from '../charts/picked.ts'
import type { Answer, Query } from '../lib/api.ts'
import { shareText } from '../lib/format.ts'
import { sortedBy } from '../ui/sorted-by.ts'
import { SortHead, useOrder } from '../ui/sorting.tsx'
import { type AnswerRow, funnelGroups, itemName, rowsOf } from './people-of.ts'
import { objectIn, textIn } from './query.ts'
import { useTotals } from './totals.ts'

// The numbers of a chart as tables: for those who cannot see it, and with a button for the people behind each number.

export function Scrolling({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  )
}

/** Under a chart. */
function Numbers({
  isOpen = false,
  isByName = false,
  onToggle,
  children,
}: {
  isOpen?: boolean
  isByName?: boolean
  onToggle?: (isOpen: boolean) => void
  children: ComponentChildren
}) {
  return (
    <details open={isOpen} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
      <summary>Numbers</summary>
      <Scrolling label="Numbers">
        <table class={isByName ? 'rows by-name' : 'rows'}>{children}</table>
      </Scrolling>
    </details>
  )
}

export function PeopleButton({ children, label, onClick }: { children: ComponentChildren; label?: string; onClick: () => void }) {
  return (
    <button type="button" class="plain cell" {...(label !== undefined && { 'aria-label': label })} onClick={onClick}>
      {children}
    </button>
  )
}

const formatOf = (chart: Chart): NumberFormat => ('format' in chart ? chart.format : plainNumbers)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** A row for each series, a column for each interval. */
export function SeriesTable({
  query,
  answer,
  chart,
  totals: given,
  isOpen,
  onChoose,
}: {
  query: Query
  answer: Answer
  chart: Chart
  /** Without them they are asked once the table is opened. */
  totals?: readonly (number | null | undefined)[]
  isOpen: boolean
  onChoose: (picked: Picked) => void
}) {
  const rows = rowsOf(answer)
  const use = useOrder()
  const [isToggled, setToggled] = useState(isOpen)
  const own = useTotals(query, answer, given === undefined && isToggled)
  const totals = given ?? own
  if (rows.length === 0) return null
  const format = formatOf(chart)
  const names = labelsOf(rows)
  const isOverTime = chart.kind === 'lines' || chart.kind === 'bars'
  const labels = isOverTime ? chart.labels : []
  const heads = axisLabels(labels)
  const isTrend = query.kind === 'TrendsQuery'
  const step = isOverTime ? chart.step : 1
  const isFunnel = query.kind === 'FunnelsQuery'
  const nameOf = (i: number): string => (isFunnel ? shareName(rows[i]!) : String(rows[i]!.status ?? names[i]))
  const dataOf = (i: number): readonly unknown[] => (isFunnel ? sharesOf(rows[i]!) : listOf(rows[i]!.data))
  const numberAt = (data: readonly unknown[], at: number): number | null =>
    step === 1 ? numberOf(data[at]) : largestOf(data.slice(at * step, (at + 1) * step))
  const sortValue = (i: number, column: number) => (column === -2 ? nameOf(i) : column === -1 ? totals[i] : numberAt(dataOf(i), column))
  const { order } = use
  const all = rows.map((_, i) => i)
  const ordered = order ? sortedBy(all, (i) => sortValue(i, order.column), order.isDown) : all
  return (
    <Numbers isByName isOpen={isOpen} onToggle={setToggled}>
      <thead>
        <tr>
          <SortHead title="Series" column={-2} use={use} />
          {isTrend && <SortHead title="Total" column={-1} isNumber use={use} />}
          {heads.map((head, i) =>
            head === '' ? <th class="number" key={i} /> : <SortHead title={head} column={i} isNumber use={use} key={i} />,
          )}
        </tr>
      </thead>
      <tbody>
        {ordered.map((i) => {
          const row = rows[i]!
          const name = nameOf(i)
          const data = dataOf(i)
          return (
            <tr key={i}>
              <td>
                {isTrend && row.action !== null ? (
                  <PeopleButton onClick={() => onChoose({ series: i, index: -1 })}>{name}</PeopleButton>
                ) : (
                  name
                )}
              </td>
              {isTrend && <td class="number">{totals[i] === undefined ? '…' : numberText(totals[i], format)}</td>}
              {labels.map((label, at) => {
                const value = numberAt(data, at)
                const text = numberText(value, format)
                return (
                  <td class="number" key={at}>
                    {value === null || value === 0 || row.action === null ? (
                      text
                    ) : (
                      <PeopleButton label={`${text}: ${name}, ${label}`} onClick={() => onChoose({ series: i, index: at })}>
                        {text}
                      </PeopleButton>
                    )}
                  </td>
                )
              })}
            </tr>
          )
        })}
      </tbody>
    </Numbers>
  )
}
const largestOf = (values: readonly unknown[]): number | null =>
  values
    .map(numberOf)
    .reduce<number | null>((largest, value) => (value === null || Math.abs(value) < Math.abs(largest ?? 0) ? largest : value), null)

/** A row for each box, with a button for the people who have its numbers. */
export function BoxTable({
  chart,
  isOpen,
  onChoose,
}: {
  chart: Extract<Chart, { kind: 'boxes' }>
  isOpen: boolean
  onChoose: (row: number) => void
}) {
  return (
    <Numbers isByName isOpen={isOpen}>
      <thead>
        <tr>
          <th>Series</th>
          <th>Interval</th>
          {boxColumns.map((name) => (
            <th class="number" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {chart.boxes.map((box) => (
          <tr key={box.row}>
            <td>{box.label}</td>
            <td>
              <PeopleButton label={`${box.when}: ${box.label}`} onClick={() => onChoose(box.row)}>
                {box.when}
              </PeopleButton>
            </td>
            {boxNumbers(box, chart.format).map((text, i) => (
              <td class="number" key={i}>
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Numbers>
  )
}

/** How many took how long: a row for each bin, a column for each period. */
export function BinTable({ chart }: { chart: Extract<Chart, { kind: 'bars' }> }) {
  return (
    <Numbers>
      <thead>
        <tr>
          <th>From</th>
          {chart.series.map(({ label }) => (
            <th class="number" key={label}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {chart.labels.map((label, bin) => (
          <tr key={bin}>
            <td>{label}</td>
            {chart.series.map(({ label: period, values }) => (
              <td class="number" key={period}>
                {numberText(values[bin] ?? null)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Numbers>
  )
}

export function CountryTable({ chart, onChoose }: { chart: Extract<Chart, { kind: 'map' }>; onChoose: (row: number) => void }) {
  return (
    <Scrolling label="Countries">
      <table class="rows">
        <thead>
          <tr>
            <th>Country</th>
            <th class="number">Total</th>
          </tr>
        </thead>
        <tbody>
          {chart.places.map(({ label, value, row }) => (
            <tr key={row}>
              <td>
                <PeopleButton onClick={() => onChoose(row)}>{label}</PeopleButton>
              </td>
              <td class="number">{numberText(value, chart.format)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  )
}

const countOf = (row: AnswerRow | undefined): number => numberOf(row?.count) ?? 0

/** How many reached each step, how many left before it, and how long it took. */
export function FunnelTable({ answer, onChoose }: { answer: Answer; onChoose: (step: number, row: AnswerRow) => void }) {
  const groups = funnelGroups(answer)
  return (
    <Scrolling label="Steps">
      <table class="rows">
        <thead>
          <tr>
            <th>Step</th>
            <th class="number">Reached</th>
            <th class="number">Dropped off</th>
            <th class="number">Conversion</th>
            <th class="number">Median time</th>
            <th class="number">Average time</th>
          </tr>
        </thead>
        <tbody>
          {groups.flatMap((steps, g) =>
            steps.map((row, i) => {
              const count = countOf(row)
              const lost = i === 0 ? 0 : countOf(steps[i - 1]) - count
              const group =
                row.baseline === true ? ' (baseline)' : row.breakdown_value == null ? '' : ` ${breakdownInBrackets(row.breakdown_value)}`
              const isPrevious = row.compare_label === 'previous'
              const people = (text: string, step: number) => <PeopleButton onClick={() => onChoose(step, row)}>{text}</PeopleButton>
              const time = (value: unknown) => (i === 0 || typeof value !== 'number' ? '–' : durationText(value))
              return (
                <tr key={`${g} ${i}`}>
                  <td>
                    {i + 1}. {String(row.custom_name || readableEvent(String(row.name ?? '')) || 'All events')}
                    {group}
                    {isPrevious && ' (previous)'}
                  </td>
                  <td class="number">{people(numberText(count), i + 1)}</td>
                  <td class="number">
                    {i === 0 ? '–' : people(`${numberText(lost)} (${shareText(lost / countOf(steps[i - 1]))})`, -(i + 1))}
                  </td>
                  <td class="number">{shareText(count / countOf(steps[0]))}</td>
                  <td class="number">{time(row.median_conversion_time)}</td>
                  <td class="number">{time(row.average_conversion_time)}</td>
                </tr>
              )
            }),
          )}
        </tbody>
      </table>
    </Scrolling>
  )
}

interface EdgeRow {
  readonly edge: AnswerRow
  /** Its place in the answer; null: it is not among the edges of the period. */
  readonly current: number | null
  readonly previous: number | null
}

/** An edge of both periods is one row. */
function edgeRows(edges: readonly AnswerRow[]): readonly EdgeRow[] {
  const rows = new Map<string, EdgeRow>()
  edges.forEach((edge, i) => {
    const key = JSON.stringify([edge.source, edge.target])
    const known = rows.get(key) ?? { edge, current: null, previous: null }
    rows.set(key, edge.compare_label === 'previous' ? { ...known, previous: i } : { ...known, current: i })
  })
  return [...rows.values()]
}

export function PathTable({ answer, onChoose }: { answer: Answer; onChoose: (row: number) => void }) {
  const edges = rowsOf(answer)
  const isCompared = edges.some(({ compare }) => compare === true)
  const count = (row: number | null) =>
    row === null ? '–' : <PeopleButton onClick={() => onChoose(row)}>{numberText(numberOf(edges[row]!.value))}</PeopleButton>
  return (
    <Numbers>
      <thead>
        <tr>
          <th class="number">Step</th>
          <th>From</th>
          <th>To</th>
          <th class="number">Paths</th>
          {isCompared && <th class="number">Previous</th>}
          <th class="number">Average time</th>
        </tr>
      </thead>
      <tbody>
        {edgeRows(edges).map(({ edge, current, previous }, i) => (
          <tr key={i}>
            <td class="number">{/^\d*/.exec(String(edge.source))![0]}</td>
            <td class="clip">{itemName(String(edge.source))}</td>
            <td class="clip">{itemName(String(edge.target))}</td>
            <td class="number">{count(current)}</td>
            {isCompared && <td class="number">{count(previous)}</td>}
            <td class="number">
              {current !== null && typeof edge.average_conversion_time === 'number'
                ? durationText(edge.average_conversion_time / 1000)
                : '–'}
            </td>
          </tr>
        ))}
      </tbody>
    </Numbers>
  )
}

interface Cohort extends AnswerRow {
  readonly label: string
  readonly date: string
  readonly values: readonly { readonly count: number; readonly aggregation_value?: number; readonly label?: string }[]
}

/** A row for those who began in an interval, a column for each interval after it. */
export function RetentionGrid({
  query,
  answer,
  onChoose,
}: {
  query: Query
  answer: Answer
  onChoose: (row: number, interval: number, name: string) => void
}) {
  const filter = objectIn(query, 'retentionFilter')
  const cohorts = rowsOf(answer) as unknown as readonly Cohort[]
  const period = textIn(filter, 'period') || 'Day'
  const computed = answer.last_refresh ?? null
  const isSum = filter.aggregationType === 'sum' || filter.aggregationType === 'avg'
  const columns = [...cohorts].sort((a, b) => b.values.length - a.values.length)[0]?.values ?? []
  if (columns.length === 0) return <p class="note">No data for this range.</p>
  const texts = beganTexts(
    cohorts.map(({ date }) => date),
    period,
  )
  const amount = ({ count, aggregation_value }: Cohort['values'][number]) => (isSum ? (aggregation_value ?? 0) : count)
  const largest = Math.max(0, ...cohorts.flatMap(({ values }) => values.map(amount)))
  const isUnreached = unreached(cohorts, period, computed)
  const numbered = cohorts.map((cohort, row) => ({ cohort, row }))
  const isPrevious = ({ cohort }: (typeof numbered)[number]) => cohort.compare_label === 'previous'
  const parts = [
    { name: 'All', rows: numbered.filter((one) => !isPrevious(one)) },
    { name: 'All (previous)', rows: numbered.filter(isPrevious) },
  ].filter(({ rows }) => rows.length > 0)
  // Of those whose interval has begun.
  const sum = (rows: typeof numbered, at: number, value: number) =>
    rows.reduce((total, { cohort }) => (isUnreached(cohort, at) ? total : total + (cohort.values[value]?.count ?? 0)), 0)
  return (
    <Scrolling label="Retention">
      <table class="retention">
        <thead>
          <tr>
            <th>Began</th>
            <th class="number">People</th>
            {columns.map((column, i) => (
              <th class="number" key={i}>
                {column.label ?? i}
              </th>
            ))}
          </tr>
          {!isSum &&
            parts.map(({ name, rows }) => (
              <tr class="mean" key={name}>
                <th scope="row">{name}</th>
                <td class="number">{numberText(sum(rows, 0, 0))}</td>
                {columns.map((_, i) => (
                  <td class="number" key={i}>
                    {shareText(sum(rows, i, i) / sum(rows, i, 0))}
                  </td>
                ))}
              </tr>
            ))}
        </thead>
        <tbody>
          {numbered.map(({ cohort, row }) => {
            const size = cohort.values[0]?.count ?? 0
            const group = cohort.breakdown_value == null ? '' : `${breakdownText(cohort.breakdown_value)}, `
            const name = `${group}${texts[row]!}${isPrevious({ cohort, row }) ? ' (previous)' : ''}`
            return (
              <tr key={row}>
                <th scope="row">{name}</th>
                <td class="number">
                  {size === 0 ? 0 : <PeopleButton onClick={() => onChoose(row, 0, `Began ${name}`)}>{numberText(size)}</PeopleButton>}
                </td>
                {cohort.values.map((value, i) => {
                  if (isUnreached(cohort, i)) return <td key={i} aria-label="Not in the range" />
                  const share = isSum ? (largest === 0 ? 0 : amount(value) / largest) : size === 0 ? 0 : value.count / size
                  const text = isSum ? numberText(amount(value)) : shareText(value.count / size)
                  const title = `Began ${name}, ${columns[i]?.label ?? i}`
                  return (
                    <td key={i} class={`number heat-${Math.min(10, Math.ceil(share * 10))}`} title={`${value.count} of ${size}`}>
                      {value.count === 0 ? (
                        text
                      ) : (
                        <PeopleButton label={`${text}, ${value.count} of ${size}: ${title}`} onClick={() => onChoose(row, i, title)}>
                          {text}
                        </PeopleButton>
                      )}
                    </td>
                  )
                })}
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scrolling>
  )
}
