import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, changesOf, log } from '../accounts/context.ts'
import { check, flag } from '../accounts/fields.ts'
import type { AccountStore, AccountTables, ProjectRecord, SharingLink } from '../accounts/records.ts'
import { notFound } from '../accounts/refusals.ts'

// Public links: a token opens one insight or one dashboard for reading, as long as it is enabled.

export const sharingInput = z.object({
  enabled: flag().optional(),
  settings: z
    .object(
      { noHeader: flag().optional(), whitelabel: flag().optional(), showInspector: flag().optional() },
      { error: 'Expected an object.' },
    )
    .nullish()
    .meta({ description: '`noHeader`: the page shows no name and no description' }),
})

export type SharedThing = { readonly insight: number } | { readonly dashboard: number }
const columnsOf = (thing: SharedThing) =>
  'insight' in thing ? { insight_id: thing.insight, dashboard_id: null } : { insight_id: null, dashboard_id: thing.dashboard }

/** 192 random bits. */
const newToken = () => randomBytes(24).toString('base64url')
const isToken = (text: string): boolean => /^[\w-]{32}$/.test(text)

interface Place {
  readonly by: ActingMember
  readonly project: ProjectRecord
}

export const createSharing = (context: AccountContext) => {
  const { store, clock } = context

  const note = (tables: AccountTables, { by, project }: Place, before: SharingLink | null, after: SharingLink, activity: string) => {
    const shown = ({ enabled, settings }: SharingLink) => ({ enabled, settings })
    const changes = before ? changesOf('SharingConfiguration', shown(before), shown(after)) : []
    return log(context, tables, {
      by: by.user,
      organization_id: project.organization_id,
      project_id: project.id,
      scope: after.insight_id === null ? 'Dashboard' : 'Insight',
      item_id: after.insight_id ?? after.dashboard_id!,
      activity,
      name: null,
      changes,
    })
  }

  const existing = (tables: Pick<AccountStore['read'], 'sharing_links'>, project: ProjectRecord, thing: SharedThing) =>
    tables.sharing_links.first({ project_id: project.id, ...columnsOf(thing) })

  const blank = (project: ProjectRecord, thing: SharedThing): SharingLink => ({
    id: context.newId(),
    project_id: project.id,
    ...columnsOf(thing),
    enabled: false,
    access_token: newToken(),
    settings: {},
    created_at: clock(),
    updated_at: clock(),
  })

  const change = (
    place: Place,
    thing: SharedThing,
    activity: (after: SharingLink) => string | null,
    work: (link: SharingLink) => SharingLink,
  ) =>
    writeAs(context, place.by, async (tables) => {
      if (!(await tables.projects.first({ id: place.project.id }))) throw notFound()
      const before = await existing(tables, place.project, thing)
      const after = { ...work(before ?? blank(place.project, thing)), updated_at: clock() }
      if (before) await tables.sharing_links.update({ id: before.id }, after)
      else await tables.sharing_links.insert(after)
      const name = activity(after)
      const isSame = before?.enabled === after.enabled && JSON.stringify(before.settings) === JSON.stringify(after.settings)
      if (name !== null && !(isSame && before.access_token === after.access_token)) await note(tables, place, before ?? null, after, name)
      return after
    })

  return {
    /** Null: it has never been shared. */
    of: async (project: ProjectRecord, thing: SharedThing): Promise<SharingLink | null> =>
      (await existing(store.read, project, thing)) ?? null,

    update(place: Place, thing: SharedThing, body: unknown): Promise<SharingLink> {
      const { enabled, settings } = check(sharingInput, body)
      return change(
        place,
        thing,
        (after) => (after.enabled ? 'sharing enabled' : 'sharing disabled'),
        (link) => ({
          ...link,
          ...(enabled !== undefined && { enabled }),
          ...(settings !== undefined && { settings: settings === null ? {} : JSON.parse(JSON.stringify(settings)) }),
        }),
      )
    },

    /** The old token opens nothing from now on. */
    refresh: (place: Place, thing: SharedThing): Promise<SharingLink> =>
      change(
        place,
        thing,
        () => 'access token refreshed',
        (link) => ({ ...link, access_token: newToken() }),
      ),

    /** What a token opens now; undefined: nothing. */
    async open(token: string): Promise<{ readonly link: SharingLink; readonly project: ProjectRecord } | undefined> {
      if (!isToken(token)) return undefined
      const link = await store.read.sharing_links.first({ access_token: token, enabled: true })
      const project = link && (await store.read.projects.first({ id: link.project_id }))
      return project && { link, project }
    },
  }
}
export type Sharing = ReturnType<typeof createSharing>
