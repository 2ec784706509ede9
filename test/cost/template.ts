import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoEvents } from '../../src/doors/http/commands/demo-events.ts'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import { sessionOf } from '../harness/session-of.ts'
import { strangersMade } from './budgets.ts'
import { keys } from './keys.ts'
import { creations } from './probes/routes.ts'

export interface Template {
  readonly dataDir: string
  readonly session: string
  /** Of a viewer who may ask questions of every kind over the events of one browser. */
  readonly viewer: string
  /** Somebody else, with a project of their own. */
  readonly other: { readonly project: number; readonly token: string; readonly key: string }
  /** Accounts that somebody made for one purpose. */
  readonly strangers: readonly { readonly project: number; readonly key: string }[]
  /** Ids that stand for `:id`, by the path of their resource. */
  readonly ids: ReadonlyMap<string, string>
}

/** A directory with a small project and one of everything that can be made, which each server gets a copy of. */
export async function makeTemplate(): Promise<Template> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-cost-template-'))
  const waymark = await open({ dataDir, memoryLimit: '256MB', surroundings: undefined })
  try {
    const { user, project: first } = await waymark.accounts.firstStart({ projectKey: keys.project, personalKey: keys.personal })
    const project = await waymark.project(first.id)
    await project.ingest({ batch: demoEvents(new Date()) })
    await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
    const handler = createHandler(waymark)
    const session = await sessionOf(waymark.accounts, user)
    const viewer = await project.viewerToken({
      filter: [{ type: 'event', key: '$browser', operator: 'exact', value: 'Chrome' }],
      kinds: ['TrendsQuery', 'PathsQuery', 'SqlLikeQuery'],
      expiresIn: '7d',
    })
    const other = await somebodyElse(waymark, 'else')
    const strangers = []
    for (let i = 0; i < strangersMade; i++) strangers.push(await somebodyElse(waymark, `stranger-${i}`))
    const ids = new Map<string, string>()
    for (const { path, body } of creations()) {
      const response = await handler(
        new Request(`http://localhost${path}`, {
          method: 'POST',
          headers: { cookie: `waymark_session=${session}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      const made = (await response.json().catch(() => null)) as { id?: unknown } | null
      if (response.ok && made?.id !== undefined) ids.set(path, String(made.id))
    }
    return { dataDir, session, viewer, other, strangers, ids }
  } finally {
    await waymark.close()
  }
}

async function somebodyElse({ accounts }: LocalWaymark, name: string): Promise<Template['other']> {
  const user = await accounts.createUser(null, { email: `${name}@waymark.local` }, 'owner')
  const organization = await accounts.organizations.create(user, { name })
  const project = (await accounts.context.store.read.projects.first({ organization_id: organization.id }))!
  const { value } = await accounts.personalKeys.create(user, { label: 'a', scopes: ['*'] })
  return { project: project.id, token: project.api_token, key: value }
}
