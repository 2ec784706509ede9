import { type ActingMember, writeAs } from './acting-member.ts'
import { type AccountContext, changesOf, log } from './context.ts'
import type { AccountTables, ProjectRecord } from './records.ts'
import { mustFind, notFound } from './refusals.ts'

// Changes of a project's records: by a member of the project, with an entry in the activity log.

type Scope =
  | 'Insight'
  | 'Dashboard'
  | 'Annotation'
  | 'DataWarehouseSavedQuery'
  | 'SavedFilter'
  | 'FeatureFlag'
  | 'ViewerKey'
  | 'ViewerToken'
  | 'AlertConfiguration'
  | 'Subscription'
  | 'Watch'

/** A member in a project. */
export interface MemberInProject {
  readonly by: ActingMember
  readonly project: ProjectRecord
}

export const writeIn = <T>(
  context: AccountContext,
  { by, project }: MemberInProject,
  work: (tables: AccountTables) => Promise<T>,
): Promise<T> =>
  writeAs(context, by, async (tables) => {
    await mustFind(tables.projects.first({ id: project.id }))
    return work(tables)
  })

/** A record as the activity log shows it. */
export interface Logged {
  readonly id: number | string
  readonly name: string | null
  readonly short_id?: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Writes what was changed. Null before: it was created; null after: it was removed. */
export async function note(
  context: AccountContext,
  tables: AccountTables,
  { by, project }: MemberInProject,
  scope: Scope,
  before: Logged | null,
  after: Logged | null,
): Promise<void> {
  const record = after ?? before
  if (!record) return
  const changes = before && after ? changesOf(scope, before.fields, after.fields) : undefined
  if (changes?.length === 0) return
  const isGone = after === null || (before?.fields.deleted === false && after.fields.deleted === true)
  await log(context, tables, {
    by: by.user,
    organization_id: project.organization_id,
    project_id: project.id,
    scope,
    item_id: record.id,
    activity: before === null ? 'created' : isGone ? 'deleted' : 'updated',
    name: record.name,
    short_id: record.short_id,
    changes,
  })
}

/** Without the fields that were not given. */
export const definedOf = <T extends object>(fields: T): { -readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

export const isDeleted = (what: string) => notFound(`This ${what} is deleted. Change it with {"deleted": false} to show it again.`)

/** Those of these fields that were given. */
export const pickDefined = <T extends object, K extends keyof T>(
  given: T,
  ...names: readonly K[]
): { [N in K]?: Exclude<T[N], undefined> } =>
  Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]])) as never
