// Everything that is kept has a largest size, a largest number and an owner who pays for it. This is the table of them: the schemas of all
// routes, the store of account data and docs/limits.md read it. `test/limits/*.test.ts` fail for a field or a table without a row.

/** What one field of a request may take, where its schema does not say less. */
export interface FieldLimit {
  readonly most: number
  readonly unit: 'characters' | 'items' | 'characters as JSON'
  readonly what: string
  readonly reason: string
}

const field = (most: number, unit: FieldLimit['unit'], what: string, reason: string): FieldLimit => ({ most, unit, what, reason })
const mebibyte = 1024 ** 2

/** The largest values of fields, by a name that schemas use: `text({ size: 'statement' })`, `jsonObject('query')`, `listOf(item, 'ids')`. */
export const fieldLimits = {
  text: field(10_000, 'characters', 'a text', 'Names, descriptions, addresses: what people write and read.'),
  message: field(1_000, 'characters', 'the message of an invitation', 'It is mailed to somebody who did not ask for it.'),
  statement: field(100_000, 'characters', 'a statement', 'The same as for a statement that runs.'),
  token: field(2_000, 'characters', 'a token, an id or a time', 'Compared with what is stored, never kept as sent.'),
  list: field(1_000, 'items', 'a list', 'Tags, ids, rules: what a page shows as a whole.'),
  ids: field(500_000, 'items', 'ids in one request', 'Members of a static cohort; the body has its own limit.'),
  json: field(20_000, 'characters as JSON', 'free JSON', 'Preferences and settings that pages keep.'),
  query: field(50_000, 'characters as JSON', 'a saved query', 'A definition of an insight, with long lists of values.'),
  definition: field(
    100_000,
    'characters as JSON',
    'the steps of an action, the condition of a cohort',
    'Read by every query that uses one.',
  ),
  config: field(50_000, 'characters as JSON', 'a configuration', 'Fields of a destination, of a plugin, or of its schema.'),
  source: field(4 * mebibyte, 'characters', 'one file of a plugin', 'Code that is compiled as a whole.'),
  members: field(4 * mebibyte, 'characters as JSON', 'a group of an identity provider', 'Ten thousand members, with their addresses.'),
  file: field(6 * mebibyte, 'characters', 'an attached file, in base64', 'Four MiB of bytes.'),
  files: field(8 * mebibyte, 'characters as JSON', 'the files of one request', 'Less than a body.'),
  body: field(
    10 * mebibyte,
    'characters as JSON',
    'values that are read and not stored',
    'A query that runs, a file of ids: the limit of the body applies.',
  ),
} as const satisfies Readonly<Record<string, FieldLimit>>

export type FieldLimitName = keyof typeof fieldLimits

export type Owner = 'server' | 'organization' | 'project' | 'user'

/** What happens to one more. `refuse`: an error that names the limit. `oldest`: it takes the place of the oldest. */
type Full = 'refuse' | { readonly oldest: string }

/** The rows of one table of account data. */
export interface RowLimit {
  readonly what: string
  /** The most characters of one row's texts and JSON. */
  readonly size: number
  /** The most rows, by the column of their owner: `{ project_id: 500 }`. */
  readonly per: Readonly<Record<string, number>>
  /** The most rows of the server. */
  readonly inAll?: number
  readonly full: Full
  /** Rows that the server itself writes: a text that is too long is cut. */
  readonly cuts?: true
  readonly reason: string
}

const refused = <P extends RowLimit['per']>(
  what: string,
  size: number,
  per: P,
  reason: string,
  more: Partial<Omit<RowLimit, 'per'>> = {},
) => ({
  what,
  size,
  per,
  full: 'refuse' as const,
  reason,
  ...more,
})
const replaced = <P extends RowLimit['per']>(what: string, size: number, per: P, oldest: string, reason: string) => ({
  what,
  size,
  per,
  full: { oldest },
  cuts: true as const,
  reason,
})

/** Of the tables of the account store, by their names. */
export const rowLimits = {
  users: refused('accounts', 80_000, {}, 'Held in memory.', { inAll: 200_000 }),
  organizations: refused('organizations', 10_000, {}, 'Held in memory; those of a user are bounded by memberships.', { inAll: 200_000 }),
  memberships: refused('memberships', 500, { organization_id: 10_000, user_id: 200 }, 'Read at every request.'),
  invites: refused('open invitations', 12_000, { organization_id: 1_000 }, 'Each is a mail.'),
  domains: refused('domains', 25_000, { organization_id: 100 }, 'Each is a look-up in DNS.'),
  roles: refused('roles', 1_500, { organization_id: 500 }, 'Listed as a whole.'),
  role_memberships: refused('members of a role', 500, { role_id: 10_000 }, 'Listed as a whole.'),
  projects: refused(
    'projects',
    800_000,
    { organization_id: 5_000 },
    'Each has a store; an application may have one for each of its customers.',
  ),
  project_memberships: refused('members of a private project', 500, { project_id: 10_000 }, 'Read at every request.'),
  project_roles: refused('roles with access to a private project', 500, { project_id: 500 }, 'Read at every request.'),
  definition_notes: refused('described events and properties', 40_000, { project_id: 5_000 }, 'Held in memory.'),
  insights: refused('insights', 100_000, { project_id: 10_000 }, 'Includes those in the trash.'),
  insight_views: replaced('views of insights', 500, { project_id: 50_000 }, 'viewed_at', 'For lists of recently viewed insights.'),
  insight_refreshes: replaced(
    'cached answers of insights',
    5_000,
    { project_id: 20_000 },
    'viewed_at',
    'Recomputed as long as they are viewed.',
  ),
  dashboards: refused('dashboards', 90_000, { project_id: 2_000 }, 'Includes those in the trash.'),
  dashboard_tiles: refused('tiles', 40_000, { dashboard_id: 2_000 }, 'Includes removed ones; 300 can be shown.'),
  annotations: refused('annotations', 12_000, { project_id: 20_000 }, 'Shown beside every chart.'),
  saved_queries: refused('views', 400_000, { project_id: 500 }, 'Every statement can read them.'),
  saved_filters: refused('saved filters', 21_000, { project_id: 500 }, 'Listed as a whole.'),
  feature_flags: refused('feature flags', 110_000, { project_id: 1_000 }, 'All active ones are computed for each client that asks.'),
  viewer_keys: refused('viewer keys', 2_500, { project_id: 100 }, 'Listed as a whole.'),
  viewer_revocations: refused(
    'revoked viewer tokens',
    2_500,
    { project_id: 20_000 },
    'Kept until the token would have ended; to end more of them, remove their key.',
  ),
  proxy_records: refused('managed proxies', 12_000, { organization_id: 100 }, 'Each is a look-up in DNS.'),
  batch_exports: refused('batch exports', 250_000, { project_id: 1_000 }, 'Includes removed ones.'),
  batch_export_runs: refused('runs of a batch export', 20_000, { batch_export_id: 100_000 }, 'Removed after 90 days.', { cuts: true }),
  batch_export_backfills: refused('backfills of a batch export', 2_000, { batch_export_id: 10_000 }, 'Each is a list of runs.'),
  batch_export_logs: replaced('log lines of a batch export', 12_000, { batch_export_id: 100_000 }, 'timestamp', 'Removed after 30 days.'),
  plugins: refused('plugins', 120_000, { organization_id: 500 }, 'Held in memory.'),
  plugin_files: refused('files of a plugin', 16 * mebibyte, { plugin_id: 20 }, 'The source, and what it compiles to.', { cuts: true }),
  plugin_versions: refused('versions of a plugin that projects still run', 32 * mebibyte, { plugin_id: 200 }, 'Each is the whole code.'),
  plugin_configs: refused('configs of plugins', 150_000, { project_id: 1_000 }, 'Includes removed ones.', { cuts: true }),
  plugin_attachments: refused('files of plugin configs', 8 * mebibyte, { plugin_config_id: 51, project_id: 500 }, 'Encrypted, in base64.'),
  plugin_webhooks: refused('webhook addresses of plugin configs', 2_000, { project_id: 1_000 }, 'One for each config.'),
  plugin_deliveries: refused('positions of deliveries', 20_000, { project_id: 2_000 }, 'One for each config that gets events.'),
  plugin_failed_deliveries: refused(
    'failed deliveries',
    20_000,
    { plugin_config_id: 50_000 },
    'Before that, the oldest dead letters are dropped.',
    {
      cuts: true,
    },
  ),
  sharing_links: refused('public links', 20_000, { project_id: 10_000 }, 'Held in memory.'),
  alerts: refused('alerts', 60_000, { project_id: 500 }, 'Each runs its own query.'),
  alert_checks: replaced('checks of alerts', 12_000, { alert_id: 10_000 }, 'created_at', 'Removed after 90 days.'),
  subscriptions: refused('subscriptions', 20_000, { project_id: 500 }, 'Each runs queries and sends e-mails on a schedule.'),
  notices: replaced(
    'notices',
    4 * mebibyte,
    { alert_id: 100, subscription_id: 100, project_id: 10_000 },
    'created_at',
    'Contents of alerts and subscriptions, until every receiver has them; removed after 30 days.',
  ),
  notice_deliveries: replaced(
    'deliveries of notices',
    12_000,
    { alert_id: 1_000, subscription_id: 1_000, project_id: 50_000 },
    'created_at',
    'Times, receivers and errors; removed after 30 days.',
  ),
  event_hours: refused('counted events of the last days', 4_000, { project_id: 1 }, 'Eight days of hours.'),
  server_hours: refused('measured hours of the server', 8_000, {}, 'Seven days of hours.', { inAll: 10 }),
  watch_states: replaced(
    'problems that owners are notified of',
    4_000,
    { project_id: 500 },
    'began_at',
    'One for each project, export or plugin; removed 30 days after its end.',
  ),
  watch_settings: refused('watches that are switched off', 1_000, { project_id: 1 }, 'One for each project.'),
  plugin_tasks: refused('periods of plugin tasks', 200, { project_id: 10 }, 'One for each minute, hour and day.'),
  plugin_jobs: refused('waiting jobs of a plugin config', 5 * mebibyte, { plugin_config_id: 10_000 }, 'Removed when they have run.'),
  leases: replaced(
    'leases of due work',
    1_000,
    { project_id: 20_000 },
    'until',
    'One for each piece of work that is running, or waits after a failure.',
  ),
  deletions: replaced('receipts of what was deleted', 1_500, { project_id: 10_000 }, 'created_at', 'Each is a request for deletion.'),
  retention_runs: refused('removals of what is too old', 3_000, { project_id: 1 }, 'One for each project.', { cuts: true }),
  backups: refused('places of backups', 4_000, {}, 'One for each place that a server was started with.', { inAll: 1_000 }),
  imports: replaced('imports', 4_000, { project_id: 1_000 }, 'created_at', 'One that is forgotten can no longer be undone.'),
  historical_imports: refused('allowances of imports', 2_000, { project_id: 1 }, 'One for each project.'),
  event_counts: refused('counted events', 200, { project_id: 1 }, 'One day of each project.'),
  mail_counts: refused('counted mails', 200, { organization_id: 1 }, 'One day of each organization.'),
  personal_keys: refused('personal API keys', 60_000, { user_id: 200 }, 'Compared at every request.'),
  sessions: replaced(
    'signed-in sessions',
    1_000,
    { user_id: 100 },
    'authenticated_at',
    'Signing in always works; the oldest session ends.',
  ),
  password_links: replaced('links for a new password', 500, { user_id: 20 }, 'created_at', 'Held in memory.'),
  email_links: replaced('pending proofs of an address', 1_000, { user_id: 5 }, 'created_at', 'One per user; it replaces the earlier ones.'),
  second_factors: refused('authenticator apps', 1_000, { user_id: 2 }, 'One that counts, and one that is being set up.'),
  recovery_codes: refused('recovery codes', 200, { user_id: 10 }, 'New ones replace them.'),
  passkeys: refused('passkeys', 8_000, { user_id: 20 }, 'For each device one is enough.'),
  used_challenges: replaced(
    'challenges of passkeys and codes of consents that were used',
    300,
    { user_id: 100 },
    'created_at',
    'Each is forgotten after five minutes.',
  ),
  pending_logins: replaced('logins that wait for a code', 500, { user_id: 20 }, 'created_at', 'Each ends after ten minutes.'),
  identities: refused('linked identities', 3_000, { user_id: 20 }, 'Read when somebody signs in through an identity provider.'),
  scim_tokens: refused('tokens of SCIM', 1_000, { domain_id: 1 }, 'A new one replaces it.'),
  scim_users: refused('users of an identity provider', 2_000, { organization_id: 20_000 }, 'Includes those that it has deactivated.'),
  used_assertions: refused('used assertions of SAML', 200, {}, 'Removed after twelve minutes.', { inAll: 50_000 }),
  idempotent_answers: replaced('answers kept for a retry', 300_000, { user_id: 2_000 }, 'created_at', 'Removed after a day.'),
  query_runs: replaced('async queries', 20_000, { project_id: 5_000 }, 'start_time', 'Removed ten minutes after their end.'),
  slow_queries: replaced('queries that took long', 130_000, { project_id: 1_000 }, 'created_at', 'Removed after 30 days.'),
  activity: replaced('entries of the activity log', 20_000, { organization_id: 50_000 }, 'created_at', 'Who changed what.'),
  counters: refused('counters', 100, {}, 'The last ids.', { inAll: 100 }),
} as const satisfies Readonly<Record<string, RowLimit>>

/** What is kept elsewhere, and what goes out. */
export interface OtherLimit {
  readonly what: string
  readonly size: string
  readonly number: number
  readonly unit: string
  readonly owner: Owner
  readonly reason: string
}
const other = (what: string, number: number, unit: string, owner: Owner, size: string, reason: string): OtherLimit => ({
  what,
  size,
  number,
  unit,
  owner,
  reason,
})

export const otherLimits = {
  heldBytes: other(
    'account data that is held in memory',
    512 * mebibyte,
    'bytes',
    'server',
    'sizes of the rows above',
    'A fuller store still opens and serves, but refuses additions.',
  ),
  actions: other('actions', 2_000, 'rows', 'project', '120,000 characters', 'Read by every query that uses one.'),
  cohorts: other('cohorts', 2_000, 'rows', 'project', '120,000 characters', 'Read by every query that uses one.'),
  definitionSize: other(
    'the JSON of an action or a cohort',
    120_000,
    'characters',
    'project',
    'its fields',
    'Opening a project loads all of them.',
  ),
  definitionsInAll: other(
    'the JSON of all actions, or of all cohorts',
    8 * mebibyte,
    'characters',
    'project',
    'a definition',
    'Every query loads them.',
  ),
  pastFamily: other(
    'history of persons that past events have merged, for later merges',
    2_000_000,
    'characters',
    'project',
    'persons, ids and merge events of one family',
    'Each merge recomputes all of it; beyond the limit, merges count in order of arrival.',
  ),
  eventsPerDay: other('events a day', 20_000_000, 'events', 'project', '1 MiB each', 'The project key is public.'),
  mailsPerDay: other('mails a day', 500, 'mails', 'organization', '1 MiB each', 'Its members decide who gets them.'),
  unprovenMailsPerDay: other(
    'mails a day, without an owner whose address is proven',
    20,
    'mails',
    'organization',
    '1 MiB each, with fixed texts',
    'A free account must not become a mail relay.',
  ),
  storageKeys: other('keys in the storage of a plugin config', 10_000, 'keys', 'project', '400 characters each', 'A file, or a table.'),
  storageBytes: other(
    'the storage of a plugin config',
    16 * mebibyte,
    'bytes',
    'project',
    '4,194,304 characters a value',
    'A file, or a table.',
  ),
  cacheBytes: other(
    'the cache of a plugin in one project',
    16 * mebibyte,
    'bytes',
    'project',
    '4,194,304 characters a value, 1,000 values a list, 10,000 keys',
    'Held in memory; the oldest go first.',
  ),
  cachesBytes: other('the caches of all plugins', 256 * mebibyte, 'bytes', 'server', 'a cache', 'Held in memory; the largest loses some.'),
  pluginLines: other(
    'log of a plugin config of several servers',
    5_000,
    'lines',
    'project',
    'a line of the log',
    'In PostgreSQL; with one directory, files of 1 MiB. The oldest go first.',
  ),
  keptAnswerBytes: other(
    'answers of async queries',
    256 * mebibyte,
    'bytes',
    'project',
    'an answer',
    'Kept ten minutes, the oldest go first.',
  ),
  keptLibraries: other(
    'browser libraries with the settings of a project',
    60,
    'scripts',
    'server',
    '120 KiB, compressed',
    'Rebuilt when they are not cached.',
  ),
  metricSeries: other('series of a metric', 2_000, 'series', 'server', '1,000 characters of labels', 'Scrapers have limits too.'),
  sharedStates: other(
    'counts of requests, attempts and running queries of several servers',
    200_000,
    'callers, accounts and networks',
    'server',
    '2 KiB',
    'Looked at once a minute; those that end soonest are removed.',
  ),
  connections: other('open connections', 5_000, 'connections', 'server', '64 KiB of headers', 'Each has memory and a file descriptor.'),
} as const satisfies Readonly<Record<string, OtherLimit>>
