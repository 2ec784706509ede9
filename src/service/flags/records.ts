import { type AccountContext, nextNumber } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import { definedOf, isDeleted, type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import type { AccountStore, AccountTables, FeatureFlag, ProjectRecord } from '../accounts/records.ts'
import { invalid, mustFind } from '../accounts/refusals.ts'
import type { Condition, Where } from '../accounts/store.ts'
import { tagsOf } from '../accounts/tags.ts'
import { checkFlag, type FlagFilters, flagChange, flagInput, noFilters } from './definition.ts'
import type { EvaluatedFlag } from './evaluate.ts'

export interface FlagPage {
  readonly where: Where<FeatureFlag>
  readonly condition: Condition<FeatureFlag>
  readonly limit: number
  readonly offset: number
}

type Reading = Pick<AccountStore['read'], 'feature_flags'>

export const evaluated = ({ id, key, version, filters }: FeatureFlag): EvaluatedFlag => ({
  id,
  key,
  version,
  filters: filters as unknown as FlagFilters,
})

const logged = ({ id, key, name, filters, tags, active, deleted }: FeatureFlag): Logged => ({
  id,
  name: key,
  fields: { key, name, filters, tags: tagsOf({ tags }), active, deleted },
})

export const createFlagRecords = (context: AccountContext) => {
  const { store, clock } = context
  const { read } = store

  /** Also a deleted one. */
  const anyOf = (tables: Reading, { id: project_id }: ProjectRecord, id: number) => mustFind(tables.feature_flags.first({ id, project_id }))
  const find = async (tables: Reading, project: ProjectRecord, id: number) => {
    const found = await anyOf(tables, project, id)
    if (found.deleted) throw isDeleted('feature flag')
    return found
  }
  const mustBeFree = async (tables: AccountTables, { id: project_id }: ProjectRecord, key: string, own: number | null) => {
    const other = await tables.feature_flags.first({ project_id, key, deleted: false })
    if (other && other.id !== own) throw invalid('There is already a feature flag with this key.', 'key', 'unique')
  }

  return {
    find: (project: ProjectRecord, id: number) => find(read, project, id),
    byKey: async ({ id: project_id }: ProjectRecord, key: string) => read.feature_flags.first({ project_id, key, deleted: false }),

    async list({ where, condition, ...page }: FlagPage) {
      const orderBy = [{ column: 'id', isDescending: true }] as const
      return {
        rows: await read.feature_flags.find(where, { orderBy, ...condition, ...page }),
        count: await read.feature_flags.count(where, condition),
      }
    },

    /** What is evaluated for people. */
    active: async ({ id: project_id }: Pick<ProjectRecord, 'id'>): Promise<readonly FeatureFlag[]> =>
      read.feature_flags.find({ project_id, active: true, deleted: false }, { orderBy: [{ column: 'id' }] }),

    create(place: MemberInProject, body: unknown): Promise<FeatureFlag> {
      const { project, by } = place
      const given = check(flagInput, body)
      checkFlag(given)
      const { ensure_experience_continuity: _, filters = noFilters, ...fields } = given
      return writeIn(context, place, async (tables) => {
        await mustBeFree(tables, project, given.key as string, null)
        const now = clock()
        const made: FeatureFlag = {
          id: await nextNumber(tables, 'feature_flag'),
          project_id: project.id,
          name: '',
          active: true,
          deleted: false,
          version: 1,
          tags: null,
          created_at: now,
          created_by_id: by.user.id,
          updated_at: now,
          ...(definedOf(fields) as { key: string }),
          filters: filters as never,
        }
        await tables.feature_flags.insert(made)
        await note(context, tables, place, 'FeatureFlag', null, logged(made))
        return made
      })
    },

    update(place: MemberInProject, id: number, body: unknown): Promise<FeatureFlag> {
      const { project } = place
      const { ensure_experience_continuity, ...given } = check(flagChange, body)
      checkFlag({ ...given, ensure_experience_continuity })
      return writeIn(context, place, async (tables) => {
        const before = await (given.deleted === false ? anyOf : find)(tables, project, id)
        const changes = definedOf(given) as Partial<FeatureFlag>
        if (changes.key !== undefined || changes.deleted === false) await mustBeFree(tables, project, changes.key ?? before.key, id)
        const change = { ...changes, version: before.version + 1, updated_at: clock() }
        await tables.feature_flags.update({ id }, change)
        const after = { ...before, ...change }
        await note(context, tables, place, 'FeatureFlag', logged(before), logged(after))
        return after
      })
    },
  }
}
export type FlagRecords = ReturnType<typeof createFlagRecords>
