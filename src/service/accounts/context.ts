import type { ConcurrencyLimit } from '../../lib/flow/concurrency-limit.ts'
import { otherLimits } from '../../limits/limits.ts'
import type { OutboundCalls } from './outbound-calls.ts'
import type { AccountStore, AccountTables, User } from './records.ts'
import type { SecretBox } from './secrets/secret-box.ts'
import type { Json } from './store.ts'
import type { Passwords } from './users/passwords.ts'

export interface Mail {
  readonly to: string
  readonly replyTo?: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  readonly attachments?: readonly MailAttachment[]
  /** The same at every attempt, so that mail servers recognize a repeated mail. */
  readonly messageId?: string
}
export interface MailAttachment {
  readonly filename: string
  readonly contentType: string
  readonly content: string
}
export interface Mailer {
  send(mail: Mail): Promise<void>
}

/** The operator's settings of this installation. */
export interface AccountSettings {
  /** Multi-tenant mode: domains must be verified, plugins are limited to configuration. */
  readonly isHosted: boolean
  readonly allowsManyOrganizations: boolean
  /** The public address, for links in mails. */
  readonly siteUrl: string
  readonly instanceTag: string
  /** Managed proxies have names below this one. */
  readonly proxyBase: string
  /** Events of clients that each project takes on one day; null: no limit. */
  readonly eventsPerDay: number | null
}
export const defaultSettings: AccountSettings = {
  isHosted: false,
  allowsManyOrganizations: true,
  siteUrl: 'http://127.0.0.1:8000',
  instanceTag: 'none',
  proxyBase: 'proxy.localhost',
  eventsPerDay: otherLimits.eventsPerDay.number,
}

/** The stores of projects: created and removed together with the records. */
export interface ProjectStores {
  create(id: number): Promise<void>
  /** Closes the project's store and removes its folder. */
  remove(id: number): Promise<void>
  /** Plugins of these projects were uninstalled together with their organization. */
  pluginsRemoved(ids: readonly number[]): Promise<void>
}

export interface AccountContext {
  readonly store: AccountStore
  /** Other servers have the same store. */
  readonly isShared: boolean
  readonly clock: () => Date
  readonly newId: () => string
  readonly settings: () => AccountSettings
  /** Null if no mail server is configured. */
  readonly mailer: () => Mailer | null
  /** The TXT records of a name, each as its first string; an empty list without records. */
  readonly lookupTxt: (name: string) => Promise<readonly string[]>
  /** The target of a name's CNAME record; null without one. */
  readonly lookupCname: (name: string) => Promise<string | null>
  readonly passwords: Passwords
  /** For secrets that the server itself has to read. */
  readonly box: SecretBox
  readonly outbound: OutboundCalls
  /** Writes of identity providers, by their domain: all of them together take one place among those that wait to write. */
  readonly provisioning: ConcurrencyLimit
  readonly projectStores: ProjectStores
  /** For errors that occur after the answer was sent. */
  readonly report: (message: string, error: unknown) => void
}

/** The external services that an operator may configure. */
export type Surroundings = Partial<Pick<AccountContext, 'settings' | 'mailer' | 'lookupTxt' | 'lookupCname' | 'report'>>

/** Sends mails if a mail server is configured. A failure is reported, but does not undo the change that the mail is about. */
export const post = async ({ mailer, outbound, report }: AccountContext, organizationId: string, mails: readonly Mail[]): Promise<void> => {
  const server = mailer()
  if (!server) return
  const sent = await Promise.allSettled(mails.map((mail) => outbound.mails(organizationId, () => server.send(mail))))
  for (const one of sent) if (one.status === 'rejected') report('failed to send an e-mail', one.reason)
}

export interface Change {
  readonly type: string
  readonly action: 'created' | 'changed' | 'deleted'
  readonly field: string
  readonly before: Json
  readonly after: Json
}

const toJson = (value: unknown): Json => (value instanceof Date ? value.toISOString() : ((value ?? null) as Json))

/** The fields of `change` that differ from `before`. */
export const changesOf = (type: string, before: Readonly<Record<string, unknown>>, change: Readonly<Record<string, unknown>>): Change[] =>
  Object.entries(change).flatMap(([field, after]) => {
    const [old, now] = [toJson(before[field]), toJson(after)]
    return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ type, action: 'changed', field, before: old, after: now } as const]
  })

export interface ActivityEntry {
  readonly by: User | null
  readonly organization_id: string | null
  readonly project_id?: number | null
  readonly scope: string
  readonly item_id: string | number
  readonly activity: string
  readonly name: string | null
  readonly short_id?: string
  readonly changes?: readonly Change[]
  /** What a user started: a job. */
  readonly trigger?: Json
  /** Where it was done, of what concerns signing in. */
  readonly from?: From | null
}

/** The place of a request, as the activity log keeps it. */
export interface From {
  /** Null: nobody knows, or the command line. */
  readonly address: string | null
  readonly user_agent: string | null
}

/** The entry about a record of an organization, without its changes. */
export const entryAbout = (
  scope: string,
  { id, organization_id, project_id }: Pick<ActivityEntry, 'organization_id' | 'project_id'> & { readonly id: number | string },
  name: string | null,
  by: User | null,
  activity: string,
): ActivityEntry => ({ by, organization_id, project_id, scope, item_id: id, activity, name })

/** What an entry of the log may have of its changes: they repeat the values before and after. */
const longestChanges = 16_000
const longestValue = 160
const excerptOf = (value: Json): Json => {
  const written = JSON.stringify(value)
  return written.length <= longestValue ? value : `${written.slice(0, longestValue)}… (${written.length} characters)`
}
const shortened = (changes: readonly Change[]): readonly Change[] =>
  JSON.stringify(changes).length <= longestChanges
    ? changes
    : changes.slice(0, 40).map((change) => ({ ...change, before: excerptOf(change.before), after: excerptOf(change.after) }))

/** Writes one entry of the activity log, in the transaction of the change itself. */
export const log = (context: AccountContext, tables: AccountTables, entry: ActivityEntry): Promise<void> =>
  tables.activity.insert({
    id: context.newId(),
    organization_id: entry.organization_id,
    project_id: entry.project_id ?? null,
    user_id: entry.by?.id ?? null,
    activity: entry.activity,
    scope: entry.scope,
    item_id: String(entry.item_id),
    detail: {
      name: entry.name,
      short_id: entry.short_id ?? null,
      type: null,
      trigger: entry.trigger ?? null,
      changes: entry.changes ? (shortened(entry.changes) as unknown as Json) : null,
      ...(entry.from && { from: { ...entry.from } }),
    },
    is_system: entry.by === null,
    was_impersonated: false,
    created_at: context.clock(),
  })

/** Integer ids are never reused, not even after a delete. */
export const nextNumber = async (
  tables: AccountTables,
  name:
    | 'user'
    | 'project'
    | 'annotation'
    | 'dashboard'
    | 'dashboard_tile'
    | 'feature_flag'
    | 'insight'
    | 'plugin'
    | 'plugin_config'
    | 'subscription',
): Promise<number> => {
  const value = ((await tables.counters.first({ name }))?.value ?? 0) + 1
  if (value === 1) await tables.counters.insert({ name, value })
  else await tables.counters.update({ name }, { value })
  return value
}
