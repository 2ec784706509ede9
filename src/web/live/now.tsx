import { useEffect, useMemo, useState } from 'preact/hooks'
import { readChart } from '../../service/pictures/read-chart.ts'
import { ChartView } from '../charts/chart-view.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { useProperties } from '../lib/names.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { online, onlineMinutes } from './online.ts'
import './now.css'

// Who is here now: over the list of events.

const country = '$geoip_country_code'

const byMinute: Query = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: null, name: 'All events', math: 'total' }],
  interval: 'minute',
  dateRange: { date_from: '-1h' },
  trendsFilter: { display: 'ActionsBar' },
}
const map: Query = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: null, name: 'All events', math: 'dau' }],
  dateRange: { date_from: '-1h' },
  breakdownFilter: { breakdown: country, breakdown_type: 'event' },
  trendsFilter: { display: 'WorldMap' },
}

/** Those who were here are not any more, although no event says so. */
function useHalfMinute(): number {
  const [half, setHalf] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setHalf((before) => before + 1), 30_000)
    return () => clearInterval(timer)
  }, [])
  return half
}

/** `position`: where the events end now; what is shown follows it. */
export function Now({ position }: { position: number | null }) {
  const { ask } = useProject()
  const hasCountries = useProperties('event').some(({ name, count }) => name === country && count > 0)
  const half = useHalfMinute()
  const { value } = useLoaded(
    (signal) => Promise.all([online, byMinute, ...(hasCountries ? [map] : [])].map((query) => ask(query, signal, 'force_blocking'))),
    [position, hasCountries, half],
  )
  if (!value) return null
  const [counted, minutes, countries] = value
  const [people = 0, events = 0] = (counted!.results as readonly (readonly number[])[])[0] ?? []
  return (
    <section class="now" aria-label="Now">
      <div class="now-numbers">
        <p>
          <strong>{numberText(people)}</strong> {people === 1 ? 'person' : 'people'} online
        </p>
        <p class="note">
          {numberText(events)} {events === 1 ? 'event' : 'events'} in the last {onlineMinutes} minutes
        </p>
      </div>
      <Drawn query={byMinute} answer={minutes!} title="Events by minute, last hour" height={110} />
      {countries && <Drawn query={map} answer={countries} title="People by country, last hour" height={200} />}
    </section>
  )
}

function Drawn({ query, answer, title, height }: { query: Query; answer: Answer; title: string; height: number }) {
  const { timezone } = useProject()
  const chart = useMemo(() => readChart(query, answer, timezone), [answer])
  return (
    <figure>
      <figcaption class="note">{title}</figcaption>
      <ChartView chart={chart} title={title} height={height} />
    </figure>
  )
}
