import * as z from 'zod'
import type { AccountContext } from '../accounts/context.ts'
import { check, text } from '../accounts/fields.ts'
import { type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import type { AccountTables, ProjectRecord, ViewerKey } from '../accounts/records.ts'
import { mustFind } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import { randomKey } from '../accounts/secrets/secrets.ts'
import { checkedToken, longestSeconds } from './grant.ts'
import { type Claims, readToken, refusedToken, type SigningKey, signToken } from './tokens.ts'

// The keys that applications sign tokens with, and the tokens that end before their time. Both are looked up at every request of a viewer.

export const viewerKeyInput = z.object({ name: text({ max: 100 }) })
const usualName = 'Application'
const longestId = 200

export interface OpenedToken {
  readonly project: ProjectRecord
  readonly key: ViewerKey
  readonly claims: Claims
}

const logged = ({ id, name }: ViewerKey): Logged => ({ id, name, fields: { name } })

export const createViewerKeys = (context: AccountContext) => {
  const { store, clock, box } = context
  const { read } = store

  const made = async (tables: AccountTables, project: ProjectRecord, name: string, by: number | null): Promise<ViewerKey & SigningKey> => {
    const id = context.newId()
    const secret = randomKey('wvk_')
    const row: ViewerKey = {
      id,
      project_id: project.id,
      name,
      secret: box.seal(secret, sealedFor.viewerKey(id)),
      created_at: clock(),
      created_by_id: by,
    }
    await tables.viewer_keys.insert(row)
    return { ...row, secret }
  }
  const secretOf = ({ id, secret }: ViewerKey): string => box.open(secret, sealedFor.viewerKey(id))
  const isRevoked = async (project: ProjectRecord, token: string) =>
    (await read.viewer_revocations.first({ project_id: project.id, token_id: token })) !== undefined

  /** The newest key of the project. */
  const newest = async ({ id: project_id }: ProjectRecord): Promise<SigningKey | null> => {
    const [key] = await read.viewer_keys.find({ project_id }, { orderBy: [{ column: 'created_at', isDescending: true }], limit: 1 })
    return key ? { id: key.id, secret: secretOf(key) } : null
  }

  return {
    list: ({ id: project_id }: ProjectRecord) => read.viewer_keys.find({ project_id }, { orderBy: [{ column: 'created_at' }] }),

    /** The secret is shown once. */
    create: (place: MemberInProject, body: unknown): Promise<{ readonly key: ViewerKey; readonly secret: string }> => {
      const { name } = check(viewerKeyInput, body)
      return writeIn(context, place, async (tables) => {
        const { secret, ...key } = await made(tables, place.project, name, place.by.user.id)
        await note(context, tables, place, 'ViewerKey', null, logged({ ...key, secret: '' }))
        return { key: { ...key, secret: '' }, secret }
      })
    },

    /** Every token that it has signed ends. */
    remove: (place: MemberInProject, id: string): Promise<void> =>
      writeIn(context, place, async (tables) => {
        const key = await mustFind(tables.viewer_keys.first({ id, project_id: place.project.id }))
        await tables.viewer_keys.remove({ id })
        await note(context, tables, place, 'ViewerKey', logged(key), null)
      }),

    /** Signed with the newest key. A project without one gets one. */
    async sign(project: ProjectRecord, body: unknown): Promise<{ readonly token: string } & Claims> {
      const { grant, seconds } = checkedToken(body)
      const key =
        (await newest(project)) ??
        (await store.write(async (tables) => {
          await mustFind(tables.projects.first({ id: project.id }))
          return made(tables, project, usualName, null)
        }))
      return signToken(grant, seconds, key, clock())
    },

    /** One token ends. It is kept in mind for as long as a token can be valid. */
    async revoke(place: MemberInProject, token: string): Promise<void> {
      const expires_at = new Date(clock().getTime() + longestSeconds * 1000)
      await writeIn(context, place, async (tables) => {
        const project_id = place.project.id
        const over = await tables.viewer_revocations.find({ project_id }, { between: { expires_at: { to: clock() } } })
        if (over.length > 0) await tables.viewer_revocations.remove({ id: over.map(({ id }) => id) })
        if (await tables.viewer_revocations.first({ project_id, token_id: token })) return
        await tables.viewer_revocations.insert({
          id: context.newId(),
          project_id,
          token_id: token.slice(0, longestId),
          expires_at,
        })
        await note(context, tables, place, 'ViewerToken', null, { id: token.slice(0, longestId), name: null, fields: {} })
      })
    },

    /** What a token opens now. */
    async open(text: string): Promise<OpenedToken> {
      const token = readToken(text)
      const key = await read.viewer_keys.first({ id: token.key })
      const project = key && (await read.projects.first({ id: key.project_id }))
      if (!project) throw refusedToken('its key was removed, or never was')
      const claims = token.open(secretOf(key), clock())
      if (await isRevoked(project, claims.id)) throw refusedToken('it was revoked')
      return { project, key, claims }
    },
  }
}
export type ViewerKeys = ReturnType<typeof createViewerKeys>
