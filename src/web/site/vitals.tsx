import { useState } from 'preact/hooks'
import { numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { AnswerOf } from '../ui/answer-of.tsx'
import { type SiteChoices, siteQuery } from './site-query.ts'

/** Good up to the first number, poor above the second: the limits of web.dev. */
const metrics = [
  { name: 'LCP', title: 'Largest contentful paint', thresholds: [2500, 4000], unit: 'ms' },
  { name: 'INP', title: 'Interaction to next paint', thresholds: [200, 500], unit: 'ms' },
  { name: 'CLS', title: 'Cumulative layout shift', thresholds: [0.1, 0.25], unit: '' },
  { name: 'FCP', title: 'First contentful paint', thresholds: [1800, 3000], unit: 'ms' },
] as const
const bands = [
  ['good', 'Good'],
  ['needs_improvements', 'Needs improvement'],
  ['poor', 'Poor'],
] as const

type Bands = Readonly<Record<(typeof bands)[number][0], readonly { readonly path: string; readonly value: number }[]>>

/** How fast pages are, for three of four visits. */
export function Vitals({ choices }: { choices: SiteChoices }) {
  const project = useProject()
  const [name, setName] = useState<(typeof metrics)[number]['name']>('LCP')
  const metric = metrics.find((one) => one.name === name)!
  const query = siteQuery(
    'WebVitalsPathBreakdownQuery',
    { ...choices, isCompared: false, goal: '' },
    { metric: name, percentile: 'p75', thresholds: metric.thresholds },
  )
  const loaded = useLoaded(
    (signal) => project.ask(query, signal).then(({ results }) => ({ found: (results as readonly Bands[])[0]!, unit: metric.unit })),
    [JSON.stringify(query)],
  )
  return (
    <section class="tile" aria-label="Web vitals">
      <header>
        <h2>Web vitals</h2>
        <div class="switch">
          {metrics.map((one) => (
            <button
              type="button"
              class="plain"
              key={one.name}
              aria-pressed={one.name === name}
              title={one.title}
              onClick={() => setName(one.name)}
            >
              {one.name}
            </button>
          ))}
        </div>
      </header>
      <div class="tile-body">
        <p class="note">{metric.title}, 75th percentile by page.</p>
        <AnswerOf loaded={loaded}>{({ found, unit }) => <Measured found={found} unit={unit} />}</AnswerOf>
      </div>
    </section>
  )
}

function Measured({ found, unit }: { found: Bands; unit: string }) {
  if (bands.every(([band]) => found[band].length === 0))
    return (
      <p class="note">
        None were sent in these days. Client libraries send <code>$web_vitals</code> when web vitals are captured.
      </p>
    )
  return (
    <div class="vitals">
      {bands.map(([band, title]) => (
        <section key={band} aria-label={title}>
          <h3>
            <span class={`badge ${band === 'good' ? 'good' : band === 'poor' ? 'bad' : ''}`}>{title}</span>
          </h3>
          <ul class="lines">
            {found[band].map(({ path, value: number }) => (
              <li key={path}>
                <span class="wrap">{path}</span>
                <span>
                  {numberText(number)} {unit}
                </span>
              </li>
            ))}
          </ul>
          {found[band].length === 0 && <p class="note">None</p>}
        </section>
      ))}
    </div>
  )
}
