import * as z from 'zod'
import type { AccountContext } from '../accounts/context.ts'
import { anyJson, check, text } from '../accounts/fields.ts'
import { definedOf, type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import type { AccountStore, AccountTables, ProjectRecord, SavedFilter } from '../accounts/records.ts'
import { invalid, mustFind } from '../accounts/refusals.ts'
import type { Condition, Json } from '../accounts/store.ts'
import { checkFilters } from './dashboard-fields.ts'

// Filters with a name. Queries and dashboards get a copy, so a later change of them changes nothing else.

export const savedFilterInput = z.object({
  name: text({ max: 100 }),
  properties: anyJson().meta({ description: 'A list of filters, or a group of them, as `properties` of a query' }),
})
export const savedFilterChange = savedFilterInput.partial()
export type SavedFilterInput = z.input<typeof savedFilterInput>
export type SavedFilterChange = z.input<typeof savedFilterChange>

export interface SavedFilterPage {
  readonly condition: Condition<SavedFilter>
  readonly limit: number
  readonly offset: number
}

type Reading = Pick<AccountStore['read'], 'saved_filters'>

const logged = ({ id, name, properties }: SavedFilter): Logged => ({ id, name, fields: { name, properties } })
const find = (tables: Reading, { id: project_id }: ProjectRecord, id: string) => mustFind(tables.saved_filters.first({ id, project_id }))

const checked = (properties: Json): Json => {
  const isEmpty = properties === null || typeof properties !== 'object' || Object.keys(properties).length === 0
  if (isEmpty) throw invalid('Expected a list of filters, or a group of them.', 'properties')
  checkFilters({ properties }, 'properties')
  return properties
}

async function mustBeFree(tables: AccountTables, { id: project_id }: ProjectRecord, name: string): Promise<void> {
  if (await tables.saved_filters.first({ project_id, name }))
    throw invalid(`Filters named ${name} already exist. Choose another name.`, 'name', 'unique')
}

export const createSavedFilters = (context: AccountContext) => {
  const { store, clock } = context
  const { read } = store
  return {
    find: (project: ProjectRecord, id: string) => find(read, project, id),

    async list({ id: project_id }: ProjectRecord, { condition, ...page }: SavedFilterPage) {
      return {
        rows: await read.saved_filters.find({ project_id }, { orderBy: [{ column: 'name' }], ...condition, ...page }),
        count: await read.saved_filters.count({ project_id }, condition),
      }
    },

    create(place: MemberInProject, body: unknown): Promise<SavedFilter> {
      const { project, by } = place
      const { name, properties } = check(savedFilterInput, body)
      const filters = checked(properties)
      return writeIn(context, place, async (tables) => {
        await mustBeFree(tables, project, name)
        const now = clock()
        const made: SavedFilter = {
          id: context.newId(),
          project_id: project.id,
          name,
          properties: filters,
          created_at: now,
          created_by_id: by.user.id,
          updated_at: now,
        }
        await tables.saved_filters.insert(made)
        await note(context, tables, place, 'SavedFilter', null, logged(made))
        return made
      })
    },

    update(place: MemberInProject, id: string, body: unknown): Promise<SavedFilter> {
      const given = definedOf(check(savedFilterChange, body))
      if (given.properties !== undefined) checked(given.properties)
      return writeIn(context, place, async (tables) => {
        const before = await find(tables, place.project, id)
        if (given.name !== undefined && given.name !== before.name) await mustBeFree(tables, place.project, given.name)
        const change = { ...given, updated_at: clock() }
        await tables.saved_filters.update({ id }, change)
        const after = { ...before, ...change }
        await note(context, tables, place, 'SavedFilter', logged(before), logged(after))
        return after
      })
    },

    remove: (place: MemberInProject, id: string): Promise<void> =>
      writeIn(context, place, async (tables) => {
        const known = await find(tables, place.project, id)
        await tables.saved_filters.remove({ id })
        await note(context, tables, place, 'SavedFilter', logged(known), null)
      }),
  }
}
export type SavedFilters = ReturnType<typeof createSavedFilters>
