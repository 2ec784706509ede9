import { type AccountContext, changesOf, log } from '../context.ts'
import type { ProjectRecord, User } from '../records.ts'
import type { Json } from '../store.ts'

export type DefinitionScope = 'Action' | 'Cohort' | 'EventDefinition' | 'PropertyDefinition' | 'Group' | 'GroupType'

/** The logged fields of a definition: its id, its name and the fields that users change. */
export interface DefinitionState {
  readonly id: number | string
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** What a user did to persons. Values of properties are not logged: the log outlives the person. */
export interface PersonDeed {
  readonly activity: 'updated' | 'deleted' | 'split' | 'merged'
  /** The uuids of the persons. */
  readonly persons: readonly string[]
  /** Which field, and what became of it. */
  readonly changes?: readonly { readonly field: string; readonly after: Json }[]
}

/** Actions and cohorts are stored with a project's events; their history is stored with the accounts. */
export const createDefinitionLog = (context: AccountContext) => ({
  persons: (by: User, project: ProjectRecord, { activity, persons, changes = [] }: PersonDeed): Promise<void> =>
    context.store.write(async (tables) => {
      for (const uuid of persons)
        await log(context, tables, {
          by,
          organization_id: project.organization_id,
          project_id: project.id,
          scope: 'Person',
          item_id: uuid,
          activity,
          name: uuid,
          changes: changes.map(({ field, after }) => ({ type: 'Person', action: 'changed', field, before: null, after })),
        })
    }),

  /** A created definition was null before, a removed one is null after. Without changes nothing is written. */
  async note(by: User, project: ProjectRecord, scope: DefinitionScope, before: DefinitionState | null, after: DefinitionState | null) {
    const definition = after ?? before
    if (!definition) return
    const changes = before && after ? changesOf(scope, before.fields, after.fields) : undefined
    if (changes?.length === 0) return
    await context.store.write((tables) =>
      log(context, tables, {
        by,
        organization_id: project.organization_id,
        project_id: project.id,
        scope,
        item_id: definition.id,
        activity: !before ? 'created' : !after ? 'deleted' : 'updated',
        name: definition.name,
        changes,
      }),
    )
  },
})
