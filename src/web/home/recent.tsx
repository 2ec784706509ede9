import type { SavedInsightAnswer, ViewedInsightAnswer } from '../../doors/answers/insights.ts'
import { Spark } from '../charts/spark.tsx'
import { kindTitle } from '../documents/saved-list.tsx'
import { unwrapped } from '../insights/query.ts'
import { shownName } from '../insights/saved.tsx'
import { get, type Page, patch, type Query } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Ago } from '../ui/ago.tsx'
import { useAction } from '../ui/forms.tsx'
import { Scroll } from '../ui/list-table.tsx'
import { ErrorBox } from '../ui/parts.tsx'
import { Star } from '../ui/tags.tsx'
import { byLastDays, lastDaysOf } from './last-days.ts'

const most = 8

/** Favorites, then what the reader looked at last. */
export function Recent() {
  const { api, link } = useProject()
  const { value, error, reload } = useLoaded(async (signal) => {
    const [favorites, viewed] = await Promise.all([
      get<Page<SavedInsightAnswer>>(api(`insights/?basic=true&favorited=true&order=-last_viewed_at&limit=${most}`), signal),
      get<readonly ViewedInsightAnswer[]>(api('insights/my_last_viewed/'), signal),
    ])
    const known = new Set(favorites.results.map(({ id }) => id))
    return [...favorites.results, ...viewed.filter(({ id }) => !known.has(id))].slice(0, most)
  }, [])
  const { act, failure } = useAction()
  return (
    <section class="panel" aria-label="Recent and favorite insights">
      <h2>Recent and favorites</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {failure}
      {value?.length === 0 && (
        <p class="note">
          What you look at is listed here, and what has a star. <a href={linkTo(link('insights'))}>All insights</a>
        </p>
      )}
      {value && value.length > 0 && (
        <Scroll label="Insights">
          <table class="rows">
            <thead>
              <tr>
                <th>
                  <span class="hidden">Favorite</span>
                </th>
                <th>Name</th>
                <th>Kind</th>
                <th>Last 30 days</th>
                <th>Seen</th>
              </tr>
            </thead>
            <tbody>
              {value.map((one) => (
                <tr key={one.id}>
                  <td class="tools">
                    <Star
                      of={shownName(one)}
                      isOn={one.favorited}
                      onChange={(favorited) => act(() => patch(api(`insights/${one.id}/`), { favorited }).then(reload))}
                    />
                  </td>
                  <td class="wrap">
                    <a href={linkTo(link(`insights/${one.short_id}`))}>{shownName(one)}</a>
                  </td>
                  <td>{kindTitle(unwrapped(one.query).kind)}</td>
                  <td class="spark">
                    <LastDays query={unwrapped(one.query)} />
                  </td>
                  <td class="when">
                    <Ago of={one.last_viewed_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  )
}

/** Nothing where there is no such line, and until it is known. */
function LastDays({ query }: { query: Query }) {
  const { ask } = useProject()
  const asked = byLastDays(query)
  const { value } = useLoaded(async (signal) => (asked ? lastDaysOf(query, await ask(asked, signal)) : []), [JSON.stringify(asked)])
  return value ? <Spark values={value} color={0} height={22} /> : null
}
