import { numberText, shareText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { AnswerOf } from '../ui/answer-of.tsx'
import { Scroll } from '../ui/list-table.tsx'
import { Change } from './overview.tsx'
import { type SiteChoices, siteQuery } from './site-query.ts'

type Pair = readonly [number | null, number | null]
type GoalRow = readonly [name: string, visitors: Pair, times: Pair, rate: Pair]

/** How many visitors did what the actions of the project describe. */
export function Goals({ choices }: { choices: SiteChoices }) {
  const project = useProject()
  const query = siteQuery('WebGoalsQuery', choices, { limit: 10 })
  const loaded = useLoaded((signal) => project.ask(query, signal), [JSON.stringify(query)])
  return (
    <section class="tile" aria-label="Goals">
      <header>
        <h2>Goals</h2>
      </header>
      <AnswerOf loaded={loaded} class="tile-body">
        {({ results }) => <GoalRows rows={results as readonly GoalRow[]} isCompared={choices.isCompared} />}
      </AnswerOf>
    </section>
  )
}

function GoalRows({ rows, isCompared }: { rows: readonly GoalRow[]; isCompared: boolean }) {
  const { link } = useProject()
  if (rows.length === 0)
    return (
      <p class="note">
        Every action of the project is a goal. There is none yet: <a href={linkTo(link('data/actions'))}>define one</a>.
      </p>
    )
  return (
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
                {isCompared && <Change value={visitors[0]} previous={visitors[1]} />}
              </td>
              <td class="number">{numberText(times[0])}</td>
              <td class="number">{shareText(rate[0])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
