import { type AccountContext, changesOf, log } from './context.ts'
import type { ProjectRecord, User } from './records.ts'

export type DefinitionScope = 'Action' | 'Cohort' | 'EventDefinition' | 'PropertyDefinition'

/** What is written down of a definition: its id, its name and the fields that people change. */
export interface DefinitionState {
  readonly id: number | string
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Actions and cohorts are kept with a project's events; who changed them is kept with the accounts. */
export const createDefinitionLog = (context: AccountContext) => ({
  /** What is new was nothing before, what is removed is nothing after. Where nothing changed nothing is written. */
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
