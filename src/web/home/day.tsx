import { useMemo } from 'preact/hooks'
import { namedParts } from '../../service/pictures/named-parts.ts'
import { readChart } from '../../service/pictures/read-chart.ts'
import { ChartPlaceContext } from '../annotations/chart-place.ts'
import { ChartView } from '../charts/chart-view.tsx'
import { useLegend } from '../charts/legend.tsx'
import { Spark } from '../charts/spark.tsx'
import type { Cast } from '../dashboards/templates/templates.ts'
import type { Query } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { busy } from '../ui/answer-of.tsx'
import { ErrorBox } from '../ui/parts.tsx'
import { changeText, type DayNumber, dayNumbers, hoursOf, readDay, weeklyActive } from './numbers.ts'

/** What happened in the last 24 hours. */
export const Day = ({ cast }: { cast: Cast }) => (
  <ul class="day-numbers">
    {dayNumbers(cast).map((one, i) => (
      <li key={one.title}>
        <NumberCard of={one} color={i} />
      </li>
    ))}
  </ul>
)

function NumberCard({ of: { title, query, hours }, color }: { of: DayNumber; color: number }) {
  const { ask, link } = useProject()
  const { value, error, isLoading, reload } = useLoaded(
    (signal) => Promise.all([ask(query, signal), ask(hours, signal)]),
    [JSON.stringify(query)],
  )
  const day = value && readDay(value[0])
  return (
    <section class="panel day-number" aria-label={`${title}, last 24 hours`} {...busy(isLoading)}>
      <h2 class="group-name">
        <a href={linkTo(link('insights/new'), { q: JSON.stringify(hours) })}>{title}</a>
      </h2>
      {error && <ErrorBox error={error} retry={reload} />}
      <div class="row">
        <strong class="big">{day ? numberText(day.now) : '–'}</strong>
        {value && <Spark values={hoursOf(value[1])} color={color} />}
      </div>
      <p class="note">{day ? <ChangeOf now={day.now} before={day.before} /> : ' '}</p>
    </section>
  )
}

/** The sign and the share have a color, what they are measured against has none. */
function ChangeOf({ now, before }: { now: number; before: number }) {
  const text = changeText(now, before)
  const [, change, rest] = /^([▲▼] \S+)(.*)$/.exec(text) ?? [text, '', text]
  return (
    <>
      {change && <span class={now > before ? 'up' : 'down'}>{change}</span>}
      {rest}
    </>
  )
}

/** How many people were here, week by week. */
export function Weekly({ cast }: { cast: Cast }) {
  const { ask, link, timezone } = useProject()
  const query: Query = weeklyActive(cast)
  const { value, error, isLoading, reload } = useLoaded((signal) => ask(query, signal), [JSON.stringify(query)])
  const chart = useMemo(() => value && readChart(query, value, timezone), [value])
  // The title and the note beside it name the two lines.
  const legend = useLegend(chart ? namedParts(chart) : [])
  return (
    <section class="panel weekly" aria-label="Weekly active people" {...busy(isLoading)}>
      <div class="panel-head">
        <h2>
          <a href={linkTo(link('insights/new'), { q: JSON.stringify(query) })}>Weekly active people</a>
        </h2>
        <span class="note">the last 30 days, and the 30 days before</span>
      </div>
      {error && <ErrorBox error={error} retry={reload} />}
      {chart && (
        <ChartPlaceContext.Provider value={{}}>
          <ChartView chart={chart} title="Weekly active people" height={240} legend={legend} />
        </ChartPlaceContext.Provider>
      )}
    </section>
  )
}
