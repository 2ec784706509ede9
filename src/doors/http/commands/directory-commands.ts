import type { Download } from '../../../engine/execution/download.ts'
import type { LocalWaymark } from '../../../engine.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import type { PropertyTypeInput } from '../../../events/ingestion/decoding/inputs.ts'
import { asideText, sharedAsidePlace } from '../../../lib/text/aside-text.ts'
import type { DownloadFormat, IngestAnswer } from '../../../project.ts'
import type { AnswerWarning } from '../../../queries/query-types.ts'
import { limitsOf } from '../../../service/accounts/projects/historical-imports.ts'
import { type HistoricalImport, type LevelName, level, type ProjectRecord } from '../../../service/accounts/records.ts'
import type { RunState } from '../../../service/backups/directory-backups.ts'
import type { ImportedBatch } from '../../../service/imports/imports.ts'
import { lockedDomains } from '../../../service/single-sign-on/locked-domains.ts'
import { type Figures, figuresOf } from '../server/figures.ts'

// Commands that work in a data directory. If a server owns the directory it executes them, otherwise the command opens the directory. So
// arguments and results must be JSON.

interface NewUser {
  readonly organization: string
  readonly email: string
  readonly level: LevelName
}
interface NewLink {
  readonly email: string
  /** Null: as the server is configured. */
  readonly public_url: string | null
  /** The user is who has used the account so far, although nobody has proven the address. */
  readonly keeps_access: boolean
}
interface NewKey {
  readonly user: string
  readonly label: string
  readonly scopes: readonly string[]
}
export interface BackupInput {
  /** An absolute path, or the address of a bucket. */
  readonly to: string
  readonly key: string | null
  readonly verify: boolean
  readonly keep_days: number | null
  readonly take_over: boolean
}
interface CompactInput {
  /** Null: all. */
  readonly project: number | null
  readonly force: boolean
}
export interface ProjectRestoreInput {
  readonly from: string
  readonly key: string | null
  readonly project: number
  readonly name: string | null
  readonly copy: number | null
  readonly at: string | null
}
export interface Approval {
  readonly project: number
  readonly is_approved: boolean
  /** Null: no limit. */
  readonly total_events: number | null
  readonly events_per_minute: number | null
}
const levelName = (value: number): string => Object.entries(level).find(([, at]) => at === value)?.[0] ?? String(value)

export type ImportState = Pick<HistoricalImport, 'is_approved' | 'approved_by' | 'imported_events'> & {
  readonly project: number
  readonly name: string
  readonly approved_at: string | null
  readonly total_events: number | null
  readonly events_per_minute: number | null
}

async function projectOf({ accounts }: Pick<LocalWaymark, 'accounts'>, id: number): Promise<ProjectRecord> {
  const project = await accounts.projects.byId(id)
  if (!project) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
  return project
}

/** Stores a batch of an import. */
export async function imported<A extends ImportedBatch>(
  waymark: Pick<LocalWaymark, 'imports'>,
  project: number,
  importId: string,
  work: () => Promise<A>,
): Promise<A> {
  const taken = await waymark.imports.take({ id: project }, importId, work)
  if (!taken?.answer) throw new WaymarkError('command-failed', { message: 'The import is being undone.' })
  return taken.answer
}

export const directoryCommands = {
  figures: (waymark: LocalWaymark, _: object): Promise<Figures> => figuresOf(waymark),

  query: async (waymark: LocalWaymark, input: { readonly project: number; readonly query: unknown }): Promise<object> =>
    (await waymark.project(input.project)).answer(input.query),

  /** `import`: the import that the events are of. */
  ingest: async (
    waymark: LocalWaymark,
    input: { readonly project: number; readonly body: unknown; readonly import?: string },
  ): Promise<IngestAnswer> => {
    const project = await waymark.project(input.project)
    const { import: importId } = input
    if (importId === undefined) return project.take(input.body)
    return imported(waymark, input.project, importId, () => project.take(input.body, { importId }))
  },

  'begin-import': async (waymark: LocalWaymark, input: { readonly project: number; readonly file: string; readonly format: string }) => {
    const { project: id, ...about } = input
    return { id: (await waymark.imports.beginByOperator(await projectOf(waymark, id), about)).id }
  },

  'finish-import': async (
    waymark: LocalWaymark,
    input: {
      readonly project: number
      readonly id: string
      readonly status: 'done' | 'stopped'
      readonly rows: number
      readonly unreadable: number
    },
  ): Promise<object> => {
    const { project, id, ...about } = input
    await waymark.imports.finish(await projectOf(waymark, project), id, about)
    return {}
  },

  'are-imports-undone': async (waymark: LocalWaymark, input: { readonly project: number; readonly ids: readonly string[] }) => ({
    areUndone: await waymark.imports.areUndone({ id: input.project }, input.ids),
  }),

  'create-user': async ({ accounts }: LocalWaymark, { organization, email, level: at }: NewUser) => {
    const user = await accounts.createUser(organization, { email }, at)
    const { value } = await accounts.personalKeys.create(user, { label: 'First key', scopes: ['*'] })
    return { user_id: user.id, user_uuid: user.uuid, email: user.email, level: level[at], personal_api_key: value }
  },

  'create-password-link': async ({ accounts }: LocalWaymark, { email, public_url, keeps_access }: NewLink) => {
    const made = await accounts.passwordLinks.create(email, public_url ?? undefined, keeps_access)
    const { user, url, expires_at, ends, sso_enforcement } = made
    return { user_id: user.id, email: user.email, url, expires_at: expires_at.toISOString(), ends, sso_enforcement }
  },

  'confirm-address': async ({ accounts }: LocalWaymark, { email }: { readonly email: string }) => {
    const user = await accounts.emailLinks.confirmFor(email)
    return { user_id: user.id, email: user.email }
  },

  'reset-second-factor': async ({ accounts }: LocalWaymark, { email }: { readonly email: string }) => {
    const user = await accounts.users.byEmail(email)
    if (!user) throw new WaymarkError('no-record', { message: `There is no user ${email}. \`waymark users list\` shows them.` })
    await accounts.secondFactors.resetByOperator(user)
    return { user_id: user.id, email: user.email }
  },

  'deactivate-user': async ({ accounts }: LocalWaymark, { email }: { readonly email: string }) => {
    const { user, sessions, keys } = await accounts.activation.deactivate(email)
    return { user_id: user.id, email: user.email, sessions, keys }
  },

  'activate-user': async ({ accounts }: LocalWaymark, { email }: { readonly email: string }) => {
    const user = await accounts.activation.activate(email)
    return { user_id: user.id, email: user.email }
  },

  'unlink-identities': async ({ accounts }: LocalWaymark, { email }: { readonly email: string }) => {
    const user = await accounts.users.byEmail(email)
    if (!user) throw new WaymarkError('no-record', { message: `There is no user ${email}. \`waymark users list\` shows them.` })
    return { user_id: user.id, email: user.email, identities: await accounts.identities.unlink(user) }
  },

  'create-key': async ({ accounts }: LocalWaymark, { user: email, label, scopes }: NewKey) => {
    const user = await accounts.users.byEmail(email)
    if (!user) throw new WaymarkError('no-record', { message: `There is no user ${email}.` })
    const { key, value } = await accounts.personalKeys.create(user, { label, scopes })
    return { id: key.id, label: key.label, scopes: key.scopes, personal_api_key: value }
  },

  'approve-imports': async ({ accounts }: LocalWaymark, { project: id, is_approved, ...limits }: Approval): Promise<object> => {
    const project = await projectOf({ accounts }, id)
    await accounts.historicalImports.update(null, project, { is_approved, ...(is_approved && limits) })
    return {}
  },

  'limit-project': async (
    { accounts }: LocalWaymark,
    { project: id, events_per_day }: { readonly project: number; readonly events_per_day: number | null },
  ): Promise<object> => {
    if (!(await accounts.projects.byId(id))) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
    await accounts.eventQuotas.setByOperator(id, events_per_day)
    return {}
  },

  'locked-domains': ({ accounts, singleSignOn }: LocalWaymark, _: object) =>
    lockedDomains(
      accounts.context,
      singleSignOn.providers.map(({ id }) => id),
    ),

  'list-projects': async ({ accounts }: LocalWaymark, _: object) => {
    const { projects, organizations } = accounts.context.store.read
    const names = new Map((await organizations.find({})).map(({ id, name }) => [id, name]))
    return [...(await projects.find({}))]
      .sort((a, b) => a.id - b.id)
      .map(({ id, name, organization_id, timezone, api_token }) => ({
        id,
        name,
        organization: names.get(organization_id) ?? organization_id,
        timezone,
        project_api_key: api_token,
      }))
  },

  'list-users': async ({ accounts }: LocalWaymark, _: object) => {
    const { users, memberships, organizations } = accounts.context.store.read
    const [everybody, allMemberships, names] = await Promise.all([
      users.find({}),
      memberships.find({}),
      organizations.find({}).then((all) => new Map(all.map(({ id, name }) => [id, name]))),
    ])
    return everybody.map(({ id, email, is_active }) => ({
      id,
      email,
      is_active,
      organizations: allMemberships
        .filter(({ user_id }) => user_id === id)
        .map((one) => `${names.get(one.organization_id)} (${levelName(one.level)})`)
        .join(', '),
    }))
  },

  'list-domains': async ({ accounts }: LocalWaymark, _: object) => {
    const { domains, organizations } = accounts.context.store.read
    const names = new Map((await organizations.find({})).map(({ id, name }) => [id, name]))
    return [...(await domains.find({}))]
      .sort((a, b) => (a.domain < b.domain ? -1 : 1))
      .map((one) => ({
        domain: one.domain,
        organization_id: one.organization_id,
        organization: names.get(one.organization_id) ?? null,
        is_verified: accounts.domains.isProven(one),
        verified_at: accounts.domains.isProven(one) ? (one.verified_at?.toISOString() ?? null) : null,
        sso_enforcement: one.sso_enforcement,
        created_at: one.created_at.toISOString(),
      }))
  },

  'verify-domain': async (
    { accounts }: LocalWaymark,
    { domain, organization }: { readonly domain: string; readonly organization: string | null },
  ) => {
    const proven = await accounts.domains.vouch(domain, organization)
    return {
      domain: proven.domain,
      organization_id: proven.organization_id,
      is_verified: true,
      verified_at: proven.verified_at?.toISOString() ?? null,
    }
  },

  'set-domain': async ({ accounts }: LocalWaymark, input: { readonly domain: string; readonly sso_enforcement: string }) => {
    const { domain, organization_id, sso_enforcement } = await accounts.domains.enforceByOperator(input.domain, input.sso_enforcement)
    return { domain, organization_id, sso_enforcement }
  },

  'list-organizations': async ({ accounts }: LocalWaymark, _: object) => {
    const { organizations, memberships, projects } = accounts.context.store.read
    const all = [...(await organizations.find({}))].sort((a, b) => a.created_at.getTime() - b.created_at.getTime())
    return Promise.all(
      all.map(async ({ id, name, plugins_access_level, created_at }) => ({
        id,
        name,
        plugins_level: plugins_access_level,
        members: await memberships.count({ organization_id: id }),
        projects: await projects.count({ organization_id: id }),
        created_at: created_at.toISOString(),
      })),
    )
  },

  'set-organization': async (
    { accounts }: LocalWaymark,
    { organization, plugins_level }: { readonly organization: string | null; readonly plugins_level: number },
  ) => {
    const changed = await accounts.organizations.setPluginsLevel(organization, plugins_level)
    return { organization_id: changed.id, name: changed.name, plugins_level: changed.plugins_access_level }
  },

  'list-keys': async ({ accounts }: LocalWaymark, _: object) => {
    const { personal_keys, users } = accounts.context.store.read
    const emails = new Map((await users.find({})).map(({ id, email }) => [id, email]))
    return (await personal_keys.find({}, { newestFirst: 'created_at' })).map((key) => ({
      id: key.id,
      user: emails.get(key.user_id) ?? null,
      label: key.label,
      key: key.mask_value,
      scopes: ((key.scopes as readonly string[] | null) ?? ['*']).join(','),
      created_at: key.created_at.toISOString(),
      last_used_at: key.last_used_at?.toISOString() ?? null,
    }))
  },

  'list-properties': async (waymark: LocalWaymark, { project }: { readonly project: number }) =>
    (await (await waymark.project(project)).properties()).map(({ scope, name, property_type, counts }) => ({
      scope,
      name,
      property_type,
      counts,
    })),

  'define-property': async (waymark: LocalWaymark, { project, row }: { readonly project: number; readonly row: PropertyTypeInput }) => {
    await (await waymark.project(project)).definePropertyTypes([row])
    return {}
  },

  /** Projects that were requested and failed to open, with the reason. */
  failures: async (waymark: LocalWaymark, _: object): Promise<readonly { readonly project: number; readonly message: string }[]> => {
    const { failures, aside, reach } = await waymark.condition()
    const place = reach ? sharedAsidePlace : undefined
    return [
      ...failures.map(({ project, what, error }) => ({ project, message: `${what}: ${error instanceof Error ? error.message : error}` })),
      ...aside.map(({ project, records }) => ({ project, message: asideText(records, place) })),
    ]
  },

  /** Begins a backup. `run-state` says how far it is. */
  backup: async (waymark: LocalWaymark, { to, key, verify, keep_days, take_over }: BackupInput): Promise<{ readonly run: number }> => ({
    run: waymark.longRuns.begin((watching) =>
      waymark.backup(to, {
        ...watching,
        ...(key === null ? {} : { key }),
        verify,
        ...(keep_days === null ? {} : { keepDays: keep_days }),
        takeOver: take_over,
      }),
    ),
  }),

  /** The same for giving space back. */
  compact: async (waymark: LocalWaymark, { project, force }: CompactInput): Promise<{ readonly run: number }> => {
    const about = { force, ...(project === null ? {} : { project }) }
    return { run: waymark.longRuns.begin((watching) => waymark.compact({ ...about, ...watching })) }
  },

  /** The same for the restoration of a project. */
  'restore-project': async (
    waymark: LocalWaymark,
    { from, key, project, name, copy, at }: ProjectRestoreInput,
  ): Promise<{ readonly run: number }> => ({
    run: waymark.longRuns.begin((watching) =>
      waymark.restoreProject(from, {
        ...watching,
        project,
        ...(key === null ? {} : { key }),
        ...(name === null ? {} : { name }),
        ...(copy === null ? {} : { copy }),
        ...(at === null ? {} : { at: new Date(at) }),
      }),
    ),
  }),

  /** The server refuses requests from now on, and closes the directory. */
  'hand-over': async ({ handOver, dataDir }: LocalWaymark, _: object): Promise<object> => {
    if (handOver === null)
      throw new WaymarkError('command-failed', { message: `An application has ${dataDir} open. Stop it, and run the command again.` })
    handOver()
    return {}
  },

  'run-state': async (waymark: LocalWaymark, { run }: { readonly run: number }): Promise<RunState> => waymark.longRuns.state(run),

  'run-stop': async (waymark: LocalWaymark, { run }: { readonly run: number }): Promise<object> => {
    waymark.longRuns.stop(run)
    return {}
  },

  imports: async ({ accounts }: Pick<LocalWaymark, 'accounts'>, _: object): Promise<readonly ImportState[]> => {
    const projects = [...(await accounts.context.store.read.projects.find({}))].sort((a, b) => a.id - b.id)
    return Promise.all(
      projects.map(async ({ id, name }) => {
        const record = await accounts.historicalImports.of(id)
        return {
          project: id,
          name,
          is_approved: record.is_approved,
          approved_by: record.approved_by,
          approved_at: record.approved_at?.toISOString() ?? null,
          imported_events: record.imported_events,
          ...limitsOf(record),
        }
      }),
    )
  },
}

interface QueryDownload {
  readonly project: number
  readonly query: unknown
  readonly format: DownloadFormat
}
/** Everything that is stored about a person. */
interface PersonDownload {
  readonly project: number
  /** Its uuid or a distinct id. */
  readonly person: string
}
export type DownloadInput = QueryDownload | PersonDownload

export interface DirectoryDownload {
  readonly warnings: readonly Pick<AnswerWarning, 'message'>[]
  readonly bytes: AsyncIterable<Uint8Array>
}

/** All rows of a query, or all lines about a person. The user of a command ends it when it takes too long. */
export async function downloadFrom(waymark: LocalWaymark, input: DownloadInput, signal: AbortSignal): Promise<Download> {
  if ('person' in input) return aboutPerson(waymark, input, signal)
  const { project, query, format } = input
  return (await waymark.project(project)).download(query, format, { project, caller: 'command line', signal })
}

async function aboutPerson(waymark: LocalWaymark, { project, person }: PersonDownload, signal: AbortSignal): Promise<Download> {
  await waymark.project(project)
  const { sendAsOperator, addressOf } = await import('../server/operator.ts')
  const url = addressOf(`/api/projects/${project}/persons/${encodeURIComponent(person)}/everything/`)
  const response = await sendAsOperator(waymark)(new Request(url, { signal }))
  if (response.ok) return { warnings: [], bytes: piecesOf(response.body!) }
  const { detail } = (await response.json()) as { readonly detail: string }
  throw new WaymarkError('command-failed', { message: detail })
}

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of body) yield piece
}

export type DirectoryCommands = typeof directoryCommands
export type DirectoryCommandName = keyof DirectoryCommands
export type Input<N extends DirectoryCommandName> = Parameters<DirectoryCommands[N]>[1]
export type Outcome<N extends DirectoryCommandName> = Awaited<ReturnType<DirectoryCommands[N]>>
