import { numberText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Scroll } from '../ui/list-table.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { Change } from './overview.tsx'
import { type SiteChoices, siteQuery } from './site-query.ts'

type Pair = readonly [number | null, number | null]

/** How many visitors did what the actions of the project describe. */
export function Goals({ choices }: { choices: SiteChoices }) {
  const project = useProject()
  const query = siteQuery('WebGoalsQuery', choices, { limit: 10 })
  const { value, error, reload, cancel } = useLoaded((signal) => project.ask(query, signal), [JSON.stringify(query)])
  const rows = (value?.results ?? []) as readonly (readonly [string, Pair, Pair, Pair])[]
  return (
    <section class="tile" aria-label="Goals">
      <header>
        <h2>Goals</h2>
      </header>
      <div class="tile-body">
        {error && <ErrorBox error={error} retry={reload} />}
        {!error && !value && <Working what="Computing" cancel={cancel} />}
        {value && rows.length === 0 && (
          <p class="note">
            Every action of the project is a goal. There is none yet: <a href={linkTo(project.link('data/actions'))}>define one</a>.
          </p>
        )}
        {rows.length > 0 && (
          <Scroll label="Table: Goals">
            <table class="rows">
              <thead>
                <tr>
                  <th>Action</th>
                  <th class="number">Visitors</th>
                  <th class="number">Times</th>
                  <th class="number">Rate</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(([name, visitors, times, rate], i) => (
                  <tr key={i}>
                    <td class="wrap">{name}</td>
                    <td class="number">
                      {numberText(visitors[0])}
                      {choices.isCompared && <Change value={visitors[0]} previous={visitors[1]} />}
                    </td>
                    <td class="number">{numberText(times[0])}</td>
                    <td class="number">{rate[0] === null ? '–' : `${numberText(Math.round(rate[0] * 1000) / 10)}%`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </div>
    </section>
  )
}
