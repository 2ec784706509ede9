import type { DashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { SubscriptionAnswer } from '../../doors/answers/notifications.ts'
import { get, type Page } from '../lib/api.ts'
import { useHasNoEvents } from '../lib/names.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useOrganization } from '../settings/organization-of.ts'

interface Step {
  readonly title: string
  readonly isDone: boolean
  readonly path: string
}

/** What is left to do until the project is in use; nothing once all of it is done. */
export function SetUp() {
  const { api, ask, link } = useProject()
  const hasNoEvents = useHasNoEvents()
  const own = useOrganization()
  const { value } = useLoaded(
    async (signal) => {
      const countOf = (path: string) => get<Page<unknown>>(path, signal).then(({ count, results }) => count ?? results.length)
      const identified = { kind: 'HogQLQuery', query: 'select count() from (select 1 from persons where is_identified limit 1)' }
      const [people, insights, dashboards, members, subscriptions] = await Promise.all([
        ask(identified, signal).then(({ results }) => (results as readonly (readonly number[])[])[0]?.[0] ?? 0),
        countOf(api('insights/?basic=true&saved=true&limit=1')),
        get<Page<DashboardAnswer>>(api('dashboards/?limit=2'), signal).then(({ results }) => results.length),
        countOf(own.api('members/?limit=2')),
        get<Page<SubscriptionAnswer>>(api('subscriptions/?limit=1'), signal).then(({ results }) => results.length),
      ])
      return { people, insights, dashboards, members, subscriptions }
    },
    [hasNoEvents],
  )
  if (!value) return null
  const steps: readonly Step[] = [
    { title: 'Send events', isDone: !hasNoEvents, path: 'live' },
    { title: 'Identify people', isDone: value.people > 0, path: 'settings/install' },
    { title: 'Save an insight', isDone: value.insights > 0, path: 'insights' },
    { title: 'Put insights on a dashboard', isDone: value.dashboards > 0, path: 'dashboards' },
    { title: 'Invite somebody', isDone: value.members > 1, path: 'settings/invites' },
    { title: 'Get a report every week', isDone: value.subscriptions > 0, path: 'alerts/subscriptions' },
  ]
  const done = steps.filter(({ isDone }) => isDone).length
  if (done === steps.length) return null
  return (
    <section class="panel" aria-label="Set up">
      <div class="panel-head">
        <h2>Set up</h2>
        <span class="note">
          {done} of {steps.length}
        </span>
      </div>
      <ul class="steps">
        {steps.map(({ title, isDone, path }) => (
          <li key={title} class={isDone ? 'done' : ''}>
            <span class="tick" aria-hidden="true">
              {isDone ? '✓' : ''}
            </span>
            {isDone ? (
              <span>
                {title}
                <span class="hidden">: done</span>
              </span>
            ) : (
              <a href={linkTo(link(path))}>{title}</a>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
