import * as z from 'zod'
import { type AccountContext, nextNumber } from '../accounts/context.ts'
import { check, choice, flag, integer, text, time } from '../accounts/fields.ts'
import { definedOf, isDeleted, type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import type { AccountStore, AccountTables, Annotation, ProjectRecord } from '../accounts/records.ts'
import { mustFind, noSuch } from '../accounts/refusals.ts'
import type { Condition, Where } from '../accounts/store.ts'
import { annotationScopes } from './annotation-scopes.ts'

// Notes on the time axis of charts.

export const annotationInput = z.object({
  content: text({ max: 8192, blank: true }).nullable().optional(),
  date_marker: time().nullable().optional().meta({ description: 'The time that the annotation marks, in ISO 8601' }),
  scope: choice(annotationScopes).optional().meta({ description: 'Where it is shown; default `project`. `dashboard_item` is an insight' }),
  creation_type: choice(['USR', 'GIT']).optional(),
  dashboard_id: integer(1).nullable().optional(),
  dashboard_item: integer(1).nullable().optional().meta({ description: 'The id of an insight' }),
  deleted: flag().optional(),
})

export interface AnnotationPage {
  readonly where: Where<Annotation>
  readonly condition: Condition<Annotation>
  readonly limit: number
  readonly offset: number
}

const placeOf = (scope: string, { id, organization_id }: ProjectRecord): string =>
  scope === 'organization' ? `organization ${organization_id}` : `project ${id}`

/** Those of the project, and of its organization. */
export const shownIn = (project: ProjectRecord): Where<Annotation> => ({
  place: [placeOf('project', project), placeOf('organization', project)],
})

const logged = ({ id, content, date_marker, scope, deleted, dashboard_id, insight_id }: Annotation): Logged => ({
  id,
  name: content === null ? null : content.slice(0, 100),
  fields: { content, date_marker, scope, deleted, dashboard_id, dashboard_item: insight_id },
})

export const createAnnotations = (context: AccountContext) => {
  const { store, clock } = context
  const { read } = store

  const find = async (tables: Pick<AccountStore['read'], 'annotations'>, project: ProjectRecord, id: number) => {
    const found = await anyOf(tables, project, id)
    if (found.deleted) throw isDeleted('annotation')
    return found
  }
  /** Also a deleted one. */
  const anyOf = (tables: Pick<AccountStore['read'], 'annotations'>, project: ProjectRecord, id: number) =>
    mustFind(tables.annotations.first({ id, ...shownIn(project) }))

  const mustBeThere = async (tables: AccountTables, { id: project_id }: ProjectRecord, given: Partial<Annotation>) => {
    const { dashboard_id, insight_id } = given
    if (dashboard_id && !(await tables.dashboards.first({ id: dashboard_id, project_id }))) throw noSuch(dashboard_id, 'dashboard_id')
    if (insight_id && !(await tables.insights.first({ id: insight_id, project_id }))) throw noSuch(insight_id, 'dashboard_item')
  }

  const columnsOf = (body: unknown, project: ProjectRecord) => {
    const { dashboard_item, ...given } = check(annotationInput, body)
    return definedOf({ ...given, insight_id: dashboard_item, place: given.scope && placeOf(given.scope, project) })
  }

  return {
    find: (project: ProjectRecord, id: number) => find(read, project, id),

    async list({ where, condition, ...page }: AnnotationPage) {
      const orderBy = [{ column: 'date_marker', isDescending: true }] as const
      return {
        rows: await read.annotations.find(where, { orderBy, ...condition, ...page }),
        count: await read.annotations.count(where, condition),
      }
    },

    create(place: MemberInProject, body: unknown): Promise<Annotation> {
      const { project, by } = place
      const given = columnsOf(body, project)
      return writeIn(context, place, async (tables) => {
        await mustBeThere(tables, project, given)
        const now = clock()
        const made: Annotation = {
          id: await nextNumber(tables, 'annotation'),
          project_id: project.id,
          scope: 'project',
          place: placeOf('project', project),
          content: null,
          date_marker: null,
          creation_type: 'USR',
          dashboard_id: null,
          insight_id: null,
          deleted: false,
          created_at: now,
          created_by_id: by.user.id,
          updated_at: now,
          ...given,
        }
        await tables.annotations.insert(made)
        await note(context, tables, place, 'Annotation', null, logged(made))
        return made
      })
    },

    update(place: MemberInProject, id: number, body: unknown): Promise<Annotation> {
      const { project } = place
      const given = columnsOf(body, project)
      return writeIn(context, place, async (tables) => {
        const before = await (given.deleted === false ? anyOf : find)(tables, project, id)
        await mustBeThere(tables, project, given)
        const change = { ...given, updated_at: clock() }
        await tables.annotations.update({ id }, change)
        const after = { ...before, ...change }
        await note(context, tables, place, 'Annotation', logged(before), logged(after))
        return after
      })
    },

    /** What they are about, by id, where it is of this project. */
    async about({ id: project_id }: ProjectRecord, annotations: readonly Annotation[]) {
      const ids = (name: 'dashboard_id' | 'insight_id') => [...new Set(annotations.flatMap((one) => one[name] ?? []))]
      const dashboards = await read.dashboards.find({ id: ids('dashboard_id'), project_id })
      const insights = await read.insights.find({ id: ids('insight_id'), project_id })
      return {
        dashboards: new Map(dashboards.map((one) => [one.id, one])),
        insights: new Map(insights.map((one) => [one.id, one])),
      }
    },
  }
}
export type Annotations = ReturnType<typeof createAnnotations>
