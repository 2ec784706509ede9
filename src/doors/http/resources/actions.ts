import * as z from 'zod'
import { withinJson } from '../../../limits/bounds.ts'
import { actionStepSchema } from '../../../queries/filters/action-definition.ts'
import { check, flag, listOf, time as moment, text } from '../../../service/accounts/fields.ts'
import type { DefinitionState } from '../../../service/accounts/projects/definition-log.ts'
import { type ActionAnswer, actionSchema, type StepAnswer, stepFields } from '../../answers/actions.ts'
import { activityOf } from '../activity.ts'
import { failures } from '../errors.ts'
import { maybeTime, presentAuthor, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import { searched, searchParameter } from '../requests/search.ts'
import type { ProjectVisit } from '../resource.ts'

const tag = text({ max: 255 })
const actionInput = z.object({
  name: text({ max: 400 }),
  description: text({ blank: true }).nullish(),
  steps: withinJson(z.array(actionStepSchema, { error: 'Expected a list of items.' }), 'definition').optional(),
  tags: listOf(tag).max(100).optional(),
  pinned_at: moment().nullish().meta({ description: 'Shown first by clients that pin actions' }),
})
const creating = actionInput.extend({ id: z.int().positive().optional().meta({ description: 'Used if no other record has it' }) })
/** How client tools delete definitions. */
export const deletedField = { deleted: flag().optional().meta({ description: '`true` deletes it permanently' }) }
const changing = actionInput.partial().extend(deletedField)

/** An URL is matched by a part of it if the step does not say how. */
const stepDefaults: Readonly<Record<string, unknown>> = { url_matching: 'contains' }
const wholeStep = (step: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(stepFields.map((name) => [name, step[name] === undefined ? (stepDefaults[name] ?? null) : step[name]])) as StepAnswer

/** Definitions are stored as JSON. */
const storable = <F extends { readonly pinned_at?: Date | null | undefined }>({ pinned_at, ...fields }: F) => ({
  ...fields,
  ...(pinned_at === undefined ? {} : { pinned_at: pinned_at?.toISOString() ?? null }),
})

const service = async ({ app, project }: ProjectVisit) => (await app.project(project.id)).actions
type Stored = Awaited<ReturnType<Awaited<ReturnType<typeof service>>['retrieve']>>

const present = async ({ app: { accounts }, project }: ProjectVisit, action: Stored): Promise<ActionAnswer> => ({
  id: action.id,
  name: action.name,
  description: action.description ?? '',
  steps: action.steps.map(wholeStep),
  tags: [...(action.tags ?? [])],
  pinned_at: maybeTime(action.pinned_at ? new Date(action.pinned_at) : null),
  is_calculating: false,
  is_action: true,
  team_id: project.id,
  deleted: false,
  created_at: time(new Date(action.created_at)),
  updated_at: time(new Date(action.updated_at)),
  created_by: await presentAuthor(accounts, action.created_by_id ?? null),
})

const noted = ({ id, name, description, steps, tags }: Stored): DefinitionState => ({
  id,
  name,
  fields: { name, description: description ?? '', steps, tags: tags ?? [] },
})

const change = async (visit: ProjectVisit, fields: object) => {
  const actions = await service(visit)
  const before = await actions.retrieve(idOf(visit))
  const after = await actions.update(before.id, fields)
  await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Action', noted(before), noted(after))
  return after
}

const remove = async (visit: ProjectVisit) => {
  const actions = await service(visit)
  const gone = await actions.retrieve(idOf(visit))
  await actions.remove(gone.id)
  await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Action', noted(gone), null)
  return gone
}

/** Ids of definitions are numbers. */
export const definitionId = (text: string | undefined): number => {
  if (text === undefined || !/^\d{1,10}$/.test(text)) throw failures.notFound()
  return Number(text)
}

const idOf = ({ params }: ProjectVisit): number => definitionId(params.id)

export const actions = defineRecords({
  name: 'actions',
  summary: 'Names for events: those that match one of the steps ([cohorts.md](cohorts.md))',
  path: '/api/projects/:project_id/actions',
  reach: 'project',
  object: 'action',
  answer: actionSchema,
  present,
  rows: ({ row, list, create, retrieve, replace }) => [
    list({
      summary: 'Actions by id',
      queryParameters: searchParameter,
      handle: async (visit) => searched(visit, await (await service(visit)).list()),
    }),
    create({
      summary: 'Creates an action',
      body: creating,
      handle: async (visit) => {
        const made = await (await service(visit)).create(storable(check(creating, visit.body)), visit.caller.user.id)
        await visit.app.accounts.definitionLog.note(visit.caller.user, visit.project, 'Action', null, noted(made))
        return made
      },
    }),
    retrieve({
      summary: 'One action',
      handle: async (visit) => (await service(visit)).retrieve(idOf(visit)),
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes the given fields; queries use them at once',
      body: changing,
      answer: actionSchema,
      handle: async (visit) => {
        const { deleted, ...fields } = storable(check(changing, visit.body))
        if (!deleted) return present(visit, await change(visit, fields))
        return { ...(await present(visit, await remove(visit))), deleted: true }
      },
    }),
    replace({
      summary: 'Like PATCH, but fields that are not sent get their defaults',
      body: actionInput,
      handle: async (visit) =>
        change(visit, { description: null, steps: [], tags: [], pinned_at: null, ...storable(check(actionInput, visit.body)) }),
    }),
    row(activityOf('Action', idOf, 'of removed ones')),
  ],
})
