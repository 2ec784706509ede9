import * as z from 'zod'
import type { AccountContext } from '../accounts/context.ts'
import { check, flag } from '../accounts/fields.ts'
import { type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import { type AccountStore, level, type ProjectRecord, type WatchState } from '../accounts/records.ts'
import { levelTooLow, notFound } from '../accounts/refusals.ts'
import { firstOrganization } from './check.ts'
import { conditions } from './conditions.ts'
import { serverId } from './measured.ts'
import { type WatchName, watchNames } from './names.ts'

// What a project is watched for, and which mails its owners want. The server is watched, too: for the projects of the organization that it was set up with.

export const watchChange = z.strictObject({ enabled: flag() })

export interface Watch {
  readonly name: WatchName
  readonly isOfServer: boolean
  readonly title: string
  readonly summary: string
  readonly enabled: boolean
  /** The problems of the last thirty days, those that go on first. */
  readonly problems: readonly WatchState[]
}

const placeOf = (name: WatchName, { id }: ProjectRecord): number => (conditions[name].of === 'server' ? serverId : id)
const offIn = async (read: Pick<AccountStore['read'], 'watch_settings'>, project_id: number): Promise<readonly string[]> =>
  ((await read.watch_settings.first({ project_id }))?.off ?? []) as readonly string[]
const newestFirst = (a: WatchState, b: WatchState): number =>
  Number(a.ended_at !== null) - Number(b.ended_at !== null) || b.began_at.getTime() - a.began_at.getTime()

export const createWatches = (context: AccountContext) => {
  const { read } = context.store
  /** Administrators of the organization that the server was set up with see the server's. */
  const seen = async ({ by, project }: MemberInProject): Promise<readonly WatchName[]> => {
    const isFirst = (await firstOrganization(read))?.id === project.organization_id
    const seesServer = isFirst && by.membership.level >= level.admin
    return watchNames.filter((name) => conditions[name].of === 'project' || seesServer)
  }
  const present = async (project: ProjectRecord, name: WatchName): Promise<Watch> => {
    const project_id = placeOf(name, project)
    const { title, summary, of } = conditions[name]
    const problems = await read.watch_states.find({ project_id, watch: name })
    const enabled = !(await offIn(read, project_id)).includes(name)
    return { name, title, summary, isOfServer: of === 'server', enabled, problems: [...problems].sort(newestFirst) }
  }
  return {
    async list(place: MemberInProject): Promise<readonly Watch[]> {
      const names = await seen(place)
      return Promise.all(names.map((name) => present(place.project, name)))
    },

    async change(place: MemberInProject, given: string, body: unknown): Promise<Watch> {
      const name = (await seen(place)).find((one) => one === given)
      if (!name) throw notFound()
      if (place.by.membership.level < level.admin) throw levelTooLow()
      const { enabled } = check(watchChange, body)
      const { project } = place
      const project_id = placeOf(name, project)
      await writeIn(context, place, async (tables) => {
        const before = await offIn(tables, project_id)
        const off = [...before.filter((one) => one !== name), ...(enabled ? [] : [name])]
        if (before.includes(name) === off.includes(name)) return
        if ((await tables.watch_settings.update({ project_id }, { off })) === 0) await tables.watch_settings.insert({ project_id, off })
        const logged = (isOn: boolean) => ({ id: name, name: conditions[name].title, fields: { enabled: isOn } })
        await note(context, tables, place, 'Watch', logged(!enabled), logged(enabled))
      })
      return present(project, name)
    },
  }
}
export type Watches = ReturnType<typeof createWatches>
