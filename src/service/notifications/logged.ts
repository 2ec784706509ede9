import type { ActingMember } from '../accounts/acting-member.ts'
import { type AccountContext, changesOf, log } from '../accounts/context.ts'
import type { AccountTables, ProjectRecord } from '../accounts/records.ts'

/** A member in a project. */
export interface Place {
  readonly by: ActingMember
  readonly project: ProjectRecord
}

interface Logged {
  readonly id: string | number
  readonly name: string | null
  readonly fields: Readonly<Record<string, unknown>>
}

export type NotedScope = 'AlertConfiguration' | 'Subscription' | 'SharingConfiguration'

/** Writes who changed what; without changes nothing. A record that was not there before was created. */
export async function note(
  context: AccountContext,
  tables: AccountTables,
  { by, project }: Place,
  scope: NotedScope,
  before: Logged | null,
  after: Logged | null,
  activity?: string,
): Promise<void> {
  const changes = before && after ? changesOf(scope, before.fields, after.fields) : undefined
  if (changes?.length === 0 && activity === undefined) return
  const record = (after ?? before)!
  await log(context, tables, {
    by: by.user,
    organization_id: project.organization_id,
    project_id: project.id,
    scope,
    item_id: record.id,
    activity: activity ?? (!before ? 'created' : !after ? 'deleted' : 'updated'),
    name: record.name,
    changes,
  })
}
