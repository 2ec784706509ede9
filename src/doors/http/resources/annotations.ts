import { check } from '../../../service/accounts/fields.ts'
import type { Annotation } from '../../../service/accounts/records.ts'
import { annotationScopes } from '../../../service/saved/annotation-scopes.ts'
import { annotationInput, shownIn } from '../../../service/saved/annotations.ts'
import { type AnnotationAnswer, annotationSchema } from '../../answers/annotations.ts'
import { activityOf } from '../activity.ts'
import { failures } from '../errors.ts'
import { maybeTime, presentAuthor, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import { range } from '../requests/moment.ts'
import { pageBounds } from '../requests/pages.ts'
import type { ProjectVisit } from '../resource.ts'
import { definitionId } from './actions.ts'

const present = async ({ app, project }: ProjectVisit, annotations: readonly Annotation[]): Promise<AnnotationAnswer[]> => {
  const { dashboards, insights } = await app.saved.annotations.about(project, annotations)
  return Promise.all(
    annotations.map(async (one) => {
      const insight = insights.get(one.insight_id ?? 0)
      return {
        id: one.id,
        content: one.content,
        date_marker: maybeTime(one.date_marker),
        scope: one.scope as AnnotationAnswer['scope'],
        creation_type: one.creation_type,
        dashboard_id: one.dashboard_id,
        dashboard_name: dashboards.get(one.dashboard_id ?? 0)?.name ?? null,
        dashboard_item: one.insight_id,
        insight_short_id: insight?.short_id ?? null,
        insight_name: insight?.name ?? null,
        insight_derived_name: insight?.derived_name ?? null,
        deleted: one.deleted,
        created_at: time(one.created_at),
        created_by: await presentAuthor(app.accounts, one.created_by_id),
        updated_at: time(one.updated_at),
      }
    }),
  )
}
const presentOne = async (visit: ProjectVisit, annotation: Annotation) => (await present(visit, [annotation]))[0]!

const isScope = (given: string): boolean => (annotationScopes as readonly string[]).includes(given)
const placeOf = ({ by, project }: ProjectVisit) => ({ by, project })
const idOf = ({ params }: ProjectVisit): number => definitionId(params.id)

export const annotations = defineRecords({
  name: 'annotations',
  summary: 'Notes on the time axis of charts ([saved.md](saved.md#annotations))',
  path: '/api/projects/:project_id/annotations',
  reach: 'project',
  object: 'annotation',
  answer: annotationSchema,
  present: presentOne,
  presentAll: present,
  rows: ({ row, page, create, retrieve, update, replace }) => [
    page({
      summary: 'Annotations of the project and of its organization, latest time first',
      queryParameters: {
        search: 'Text in the content',
        scope: `One of ${annotationScopes.join(', ')}`,
        date_from: 'Only annotations of this time or later: ISO 8601, or as in `-7d`',
        date_to: 'Only annotations of earlier times',
      },
      handle: async (visit) => {
        const [search, scope] = [visit.query.get('search'), visit.query.get('scope')]
        const [from, to] = range(visit, 'date_from', 'date_to')
        if (scope && !isScope(scope)) throw failures.invalid(`scope must be one of ${annotationScopes.join(', ')}.`, 'scope')
        return visit.app.saved.annotations.list({
          where: { ...shownIn(visit.project), deleted: false, ...(scope ? { scope } : {}) },
          condition: {
            search: search ? [{ text: search, in: ['content'] }] : [],
            between: { date_marker: { from: from ?? undefined, to: to ?? undefined } },
          },
          ...pageBounds(visit.query),
        })
      },
    }),
    create({
      summary: 'Creates an annotation',
      body: annotationInput,
      handle: async (visit) => visit.app.saved.annotations.create(placeOf(visit), visit.body),
    }),
    retrieve({
      summary: 'One annotation',
      handle: async (visit) => visit.app.saved.annotations.find(visit.project, idOf(visit)),
    }),
    update({
      summary: 'Changes the given fields; `deleted` hides it, or shows it again',
      body: annotationInput,
      handle: async (visit) => visit.app.saved.annotations.update(placeOf(visit), idOf(visit), visit.body),
    }),
    replace({
      summary: 'Like PATCH, but fields that are not sent get their defaults',
      body: annotationInput,
      handle: async (visit) => {
        check(annotationInput, visit.body)
        const defaults = { content: null, date_marker: null, scope: 'project', dashboard_id: null, dashboard_item: null }
        const whole = { ...defaults, ...(visit.body as object) }
        return visit.app.saved.annotations.update(placeOf(visit), idOf(visit), whole)
      },
    }),
    row(activityOf('Annotation', idOf)),
  ],
})
