import { HelpLink } from '../docs/help-link.tsx'
import { EventField } from '../insights/event-field.tsx'
import { Result } from '../insights/result.tsx'
import { Toolbar } from '../insights/toolbar.tsx'
import type { Answer } from '../lib/api.ts'
import type { EventChoice } from '../lib/named-choices.ts'
import { useActions, useEventNames, useHasNoEvents } from '../lib/names.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { filtersOf, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { NoEvents } from '../live/no-events.tsx'
import { Goals } from '../site/goals.tsx'
import { Overview } from '../site/overview.tsx'
import { type SiteChoices, type SiteFilter, tableGroups, visitorsQuery } from '../site/site-query.ts'
import '../site/site.css'
import type { PageProps } from '../lib/page.ts'
import { StatsTables } from '../site/stats-table.tsx'
import { Vitals } from '../site/vitals.tsx'
import { AnswerOf } from '../ui/answer-of.tsx'
import { Empty, PageHead } from '../ui/parts.tsx'

/** What the owner of a site looks at first. All choices are in the address. */
export function Web({ place }: PageProps) {
  const project = useProject()
  const { of, set } = useAddress(place)
  const names = useEventNames()
  const hasNoEvents = useHasNoEvents()
  const choices: SiteChoices = {
    from: of('from') || '-7d',
    to: of('to') || null,
    isCompared: of('compare') !== 'no',
    goal: of('goal'),
    filters: filtersOf<SiteFilter>(of('filters')).filter(({ value }) => typeof value === 'string'),
  }
  const setFilters = (filters: readonly SiteFilter[]) => set({ filters: filters.length > 0 ? JSON.stringify(filters) : '' })
  const addFilter = (filter: SiteFilter) =>
    setFilters([...choices.filters.filter(({ type, key }) => type !== filter.type || key !== filter.key), filter])
  const isNew = names.length > 0 && !names.includes('$pageview') && !names.includes('$screen')
  return (
    <>
      <PageHead title="Web">
        <HelpLink doc="web" />
      </PageHead>
      <div class="filters">
        <Toolbar
          query={{ kind: 'WebOverviewQuery', dateRange: { date_from: choices.from, ...(choices.to && { date_to: choices.to }) } }}
          onChange={({ dateRange }) => {
            const { date_from = '', date_to = '' } = dateRange as { date_from?: string; date_to?: string }
            set({ from: date_from, to: date_to })
          }}
        />
        <label class="inline compare">
          <input
            type="checkbox"
            checked={choices.isCompared}
            onChange={(event) => set({ compare: event.currentTarget.checked ? '' : 'no' })}
          />{' '}
          Compare with the previous period
        </label>
        <GoalChoice goal={choices.goal} onChange={(goal) => set({ goal })} />
      </div>
      {choices.filters.length > 0 && (
        <div class="chips">
          {choices.filters.map((filter) => (
            <button
              type="button"
              key={`${filter.type} ${filter.key}`}
              onClick={() => setFilters(choices.filters.filter((one) => one !== filter))}
            >
              <span class="hidden">Remove the filter </span>
              {filter.key} = {filter.value} <span aria-hidden="true">✕</span>
            </button>
          ))}
        </div>
      )}
      {hasNoEvents && <NoEvents />}
      {isNew && (
        <Empty title="No page views yet">
          <p>
            This page shows <code>$pageview</code> events, as client libraries for browsers send them, and <code>$screen</code> of apps.{' '}
            <a href={linkTo(project.link('live'))}>See what arrives</a>.
          </p>
        </Empty>
      )}
      <Overview choices={choices} />
      <section class="tile" aria-label="Visitors over time">
        <header>
          <h2>Visitors over time</h2>
        </header>
        <Visitors choices={choices} />
      </section>
      <div class="tiles">
        {tableGroups.map((group) => (
          <StatsTables key={group.title} group={group} choices={choices} onFilter={addFilter} />
        ))}
        <Goals choices={choices} />
        <Vitals choices={choices} />
      </div>
    </>
  )
}

const chartHeight = 260

/** The series is about people, though its event is a page view. */
const titled = (answer: Answer): Answer => ({
  ...answer,
  results: (answer.results as readonly object[]).map((row) => ({ ...row, label: 'Visitors' })),
})

function Visitors({ choices }: { choices: SiteChoices }) {
  const project = useProject()
  const names = useEventNames()
  const query = visitorsQuery(choices, names.includes('$screen'))
  const loaded = useLoaded(async (signal) => ({ query, answer: titled(await project.ask(query, signal)) }), [JSON.stringify(query)])
  return (
    <AnswerOf loaded={loaded} class="answer site-chart">
      {({ query: asked, answer }) => <Result query={asked} answer={answer} title="Visitors over time" height={chartHeight} />}
    </AnswerOf>
  )
}

function GoalChoice({ goal, onChange }: { goal: string; onChange: (goal: string) => void }) {
  const actions = useActions()
  const [kind = '', ...rest] = goal.split(':')
  const of = rest.join(':')
  const chosen: EventChoice =
    kind === 'event'
      ? { event: of }
      : kind === 'action'
        ? { action: Number(of), name: actions.find(({ id }) => id === Number(of))?.name ?? '' }
        : null
  return (
    <EventField
      label="Conversion goal"
      all="No conversion goal"
      value={chosen}
      onChange={(choice) => onChange(choice === null ? '' : 'event' in choice ? `event:${choice.event}` : `action:${choice.action}`)}
    />
  )
}
