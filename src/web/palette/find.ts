import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import type { DashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { EventDefinitionAnswer } from '../../doors/answers/event-definitions.ts'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import type { PersonAnswer } from '../../doors/answers/persons.ts'
import type { PropertyDefinitionAnswer } from '../../doors/answers/property-definitions.ts'
import { readableEvent, readableProperty } from '../../service/pictures/readable.ts'
import { shownName } from '../insights/saved.tsx'
import { get, type Page } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import type { CurrentProject } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'

// What a project has under the words that somebody types.

export interface Found {
  readonly title: string
  readonly note: string
  readonly link: string
}
export interface FoundGroup {
  readonly title: string
  readonly found: readonly Found[]
}

const most = 5

/** Of a group that cannot be read nothing is shown: the reader may not, or the server says so on its page. */
async function groupOf<T>(
  { api }: CurrentProject,
  title: string,
  list: string,
  asked: Readonly<Record<string, string | number>>,
  present: (one: T) => Found,
  signal: AbortSignal,
): Promise<FoundGroup> {
  const path = api(`${list}/?${parameters({ ...asked, limit: most })}`)
  const page = await get<Page<T> | readonly T[]>(path, signal).catch(() => null)
  const rows = page === null ? [] : 'results' in page ? page.results : page
  return { title, found: rows.slice(0, most).map(present) }
}

const insightNote = ({ description, tags }: Pick<SavedInsightAnswer, 'description' | 'tags'>): string => description || tags.join(', ')

export const findInProject = (project: CurrentProject, search: string, signal: AbortSignal): readonly Promise<FoundGroup>[] => {
  const { link } = project
  const of = <T>(title: string, list: string, present: (one: T) => Found, more: Readonly<Record<string, string>> = {}) =>
    groupOf<T>(project, title, list, { search, ...more }, present, signal)
  return [
    of<SavedInsightAnswer>(
      'Insights',
      'insights',
      (one) => ({ title: shownName(one), note: insightNote(one), link: linkTo(link(`insights/${one.short_id}`)) }),
      { basic: 'true', saved: 'true', order: '-last_viewed_at' },
    ),
    of<DashboardAnswer>('Dashboards', 'dashboards', (one) => ({
      title: one.name || 'Dashboard without a name',
      note: insightNote(one),
      link: linkTo(link(`dashboards/${one.id}`)),
    })),
    of<PersonAnswer>('People', 'persons', (one) => ({
      title: one.name || one.distinct_ids[0] || one.uuid,
      note: one.distinct_ids[0] ?? '',
      link: linkTo(link(`people/${one.uuid}`)),
    })),
    of<CohortAnswer>('Cohorts', 'cohorts', (one) => ({
      title: one.name || `Cohort ${one.id}`,
      note: one.description ?? '',
      link: linkTo(link(`cohorts/${one.id}`)),
    })),
    of<EventDefinitionAnswer>('Events', 'event_definitions', (one) => ({
      title: readableEvent(one.name),
      note: one.description || (readableEvent(one.name) === one.name ? '' : one.name),
      link: linkTo(link('insights/new'), { q: JSON.stringify(trendOf(one.name)) }),
    })),
    of<PropertyDefinitionAnswer>('Properties', 'property_definitions', (one) => ({
      title: readableProperty(one.name),
      note: one.description || (readableProperty(one.name) === one.name ? '' : one.name),
      link: linkTo(link('data/properties'), { search: one.name }),
    })),
  ]
}

const trendOf = (event: string) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event, name: event, math: 'total' }],
  interval: 'day',
  dateRange: { date_from: '-30d' },
  trendsFilter: { display: 'ActionsLineGraph' },
})
