import { access, constants, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createAdmission } from './engine/admission/admission.ts'
import { answersInMemory } from './engine/admission/kept-answers.ts'
import type { Backends } from './engine/backend/backend.ts'
import type { Compacting } from './engine/backend/compaction.ts'
import { localBackends } from './engine/backend/local-backends.ts'
import { RemoteBackends } from './engine/isolation/remote-backends.ts'
import type { ClusterFigures, ClusterReach } from './engine/storage/cluster-watch.ts'
import { answerFiles } from './engine/storage/files/answer-files.ts'
import { type Aside, allAside } from './engine/storage/files/attempts-file.ts'
import { exists } from './engine/storage/files/exists.ts'
import { mustHaveKnownFiles } from './engine/storage/files/file-formats.ts'
import { makeFolders } from './engine/storage/files/make-folders.ts'
import { makeDirectoryPrivate } from './engine/storage/files/private-files.ts'
import { openSaltFile } from './engine/storage/files/salt-file.ts'
import { readSecretKeys } from './engine/storage/files/secret-key-file.ts'
import { BrokenFileError, type Instance, openInstance } from './engine/storage/instance.ts'
import { type LastOwner, type Lock, lockDirectory } from './engine/storage/locks/lock.ts'
import { disk } from './engine/storage/log/disk.ts'
import { logDefaults } from './engine/storage/log/file-log.ts'
import { type EngineChoice, logBytesOf, memoryLimitOf, openStores } from './engine/storage/open-stores.ts'
import { forgetPositions, type StorageOptions } from './engine/storage/project-storage.ts'
import { type RecoveryNotice, recoveryText } from './engine/storage/recovery/recovery-report.ts'
import { checkOptionNames } from './errors/check-option-names.ts'
import { WaymarkError } from './errors/errors.ts'
import { DailySalts } from './events/ingestion/cookieless/salts.ts'
import type { Transformations } from './events/ingestion/transforming/ports.ts'
import type { CurrencyRates } from './language/types/currency-rates.ts'
import type { States } from './lib/flow/states.ts'
import { loadTracing } from './lib/flow/tracing.ts'
import { withoutTrailingSlashes } from './lib/text/without-trailing-slashes.ts'
import { type Cluster, keyOfCluster, openCluster } from './open-cluster.ts'
import { OpenProjects, type ProjectFailure } from './open-projects.ts'
import type { LocalProject } from './project.ts'
import type { Accounts } from './service/accounts/accounts.ts'
import type { AccountContext, Surroundings } from './service/accounts/context.ts'
import { type NewProjectSettings, projectFieldNames } from './service/accounts/projects/project-fields.ts'
import { openResealing, type Resealing } from './service/accounts/secrets/resealing.ts'
import { createSecretBox, lazySecretBox, newSecretKey, type SecretBox } from './service/accounts/secrets/secret-box.ts'
import { type PersonalKeyOptions, personalKeyFields } from './service/accounts/users/personal-keys.ts'
import { type Asking, createAsking } from './service/asking/asking.ts'
import { createSlowQueries, defaultSlowMs, type SlowQueries } from './service/asking/slow-queries.ts'
import { AttachedTables } from './service/attached/attached.ts'
import { type AttachOptions, attachedFolders, attachmentsOf } from './service/attached/options.ts'
import {
  type BackupOptions,
  type BackupSchedule,
  type BackupSummary,
  isAtRest,
  LongRuns,
  openScheduled,
  type ProjectRestoreOptions,
  type ProjectRestoreSummary,
  restoreAsNew,
  takeBackup,
} from './service/backups/directory-backups.ts'
import type { OpenDirectory } from './service/backups/open-directory.ts'
import type { CopiedAccounts } from './service/backups/restored-definitions.ts'
import type { ScheduledBackups } from './service/backups/schedule.ts'
import type { RestoredDirectory } from './service/backups/verify.ts'
import { type CurrencyRatesFile, readCurrencyRates } from './service/currencies/read-rates.ts'
import { createDataRetention } from './service/data-retention/data-retention.ts'
import { type Address, announce, newSecret } from './service/directory/announcement.ts'
import { type CompactOptions, type CompactSummary, compactProjects } from './service/directory/compact-projects.ts'
import { accountsMemory, openAccounts } from './service/directory/control.ts'
import { type ExportOptions, type OpenedExports, openExports } from './service/exports/open-exports.ts'
import { type OpenedFlags, openFlags } from './service/flags/open-flags.ts'
import { Imports } from './service/imports/imports.ts'
import type { Runner } from './service/jobs/runner.ts'
import { allowedAddresses } from './service/network/allowed-addresses.ts'
import { type OpenedNotifications, openNotifications } from './service/notifications/open-notifications.ts'
import { openDeliveries } from './service/plugins/delivery/open-deliveries.ts'
import { type OpenedPlugins, openPlugins, type PluginOptions, pluginOptionNames } from './service/plugins/open-plugins.ts'
import { createOutbound } from './service/plugins/outbound.ts'
import { openPluginHost, type PluginHost } from './service/plugins/plugin-host.ts'
import type { PluginRuntime } from './service/plugins/runtime.ts'
import { type InsightOptions, openSaved, type Saved } from './service/saved/open-saved.ts'
import { newShortId } from './service/saved/short-id.ts'
import { type OpenedSharing, openSharing } from './service/sharing/open-sharing.ts'
import { createDomainProofs } from './service/single-sign-on/domain-proofs.ts'
import { openSingleSignOn, type SingleSignOn } from './service/single-sign-on/open-single-sign-on.ts'
import type { ProviderOptions } from './service/single-sign-on/providers.ts'
import { createViewerKeys } from './service/viewers/keys.ts'
import { type OpenedViewers, openViewers } from './service/viewers/open-viewers.ts'
import { type OpenedWatching, openWatching } from './service/watching/open-watching.ts'
import type { WatchedServer } from './service/watching/watched-server.ts'
import type { OrganizationSummary, ProjectSummary, Waymark } from './waymark.ts'

export type { ClusterFigures } from './engine/storage/cluster-watch.ts'
export type { EngineChoice } from './engine/storage/open-stores.ts'
export type { AttachedSource, AttachOptions } from './service/attached/options.ts'
export type { CurrencyRatesFile } from './service/currencies/read-rates.ts'
export type { ExportOptions } from './service/exports/open-exports.ts'
export type { PluginOptions } from './service/plugins/open-plugins.ts'
export type { InsightOptions } from './service/saved/open-saved.ts'
export type { ProviderOptions } from './service/single-sign-on/providers.ts'

export interface OpenOptions {
  /** A directory, created if it does not exist, or `:memory:`. With `engine.postgres` it is for files of the process only, and may be left out. */
  readonly dataDir?: string
  /**
   * Works through the process that has the directory open, if there is one, and takes over when that one leaves. The other options are used when this process has
   * the directory. Default: false, and a directory that another process has open is refused.
   */
  readonly connect?: boolean
  /** Default: in the data directory, in this process. */
  readonly engine?: EngineChoice
  /**
   * Runs the engine in a process of its own, with stores and queries; the log and the accounts stay in this one. Events are acknowledged whatever a query
   * does, and an engine that ends is restarted. Default: false.
   */
  readonly isolate?: boolean
  /** The clock for times of receipt and relative dates. Default: the system's. */
  readonly clock?: () => Date
  /** Bytes, or text such as `512MB`, for the store and its queries. Default: the smaller of 40 % of the container's memory and 2 GiB. */
  readonly memoryLimit?: number | string
  /**
   * Bytes, or text such as `512MB`, for events that are kept in memory as one list per person, with columns, from which trends and funnels are answered; 0: they are
   * answered by statements only. Projects share it, and what does not fit is answered by statements. Default: a quarter of `memoryLimit`.
   */
  readonly listMemory?: number | string
  /** Threads of the store, and of folds over events in memory. Default: as many as the process may use. */
  readonly threads?: number
  /** `fsync` (default): acknowledged events survive a power cut. `os`: they survive the process, not the machine. */
  readonly durability?: 'fsync' | 'os'
  /** How long, and up to how many bytes on the disk (or text such as `2GB`) for each project, the log keeps applied records. Default: 7 days, any number of bytes. */
  readonly logRetention?: { readonly days?: number; readonly bytes?: number | string }
  /** Events are refused if less than this many bytes would stay free on the disk. Default: 64 MiB. */
  readonly minFreeBytes?: number
  /** If parts of a project can be read neither from its store nor from its log: refuse to open it (`complete`, default), or open it without them (`partial`). */
  readonly recovery?: 'complete' | 'partial'
  /** Whether a copy of a database file is kept beside it before a newer version changes its format, for 14 days. Default: true. */
  readonly formatCopies?: boolean
  /** For the HTTP API: the operator's settings, mail and name servers. */
  readonly surroundings?: Surroundings
  /** Batch exports: whether they run in this process, where local files go, and the keys for secrets. */
  readonly exports?: ExportOptions
  /** Insights: whether this process refreshes the answers that people look at. Default: true. */
  readonly insights?: InsightOptions
  /** Plugins: the folder of local ones, mirrors, what users are offered, a database of addresses, and what plugins may reach. */
  readonly plugins?: PluginOptions
  /**
   * Exchange rates for `convertCurrency` and for revenue in the currency of a project: the path of a file of JSON, its content, or `'sample'` for fixed rates to try
   * it out. Default: none, and amounts in other currencies are refused.
   */
  readonly currencyRates?: string | CurrencyRatesFile
  /**
   * Tables beside the events, read-only, by their names in statements (`billing` of `billing.plans`): a folder of Parquet, CSV and JSON files,
   * `s3://bucket/prefix` or `postgres://user:password@host/database`. Default: none.
   */
  readonly attach?: AttachOptions
  /** How often buckets and databases in `attach` are copied, in minutes. Default: 60. */
  readonly attachEveryMinutes?: number
  /** Single sign-on: identity providers for users of every organization, and whether this process checks from time to time that domains are still proven (default: true). */
  readonly singleSignOn?: SingleSignOnOptions
  /** Alerts, subscriptions, and mails to owners about the server: whether this process checks and sends what is due. Default: true. */
  readonly notifications?: { readonly runs?: boolean }
  /** Whether this process removes what projects keep for a limited time, at each midnight. Queries never see it. Default: true. */
  readonly dataRetention?: { readonly runs?: boolean }
  /** Backups that this process makes by itself. Default: none. */
  readonly backups?: BackupSchedule
  /** Called with errors that Waymark recovers from, and with the reason why a project cannot be opened. Default: a process warning. */
  readonly onError?: (error: unknown) => void
  /** The log of queries that took long: from how many seconds on. Default: 2; 0: none is kept. */
  readonly slowQueries?: { readonly seconds?: number }
  /** Called with what opening a project repaired or had to leave out, and when it starts to rebuild a store. Default: a process warning. */
  readonly onRecovery?: (notice: RecoveryNotice & { readonly project: number }) => void
}

/** Single sign-on. */
export interface SingleSignOnOptions {
  /** By their names: `google`, `github`, `gitlab`, or any other word for an issuer of OpenID Connect. */
  readonly providers?: Readonly<Record<string, ProviderOptions>>
  /** Whether issuers that organizations name may be in private networks. Default: unless the server is hosted. */
  readonly allowsPrivateAddresses?: boolean
  readonly runs?: boolean
}

const invalid = (attr: string, message: string) => new WaymarkError('validation-failed', { message: `${attr} ${message}`, attr })
const mustBe = (holds: boolean, attr: string, message: string) => {
  if (!holds) throw invalid(attr, message)
}
const isPositive = (value: unknown) => value === undefined || (typeof value === 'number' && value >= 0)

/** All options: a missing one does not compile. */
const knownOptions: { readonly [Name in keyof Required<OpenOptions>]: true } = {
  dataDir: true,
  connect: true,
  engine: true,
  isolate: true,
  clock: true,
  memoryLimit: true,
  listMemory: true,
  threads: true,
  durability: true,
  logRetention: true,
  minFreeBytes: true,
  recovery: true,
  formatCopies: true,
  surroundings: true,
  exports: true,
  insights: true,
  plugins: true,
  currencyRates: true,
  attach: true,
  attachEveryMinutes: true,
  singleSignOn: true,
  notifications: true,
  dataRetention: true,
  backups: true,
  slowQueries: true,
  onError: true,
  onRecovery: true,
}
const optionNames = Object.keys(knownOptions)

/** @internal Refuses wrong options. */
export const checkOpenOptions = (options: OpenOptions) => {
  checkOptionNames(options ?? {}, optionNames, 'open')
  checkOptionNames(options?.logRetention ?? {}, ['days', 'bytes'], 'logRetention')
  checkOptionNames(options?.exports ?? {}, ['runs', 'folder', 'secretKeys', 'allowsPrivateAddresses'], 'exports')
  checkOptionNames(options?.insights ?? {}, ['refreshes'], 'insights')
  checkOptionNames(options?.plugins ?? {}, pluginOptionNames, 'plugins')
  checkOptionNames(options?.singleSignOn ?? {}, ['providers', 'allowsPrivateAddresses', 'runs'], 'singleSignOn')
  checkOptionNames(options?.notifications ?? {}, ['runs'], 'notifications')
  checkOptionNames(options?.dataRetention ?? {}, ['runs'], 'dataRetention')
  checkOptionNames(options?.slowQueries ?? {}, ['seconds'], 'slowQueries')
  checkOptionNames(options?.plugins?.hosts ?? {}, ['github', 'githubApi', 'gitlab', 'npm'], 'plugins.hosts')
  checkBackups(options ?? {})
  const needsDirectory = options?.engine?.postgres === undefined || options.dataDir !== undefined
  const isDirectory = typeof options?.dataDir === 'string' && options.dataDir !== ''
  mustBe(isDirectory || !needsDirectory, 'dataDir', 'must be the path of a directory, or ":memory:"')
  mustBe([undefined, true, false].includes(options.connect), 'connect', 'must be true or false')
  checkEngine(options.engine)
  checkCluster(options)
  checkIsolate(options)
  checkAttach(options)
  mustBe(options.clock === undefined || typeof options.clock === 'function', 'clock', 'must be a function that returns a Date')
  mustBe([undefined, 'fsync', 'os'].includes(options.durability), 'durability', 'must be "fsync" or "os"')
  mustBe([undefined, 'complete', 'partial'].includes(options.recovery), 'recovery', 'must be "complete" or "partial"')
  mustBe([undefined, true, false].includes(options.formatCopies), 'formatCopies', 'must be true or false')
  mustBe(options.onError === undefined || typeof options.onError === 'function', 'onError', 'must be a function')
  mustBe(options.onRecovery === undefined || typeof options.onRecovery === 'function', 'onRecovery', 'must be a function')
  mustBe(isPositive(options.minFreeBytes), 'minFreeBytes', 'must be a number of bytes')
  mustBe(isPositive(options.slowQueries?.seconds), 'slowQueries.seconds', 'must be a number of seconds, or 0 for never')
  mustBe(isPositive(options.logRetention?.days), 'logRetention', 'must contain numbers of days and bytes')
  logBytesOf(options.logRetention?.bytes)
}

const checkBackups = ({ backups, dataDir, engine }: OpenOptions) => {
  if (backups === undefined) return
  checkOptionNames(backups, ['to', 'everyMinutes', 'keepDays', 'verifyEveryHours', 'key'], 'backups')
  const { to, everyMinutes, keepDays, verifyEveryHours } = backups
  mustBe(typeof to === 'string' && to !== '' && !to.endsWith('.tar'), 'backups.to', 'must be a folder, or s3://bucket/prefix')
  mustBe(dataDir !== ':memory:' && engine === undefined, 'backups', 'need a data directory with the events in it')
  const isInterval = (value: unknown, least: number) => value === undefined || (typeof value === 'number' && value >= least && value < 1e6)
  mustBe(isInterval(everyMinutes, 1), 'backups.everyMinutes', 'must be a number from 1')
  mustBe(isInterval(keepDays, 0.01), 'backups.keepDays', 'must be a number of days')
  mustBe(isInterval(verifyEveryHours, 0), 'backups.verifyEveryHours', 'must be a number of hours, or 0 for never')
}

const checkIsolate = ({ isolate, dataDir, engine }: OpenOptions) => {
  mustBe(isolate === undefined || typeof isolate === 'boolean', 'isolate', 'must be true or false')
  if (!isolate) return
  mustBe(dataDir !== ':memory:', 'isolate', 'needs a data directory: two processes cannot share an in-memory store')
  mustBe(
    !(engine && 'client' in engine.clickhouse),
    'engine.clickhouse.client',
    'must be a URL here: a client cannot be passed to another process',
  )
}

const checkAttach = ({ attach, attachEveryMinutes, engine }: OpenOptions) => {
  const isInterval = attachEveryMinutes === undefined || (typeof attachEveryMinutes === 'number' && attachEveryMinutes >= 1)
  mustBe(isInterval, 'attachEveryMinutes', 'must be a number from 1')
  if (attach === undefined) return
  mustBe(typeof attach === 'object' && attach !== null, 'attach', 'must be an object of folders and addresses by their names')
  attachmentsOf(attach)
  mustBe(engine === undefined, 'attach', 'needs the events in the data directory: ClickHouse does not read tables beside them')
}

const checkEngine = (engine: EngineChoice | undefined) => {
  if (engine === undefined) return
  checkOptionNames(engine, ['clickhouse', 'postgres'], 'engine')
  const { clickhouse } = engine
  mustBe(typeof clickhouse === 'object' && clickhouse !== null, 'engine.clickhouse', 'must be the URL of a server, or a client')
  checkOptionNames(clickhouse, ['settings', 'client', 'url', 'database', 'username', 'password', 'cluster', 'sharded'], 'engine.clickhouse')
  if ('client' in clickhouse) return
  mustBe(
    URL.canParse(clickhouse.url) && /^https?:/.test(clickhouse.url),
    'engine.clickhouse.url',
    'must be the HTTP address of the server, "http://host:8123"',
  )
  const { cluster, sharded } = clickhouse
  mustBe(
    cluster === undefined || (typeof cluster === 'string' && cluster !== ''),
    'engine.clickhouse.cluster',
    'must be the name of a cluster',
  )
  mustBe(sharded === undefined || typeof sharded === 'boolean', 'engine.clickhouse.sharded', 'must be true or false')
  mustBe(!sharded || cluster !== undefined, 'engine.clickhouse.sharded', 'needs the name of the cluster whose shards it means: `cluster`')
}

/** What one of several servers cannot do is refused, not ignored. */
const checkCluster = ({ engine, dataDir, connect, isolate, recovery, logRetention }: OpenOptions) => {
  const postgres = engine?.postgres
  if (postgres === undefined) return
  const url = typeof postgres === 'string' ? postgres : postgres?.url
  if (typeof postgres === 'object') checkOptionNames(postgres, ['url', 'schema'], 'engine.postgres')
  mustBe(
    /^postgres(ql)?:\/\//.test(String(url)),
    'engine.postgres',
    'must be the address of a database, "postgres://user:password@host:5432/database"',
  )
  mustBe(dataDir !== ':memory:', 'dataDir', 'must be a directory, or left out, with engine.postgres')
  mustBe(connect !== true, 'connect', 'is for one data directory; with engine.postgres any number of processes are servers of their own')
  mustBe(isolate !== true, 'isolate', 'is not available with engine.postgres: queries run in ClickHouse')
  mustBe(recovery !== 'partial', 'recovery', 'must be "complete" with engine.postgres')
  mustBe(logRetention?.bytes === undefined, 'logRetention.bytes', 'is not available with engine.postgres: the log is kept by days only')
}

/** `options` with a directory. */
type Located = OpenOptions & { readonly dataDir: string }

const together =
  (...ends: readonly ((() => void) | undefined)[]) =>
  () => {
    for (const end of ends) end?.()
  }

const clusterOf = async (options: OpenOptions, isMove: boolean): Promise<Cluster | null> => {
  const { dataDir, engine, clock = () => new Date(), onError: report = warn, logRetention } = options
  if (engine?.postgres === undefined) return null
  const logKeptMs = (logRetention?.days ?? logDefaults.retention.maxAge / 86_400_000) * 86_400_000
  return openCluster({ dataDir, engine, clock, logKeptMs, isMove, report })
}

const storageOptions = (options: OpenOptions, lastOwner: LastOwner): StorageOptions => ({
  log: {
    durability: options.durability ?? logDefaults.durability,
    minFreeBytes: options.minFreeBytes ?? logDefaults.minFreeBytes,
    retention: {
      maxAge: options.logRetention?.days === undefined ? logDefaults.retention.maxAge : options.logRetention.days * 86_400_000,
      maxBytes: logBytesOf(options.logRetention?.bytes),
    },
  },
  recovery: options.recovery ?? 'complete',
  keepsFormatCopies: options.formatCopies,
  isThorough: lastOwner !== 'closed',
})

/** Without events if an engine of its own has them. */
async function openInstanceFor({ isolate, memoryLimit, listMemory, threads, attach }: OpenOptions, dataDir: string): Promise<Instance> {
  const forAccounts = dataDir === ':memory:' ? 0 : await accountsMemory(dataDir)
  return openInstance({
    dataDir,
    ...(isolate
      ? { ...accountsOnly, memoryLimit: Math.max(forAccounts, leastForAccounts) }
      : {
          memoryLimit: forAccounts > fullerThanUsual ? Math.max(memoryLimitOf(memoryLimit), forAccounts) : memoryLimit,
          listMemory,
          threads,
          besideDirs: attachedFolders(attach),
        }),
  })
}

/** The execution of queries, and the log of those that took long. */
function openAsking({ slowQueries: { seconds } = {} }: OpenOptions, accounts: Accounts, ...rest: Rest<typeof createAsking>) {
  const asking = createAsking(accounts, ...rest)
  const slowQueries = createSlowQueries(accounts.context, seconds === undefined ? defaultSlowMs : seconds === 0 ? null : seconds * 1000)
  asking.observed.whenEnded((ended) => slowQueries.ended(ended))
  return { asking, slowQueries }
}
type Rest<F> = F extends (first: Accounts, ...rest: infer R) => unknown ? R : never

/** Takes the events of plugins as those of clients, within the quota of the project. */
const capturedBy =
  (accounts: Accounts, projects: OpenProjects): Parameters<typeof openPluginHost>[0]['ingest'] =>
  async (id, events) => {
    const record = await accounts.projects.byId(id)
    if (!record) return
    const refused = await accounts.eventQuotas.refusal(record, events.length)
    if (refused) throw new WaymarkError('limit-reached', { message: refused.detail })
    await (await projects.find(id)).take({ batch: events })
    await accounts.eventQuotas.count(record, events.length)
  }

/** What runs the code of plugins. */
const openHostOf = (
  options: PluginOptions,
  accounts: Accounts,
  {
    projects,
    ...given
  }: Pick<Parameters<typeof openPluginHost>[0], 'box' | 'folder' | 'shared' | 'report'> & { readonly projects: OpenProjects },
): Promise<PluginHost> =>
  openPluginHost({
    ...given,
    context: accounts.context,
    network: allowedAddresses(() => options.allowsPrivateRequests ?? false),
    geoip: options.geoip ?? null,
    ticks: options.runs ?? true,
    ingest: capturedBy(accounts, projects),
  })

/** What people keep of their questions, and what is sent of it. */
function openSavedThings(
  options: OpenOptions,
  accounts: Accounts,
  projects: OpenProjects,
  box: SecretBox,
  onError: (error: unknown) => void,
) {
  const home = { project: ({ id }: { readonly id: number }) => projects.find(id) }
  const saved = openSaved({
    context: accounts.context,
    ...home,
    options: options.insights ?? {},
    report: onError,
  })
  const sharing = openSharing(accounts.context, saved)
  const viewers = openViewers(accounts.context, saved, home)
  const flags = openFlags({
    context: accounts.context,
    ...home,
    groupTypes: async ({ id, ingested_event }) => (ingested_event ? (await projects.find(id)).groupTypes() : []),
    cohortFilters: async (project, id) => (await (await projects.find(project.id)).cohorts.retrieve(id).catch(() => null))?.filters ?? null,
  })
  const webhookNetwork = allowedAddresses(() => options.plugins?.allowsPrivateRequests ?? false)
  const notifications = openNotifications(
    {
      context: accounts.context,
      box,
      saved,
      mayRead: async (project, membership) => (await accounts.projects.levelIn(project, membership)) !== null,
      network: webhookNetwork,
      fetch: createOutbound(webhookNetwork),
      report: onError,
    },
    options.notifications?.runs ?? true,
  )
  const imports = new Imports({
    context: accounts.context,
    remove: async (project, id) => (await projects.find(project)).removeImport(id),
    report: onError,
  })
  return { saved, sharing, viewers, flags, imports, notifications }
}

interface Watched {
  readonly plugins: OpenedPlugins
  readonly notifications: OpenedNotifications
  readonly backups: WatchedServer['backups']
  readonly onError: (error: unknown) => void
}

/** Where exports get their rows, and where they put them. */
interface Exported {
  readonly instance: Instance
  readonly box: SecretBox
  readonly projects: OpenProjects
  readonly onError: (error: unknown) => void
}

function openExportsOf(options: Located, accounts: Accounts, { instance, box, projects, onError }: Exported): OpenedExports {
  const { context } = accounts
  const exportOptions = options.exports ?? {}
  return openExports({
    context,
    dataDir: options.dataDir === ':memory:' || context.isShared ? null : resolve(options.dataDir),
    stagingFolder: instance.stagingFolder,
    box,
    options: exportOptions,
    network: allowedAddresses(() => exportOptions.allowsPrivateAddresses ?? !context.settings().isHosted),
    rows: async (id) => ((await accounts.projects.byId(id)) ? (await projects.find(id)).exportRows : null),
    report: onError,
  })
}

/** What the operator gives to questions beside the events. */
async function openBeside(
  { attach, attachEveryMinutes = 60, currencyRates, dataDir }: Located,
  clock: () => Date,
  organizations: () => Promise<number>,
  report: (error: unknown) => void,
): Promise<{ readonly currencyRates: CurrencyRates | undefined; readonly attached: AttachedTables | undefined }> {
  const rates = currencyRates === undefined ? undefined : await readCurrencyRates(currencyRates)
  if (attach === undefined) return { currencyRates: rates, attached: undefined }
  const places = { attachments: attachmentsOf(attach), dataDir: dataDir === ':memory:' ? null : resolve(dataDir) }
  const every = { everyMs: attachEveryMinutes * 60_000, clock }
  return { currencyRates: rates, attached: await AttachedTables.open({ ...places, ...every, organizations, report }) }
}

/** What owners get mails about. */
function openWatchingOf(options: Located, accounts: Accounts, { plugins, notifications, backups, onError }: Watched): OpenedWatching {
  const { dataDir, minFreeBytes = logDefaults.minFreeBytes } = options
  const server: WatchedServer = {
    backups,
    disk: async () =>
      dataDir === ':memory:' || accounts.context.isShared ? null : { freeBytes: await disk.freeBytes(dataDir), minFreeBytes },
    quotas: () => accounts.eventQuotas.all(),
    // Of several servers, the one that looks does not know what the others cannot use.
    pluginProblem: (config) => (accounts.context.isShared ? null : plugins.configs.problem(config)),
  }
  const wakeDeliveries = () => notifications.scheduler.wake()
  return openWatching({ context: accounts.context, server, wakeDeliveries, report: onError }, options.notifications?.runs ?? true)
}

function beginRunners(options: OpenOptions, accounts: Accounts, projects: OpenProjects, report: (error: unknown) => void) {
  const { context } = accounts
  const retention = createDataRetention({
    context,
    accounts,
    removeOld: async (id) => (await projects.find(id)).removeOld(),
    report,
  })
  if (options.dataRetention?.runs ?? true) retention.begin()
  const proofs = createDomainProofs({ context, report })
  if (options.singleSignOn?.runs ?? true) proofs.begin()
  return { retention, proofs }
}

const answerOfIssuer = { response: 1024 * 1024, request: 256 * 1024, redirects: 0 }

/** Requests to issuers follow no redirects: they would take secrets elsewhere. The operator may name one in any network. */
const openSingleSignOnOf = ({ singleSignOn = {} }: OpenOptions, { context }: Accounts): SingleSignOn => {
  const network = allowedAddresses(() => singleSignOn.allowsPrivateAddresses ?? !context.settings().isHosted)
  return openSingleSignOn({
    context,
    fetch: createOutbound(network, answerOfIssuer),
    fetchForOperator: createOutbound(
      allowedAddresses(() => true),
      answerOfIssuer,
    ),
    providers: { ...singleSignOn.providers },
  })
}

/**
 * Opens a data directory. One process owns it until `close()`.
 *
 * @example const waymark = await open({ dataDir: './data' })
 */
export async function open(given: OpenOptions): Promise<LocalWaymark> {
  return openHere(given, false)
}

/** @internal The same for the databases that a directory is being moved into. */
export async function openForMove(given: OpenOptions): Promise<LocalWaymark> {
  return openHere(given, true)
}

async function openHere(given: OpenOptions, isMove: boolean): Promise<LocalWaymark> {
  checkOpenOptions(given)
  await loadTracing()
  const cluster = await clusterOf(given, isMove)
  const options: Located = cluster ? { ...given, dataDir: cluster.scratch } : (given as Located)
  const isInMemory = options.dataDir === ':memory:'
  const dataDir = isInMemory ? options.dataDir : resolve(options.dataDir)
  const lock = isInMemory || cluster ? null : await takeDirectory(dataDir)
  let instance: Instance | null = null
  let backends: Backends | null = null
  let host: PluginHost | null = null
  let opening: OpenProjects | null = null
  let endSweeping = () => {}
  try {
    const onError = options.onError ?? warn
    if (lock) await prepare(dataDir, lock, options, onError)
    const clock = options.clock ?? (() => new Date())
    const storage = storageOptions(options, lock?.lastOwner ?? 'closed')
    const { engine } = options
    if (options.isolate) backends = openRemote(options, dataDir, storage, onError)
    instance = await openInstanceFor(options, dataDir)
    const adopt = (ids: readonly number[]) => applyAll(projects, ids, onError)
    const opened = backends ?? (cluster ? await cluster.backends(instance, adopt) : await openLocal(instance, engine, storage, onError))
    backends = opened
    let accounts: Accounts
    let asking: Asking
    let plugins: OpenedPlugins
    let watching: OpenedWatching | undefined
    const salts = cluster?.salts ?? new DailySalts(clock, lock && openSaltFile(dataDir, { isCopy: lock.lastOwner === 'copied' }))
    endSweeping = together(salts.sweepRegularly(onError), cluster?.states.sweepRegularly(onError))
    const beside = await openBeside(options, clock, () => accounts.context.store.read.organizations.count({}), onError)
    const projects = new OpenProjects({
      backends: opened,
      clock,
      ...beside,
      record: async (id) => accounts.projects.byId(id),
      noteFirstEvents: (id) => accounts.projects.noteFirstEvents(id),
      countImported: (id, events) => accounts.historicalImports.count(id, events),
      countArrived: (...arrived) => watching?.count(...arrived),
      viewerToken: async (project, given) => (await createViewerKeys(accounts.context).sign(project, given)).token,
      transformations: (id) => transformationsOf(id, plugins.host.runtime, () => accounts.context.settings().siteUrl),
      asking: () => asking,
      salts,
      onError,
      onRecovery: (project, notice) => (options.onRecovery ?? warnOfRecovery)({ ...notice, project }),
    })
    opening = projects
    if (lock) await mustHaveControl(dataDir)
    const about = { clock, box: secretBox(options, isInMemory ? null : dataDir, cluster !== null) }
    const ofDirectory = { instance, cluster, isCopied: lock?.lastOwner === 'copied' }
    accounts = await openControl(ofDirectory, about, projects, (ids) => plugins.host.changed(ids), options)
    if (lock) {
      await closeToOthers(dataDir, onError) // also what was made by now
      await sweepRemoved(dataDir, backends, accounts)
      await rm(instance.stagingFolder, { recursive: true, force: true }) // of a process that was killed
    }
    const kept = cluster?.answers ?? (isInMemory ? answersInMemory() : answerFiles(dataDir))
    const askingAndLog = openAsking(options, accounts, kept, () => opened.load(), cluster)
    asking = askingAndLog.asking
    await opened.ready()
    const { settings, box } = accounts.context
    const resealing = openResealing({ context: accounts.context, box, report: onError })
    const exports = openExportsOf(options, accounts, { instance, box, projects, onError })
    const pluginOptions = options.plugins ?? {}
    const folder = isInMemory ? null : join(dataDir, 'plugins')
    host = await openHostOf(pluginOptions, accounts, { projects, box, folder, shared: cluster?.plugins ?? null, report: onError })
    const deliveries = await openDeliveries({
      context: accounts.context,
      project: async (id) => ((await accounts.projects.byId(id)) ? projects.find(id) : null),
      deliver: host.runtime.deliver,
      log: host.log,
      report: onError,
      runs: pluginOptions.runs ?? true,
    })
    plugins = openPlugins({
      context: accounts.context,
      changes: cluster?.plugins.changes ?? null,
      box,
      network: allowedAddresses(() => pluginOptions.allowsPrivateAddresses ?? !settings().isHosted),
      options: pluginOptions,
      host,
      deliveries,
    })
    const singleSignOn = openSingleSignOnOf(options, accounts)
    const minFreeBytes = options.minFreeBytes ?? logDefaults.minFreeBytes
    const savedThings = openSavedThings(options, accounts, projects, box, onError)
    let waymark: LocalWaymark | null = null
    const backups = async () => (await waymark?.scheduledBackups?.status()) ?? null
    watching = openWatchingOf(options, accounts, { plugins, backups, notifications: savedThings.notifications, onError })
    waymark = new LocalWaymark({
      ...savedThings,
      watching,
      ...askingAndLog,
      dataDir,
      instance,
      backends,
      lock,
      cluster,
      accounts,
      projects,
      attached: beside.attached,
      exports,
      plugins,
      resealing,
      ...beginRunners(options, accounts, projects, onError),
      singleSignOn,
      clock,
      minFreeBytes,
      memoryLimit: memoryLimitOf(options.memoryLimit),
      isOnServer: options.engine !== undefined,
      endSweeping,
    })
    return await waymark.begun(options.backups, onError)
  } catch (error) {
    endSweeping()
    await host?.close().catch(() => undefined)
    await opening?.close().catch(() => undefined)
    await backends?.close().catch(() => undefined)
    await instance?.close().catch(() => undefined) // why it could not be opened says more
    await cluster?.close().catch(() => undefined)
    await lock?.release(lock.lastOwner) // damage that was not repaired is still there
    throw error
  }
}

async function prepare(
  dataDir: string,
  { lastOwner }: Lock,
  { durability }: OpenOptions,
  onError: (error: unknown) => void,
): Promise<void> {
  await mustHaveKnownFiles(dataDir)
  await closeToOthers(dataDir, onError)
  await forgetPositions(dataDir, lastOwner, durability ?? logDefaults.durability)
}

/** The plugins of a project, as ingestion uses them. */
const transformationsOf = (id: number, runtime: PluginRuntime, siteUrl: () => string): Transformations => ({
  isOn: () => runtime.hasTransformations(id),
  siteUrl,
  run: (events) => runtime.transformTexts(id, events),
  untouched: (event) => runtime.untouched(id, event),
  report: (message) => runtime.note(id, message),
})

/** For a process without stores. */
const accountsOnly = { threads: 1 } as const
const leastForAccounts = 128e6
/** Account data that was written before its rows had sizes: opening it may need more than the operator gave. */
const fullerThanUsual = 512e6

const warn = (error: unknown) => process.emitWarning(error instanceof Error ? error : String(error), 'WaymarkWarning')
const warnOfRecovery = (notice: RecoveryNotice & { readonly project: number }) => warn(`project ${notice.project}: ${recoveryText(notice)}`)

/** Accounts, keys and events are readable by the owner of the directory only. */
async function closeToOthers(dataDir: string, onError: (error: unknown) => void): Promise<void> {
  const open = await makeDirectoryPrivate(dataDir)
  if (open.length > 0) onError(new Error(`Other users can read ${open.join(', ')}, and this user has no permission to change that.`))
}

const takeDirectory = async (dataDir: string): Promise<Lock> => {
  try {
    await makeFolders(join(dataDir, 'projects'))
    return await lockDirectory(dataDir)
  } catch (error) {
    if (error instanceof WaymarkError) throw error
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? (error instanceof Error ? error.message : String(error))
    throw new WaymarkError('unusable-directory', { dataDir, reason }, { cause: error })
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied.',
  EPERM: 'permission denied.',
  EROFS: 'the file system is read-only.',
  ENOSPC: 'the disk is full.',
  EEXIST: 'a file with this name exists.',
  ENOTDIR: 'part of the path is a file, not a directory.',
}

/**
 * Removes folders of projects whose rows were deleted by a process that then crashed. Ids are never reused, so an assigned id without a row belongs to a
 * removed project. An id that was not assigned yet belongs to a directory with an older control file, and stays.
 */
const sweepRemoved = async (dataDir: string, backends: Backends, { projects, context }: Accounts): Promise<void> => {
  const given = (await context.store.read.counters.first({ name: 'project' }))?.value ?? 0
  for (const name of await readdir(join(dataDir, 'projects'))) {
    const id = /^[1-9]\d{0,8}$/.test(name) ? Number(name) : null
    if (id !== null && id <= given && !(await projects.byId(id))) await backends.drop(id)
  }
}

/** Projects without accounts would go to the creator of the next project. */
async function mustHaveControl(dataDir: string): Promise<void> {
  if (await exists(join(dataDir, 'control.duckdb'))) return
  if (!(await readdir(join(dataDir, 'projects'))).some((name) => /^[1-9]\d*$/.test(name))) return
  const reason = 'control.duckdb is missing, but projects exist. Restore it from a backup, or move the folders in projects/ away.'
  throw new WaymarkError('unusable-directory', { dataDir, reason })
}

const openRemote = (
  { memoryLimit, listMemory, threads, attach, engine }: OpenOptions,
  dataDir: string,
  storage: StorageOptions,
  report: (error: unknown) => void,
) => new RemoteBackends({ dataDir, memoryLimit, listMemory, threads, besideDirs: attachedFolders(attach), engine, storage }, report)

const openLocal = async (instance: Instance, engine: EngineChoice | undefined, storage: StorageOptions, report: (error: unknown) => void) =>
  localBackends(await openStores(instance, engine, storage), createAdmission(instance.concurrency), instance, report)

const secretBox = ({ exports }: OpenOptions, dataDir: string | null, isShared: boolean): SecretBox =>
  exports?.secretKeys
    ? createSecretBox(exports.secretKeys)
    : isShared
      ? keyOfCluster()
      : lazySecretBox(() => (dataDir === null ? [newSecretKey()] : readSecretKeys(dataDir, newSecretKey)))

/** Opens projects with records that no server applies: this one does from now on. */
const applyAll = (projects: OpenProjects, ids: readonly number[], onError: (error: unknown) => void): void => {
  for (const id of ids)
    void projects
      .find(id)
      .then((project) => project.warnings())
      .catch(onError)
}

const openControl = async (
  { instance, cluster, isCopied }: { readonly instance: Instance; readonly cluster: Cluster | null; readonly isCopied: boolean },
  given: Pick<AccountContext, 'clock' | 'box'>,
  projects: OpenProjects,
  pluginsChanged: (projects: readonly number[]) => Promise<void>,
  { surroundings, formatCopies }: Pick<OpenOptions, 'surroundings' | 'formatCopies'>,
): Promise<Accounts> => {
  try {
    const about = {
      ...surroundings,
      ...given,
      projectStores: {
        create: async () => undefined, // made when first used
        async remove(id: number) {
          await projects.remove(id)
          await pluginsChanged([id])
        },
        pluginsRemoved: pluginsChanged,
      },
    }
    return cluster ? await cluster.accounts(about) : await openAccounts(instance, about, { isCopied, keepsCopy: formatCopies })
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error
    const reason = `${error.message}. Accounts and keys are not in a log: restore control.duckdb and its write-ahead log from a backup.`
    throw new WaymarkError('unusable-directory', { dataDir: instance.dataDir, reason }, { cause: error })
  }
}

const verifyingMemory = '512MB'

async function openCopiedAccounts(folder: string): Promise<CopiedAccounts> {
  const instance = await openInstance({
    dataDir: folder,
    ...accountsOnly,
    memoryLimit: Math.max(await accountsMemory(folder), leastForAccounts),
  })
  try {
    const { context } = await openAccounts(instance)
    return { read: context.store.read, close: () => instance.close() }
  } catch (error) {
    await instance.close()
    throw error
  }
}

/** Options of a directory that is opened to be read: nothing is sent, run or refreshed. */
export const withoutWork = {
  exports: { runs: false },
  plugins: { runs: false },
  notifications: { runs: false },
  singleSignOn: { runs: false },
  dataRetention: { runs: false },
  insights: { refreshes: false },
} as const satisfies Partial<OpenOptions>

/** For a comparison. */
async function openRestored(dataDir: string): Promise<RestoredDirectory> {
  const waymark = await open({
    dataDir,
    isolate: true, // so that its memory and work are not those of this process
    memoryLimit: verifyingMemory,
    ...withoutWork,
    onRecovery: () => undefined,
  })
  return {
    projects: async () => (await waymark.projects()).map(({ id }) => id),
    async digest(id) {
      const project = await waymark.project(id)
      await project.warnings() // everything is applied
      return project.digest()
    },
    close: () => waymark.close(),
  }
}

export interface Condition {
  readonly isOpen: boolean
  readonly isWritable: boolean
  readonly freeBytes: number | null
  readonly minFreeBytes: number
  readonly projects: number
  /** Durable records that are not applied yet. */
  readonly lag: number
  /** Projects that were requested and failed to open. */
  readonly failures: readonly ProjectFailure[]
  /** Records that ended the engine whenever they were applied. */
  readonly aside: readonly Aside[]
  /** How often the engine has ended by itself within the last minute. */
  readonly recentEnds: number
  /** Whether PostgreSQL and ClickHouse answer; null: no other servers share them. */
  readonly reach: ClusterReach | null
}

interface Parts {
  readonly minFreeBytes: number
  /** Of the stores, in bytes. */
  readonly memoryLimit: number
  readonly dataDir: string
  readonly instance: Instance
  readonly backends: Backends
  readonly lock: Lock | null
  readonly cluster: Cluster | null
  readonly accounts: Accounts
  readonly asking: Asking
  readonly projects: OpenProjects
  readonly attached: AttachedTables | undefined
  readonly exports: OpenedExports
  readonly plugins: OpenedPlugins
  readonly saved: Saved
  readonly sharing: OpenedSharing
  readonly viewers: OpenedViewers
  readonly flags: OpenedFlags
  readonly imports: Imports
  readonly notifications: OpenedNotifications
  readonly watching: OpenedWatching
  readonly slowQueries: SlowQueries
  readonly singleSignOn: SingleSignOn
  readonly proofs: Runner
  readonly resealing: Resealing
  readonly retention: Runner
  readonly clock: () => Date
  /** Events are not in the directory. */
  readonly isOnServer: boolean
  /** No salts are erased any more. */
  endSweeping(): void
}

/** An open data directory. */
export class LocalWaymark implements Waymark {
  readonly dataDir: string
  readonly clock: () => Date
  /** @internal Of the stores, in bytes. */
  readonly memoryLimit: number
  /** @internal Organizations, users and keys, for the HTTP API and the command line. */
  readonly accounts: Accounts
  /** @internal The execution of queries, for the HTTP API. */
  readonly asking: Asking
  /** @internal Batch exports, for the HTTP API. */
  readonly exports: OpenedExports
  /** @internal Plugins and their configs, for the HTTP API. */
  readonly plugins: OpenedPlugins
  /** @internal Insights and dashboards, for the HTTP API. */
  readonly saved: Saved
  /** @internal Public links, for the HTTP API. */
  readonly sharing: OpenedSharing
  readonly viewers: OpenedViewers
  readonly flags: OpenedFlags
  /** @internal What was imported, for the HTTP API and the command line. */
  readonly imports: Imports
  /** @internal Alerts and subscriptions, for the HTTP API. */
  readonly notifications: OpenedNotifications
  /** @internal What owners are notified of, for the HTTP API. */
  readonly watching: OpenedWatching
  /** @internal The log of slow queries, for the HTTP API. */
  readonly slowQueries: SlowQueries
  /** @internal Identity providers, for the HTTP API. */
  readonly singleSignOn: SingleSignOn
  private readonly parts: Parts
  private closing: Promise<void> | null = null

  /** @internal Use `open`. */
  constructor(parts: Parts) {
    this.parts = parts
    this.dataDir = parts.dataDir
    this.clock = parts.clock
    this.memoryLimit = parts.memoryLimit
    this.accounts = parts.accounts
    this.asking = parts.asking
    this.exports = parts.exports
    this.plugins = parts.plugins
    this.saved = parts.saved
    this.sharing = parts.sharing
    this.viewers = parts.viewers
    this.flags = parts.flags
    this.imports = parts.imports
    this.notifications = parts.notifications
    this.watching = parts.watching
    this.slowQueries = parts.slowQueries
    this.singleSignOn = parts.singleSignOn
  }

  async createProject(settings: NewProjectSettings = {}): Promise<LocalProject> {
    this.mustBeOpen()
    checkOptionNames(settings, projectFieldNames, 'createProject')
    const { id } = await this.accounts.createProject({ ...settings })
    return this.parts.projects.get(id)
  }

  async findOrCreateProject(settings: NewProjectSettings & { readonly name: string }): Promise<LocalProject> {
    checkOptionNames(settings, projectFieldNames, 'findOrCreateProject')
    return this.inTurn(async () => {
      const known = await this.recordNamed(settings.name)
      return known ? this.project(known.id) : this.createProject(settings)
    })
  }

  async project(idOrName: number | string): Promise<LocalProject> {
    this.mustBeOpen()
    if (typeof idOrName === 'number') return this.parts.projects.get(idOrName)
    const known = await this.recordNamed(idOrName)
    if (!known) throw new WaymarkError('not-found', { what: 'project', id: idOrName })
    return this.parts.projects.get(known.id)
  }

  async projects(): Promise<readonly ProjectSummary[]> {
    this.mustBeOpen()
    const records = await this.accounts.context.store.read.projects.find({})
    return records
      .map(({ id, name, timezone, api_token, created_at }) => ({ id, name, timezone, token: api_token, created_at }))
      .sort((a, b) => a.id - b.id)
  }

  async createPersonalKey(options: PersonalKeyOptions): Promise<{ readonly id: string; readonly key: string }> {
    this.mustBeOpen()
    checkOptionNames(options, personalKeyFields, 'createPersonalKey')
    const { user } = await this.accounts.firstStart({ makesKey: false })
    const { key, value } = await this.accounts.personalKeys.create(user, { ...options })
    return { id: key.id, key: value }
  }

  private turn: Promise<unknown> = Promise.resolve()
  /** Looks up a name and creates it atomically. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.turn.then(work, work)
    this.turn = next.catch(() => undefined)
    return next
  }

  private async recordNamed(name: string) {
    const named = await this.accounts.context.store.read.projects.find({ name })
    return [...named].sort((a, b) => a.id - b.id)[0]
  }

  async defaultOrganization(): Promise<OrganizationSummary> {
    this.mustBeOpen()
    const { organization } = await this.inTurn(() => this.accounts.firstStart({ makesKey: false }))
    return { id: organization.id, name: organization.name }
  }

  async createOrganization(settings: { readonly name: string }): Promise<OrganizationSummary> {
    this.mustBeOpen()
    checkOptionNames(settings, ['name'], 'createOrganization')
    await this.defaultOrganization() // the first one is where `createProject` makes projects
    const { id, name } = await this.accounts.createOrganization(settings)
    return { id, name }
  }

  async createSetupLink(publicUrl: string): Promise<string | null> {
    this.mustBeOpen()
    if (typeof publicUrl !== 'string' || !/^https?:/.test(publicUrl) || !URL.canParse(publicUrl))
      throw invalid('publicUrl', 'must be the address of the interface, such as "https://app.example.com/analytics"')
    await this.defaultOrganization()
    const secret = newSecret()
    return (await this.accounts.firstOwner.allow(secret)) ? `${withoutTrailingSlashes(publicUrl)}/#/setup?secret=${secret}` : null
  }

  async removeHostUser({ issuer, subject }: { readonly issuer: string; readonly subject: string }): Promise<boolean> {
    this.mustBeOpen()
    return this.accounts.hostUsers.end(issuer, subject)
  }

  /** @internal Says on disk where this process takes commands. The answer takes it back. */
  announce(address: Address): Promise<() => Promise<void>> {
    return announce(this.dataDir, address)
  }

  private isRefusing = false
  private readonly leavingSteps: (() => Promise<void>)[] = []
  /** @internal Steps of a closing directory while it still answers. */
  beforeRefusing(step: () => Promise<void>): void {
    this.leavingSteps.push(step)
  }

  /** @internal Set by a server that can give the directory away and go on answering. */
  handOver: (() => void) | null = null

  private readonly closingSteps: (() => Promise<void>)[] = []
  /** @internal */
  beforeClosing(step: () => Promise<void>): void {
    this.closingSteps.push(step)
  }

  /** @internal Bytes of memory that the engine's process has; null: there is none, or the system does not say. */
  engineBytes(): Promise<number | null> {
    return this.parts.backends.engineBytes()
  }

  /** @internal What all servers count together; null: this one is alone. */
  get sharedStates(): States | null {
    return this.parts.cluster?.states ?? null
  }

  /** @internal What several servers share; null: this one is alone. */
  async clusterFigures(): Promise<ClusterFigures | null> {
    return (await this.parts.cluster?.figures()) ?? null
  }

  /** @internal For probes: whether the directory is writable, its free space, and the lag. */
  async condition(): Promise<Condition> {
    const { ready, failures } = this.parts.projects
    const lag = ready.reduce((sum, project) => sum + project.lag, 0)
    const { recentEnds } = this.parts.backends
    const reach = (await this.parts.cluster?.reach()) ?? null
    const known = { isOpen: this.closing === null, projects: ready.length, lag, failures, recentEnds, reach }
    if (this.dataDir === ':memory:') return { ...known, isWritable: true, freeBytes: null, minFreeBytes: 0, aside: [] }
    const [aside, isWritable, freeBytes] = await Promise.all([
      this.parts.cluster ? this.parts.cluster.aside() : allAside(this.dataDir),
      access(this.dataDir, constants.W_OK).then(
        () => true,
        () => false,
      ),
      disk.freeBytes(this.dataDir).catch(() => null),
    ])
    return { ...known, aside, isWritable, freeBytes, minFreeBytes: this.parts.minFreeBytes }
  }

  async backup(to: string, options: BackupOptions = {}): Promise<BackupSummary> {
    this.mustBeOpen()
    checkOptionNames(options, ['key', 'verify', 'keepDays', 'takeOver', 'signal', 'onProgress'], 'backup')
    mustBe(typeof to === 'string' && to !== '', 'to', 'must be a folder, a file that ends with .tar, or s3://bucket/prefix')
    if (this.dataDir === ':memory:') throw invalid('dataDir', 'is :memory:, which has no files to back up')
    if (this.parts.cluster)
      throw new WaymarkError('command-failed', {
        message: 'Several servers share the data: back up PostgreSQL and ClickHouse by their own tools, as docs/cluster.md says.',
      })
    if (this.parts.isOnServer)
      throw new WaymarkError('command-failed', {
        message: 'Events are in ClickHouse: use its BACKUP statement, and copy the data directory while no process uses it.',
      })
    const signal = options.signal ? AbortSignal.any([options.signal, this.endBackups.signal]) : this.endBackups.signal
    return this.afterBackups(() => takeBackup({ directory: this.copied(), openRestored }, to, { ...options, signal }))
  }

  async compact(options: CompactOptions = {}): Promise<CompactSummary> {
    this.mustBeOpen()
    checkOptionNames(options, ['project', 'force', 'signal', 'onProgress'], 'compact')
    const { project } = options
    mustBe(project === undefined || Number.isInteger(project), 'project', 'must be the id of a project')
    if (this.dataDir === ':memory:') throw invalid('dataDir', 'is :memory:, which has no files to compact')
    if (this.parts.isOnServer)
      throw new WaymarkError('command-failed', {
        message: 'Events are in ClickHouse, which gives space back by itself when it merges parts, or with OPTIMIZE TABLE events FINAL.',
      })
    const chosen = (await this.projects()).filter(({ id }) => project === undefined || id === project)
    if (project !== undefined && chosen.length === 0) throw new WaymarkError('not-found', { what: 'project', id: String(project) })
    const signal = options.signal ? AbortSignal.any([options.signal, this.endBackups.signal]) : this.endBackups.signal
    const compact = async (id: number, wanted: Compacting) => (await this.parts.projects.find(id)).compact(wanted)
    return this.afterBackups(() => compactProjects({ dataDir: this.dataDir, projects: chosen, compact }, options, signal))
  }

  private afterBackups<T>(work: () => Promise<T>): Promise<T> {
    const done = this.backingUp.then(work)
    this.backingUp = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  /** @internal Begins the backups that it makes by itself. */
  async begun(schedule: BackupSchedule | undefined, report: (error: unknown) => void): Promise<this> {
    this.parts.attached?.begin()
    if (this.dataDir === ':memory:') return this
    const inTurn = <T>(work: () => Promise<T>) => this.afterBackups(work)
    const parts = { directory: this.copied(), openRestored, accounts: this.accounts, schedule, inTurn, report }
    const scheduled = await openScheduled(parts)
    if (!scheduled) return this
    this.scheduledBackups = scheduled
    this.beforeClosing(() => scheduled.close())
    return this
  }

  /** @internal Resolves when what is attached was copied once, if it was due: for commands. */
  async attachedCopied(): Promise<void> {
    await this.parts.attached?.copied()
  }

  /** @internal Backups that this process makes by itself; null: none. */
  scheduledBackups: ScheduledBackups | null = null

  async restoreProject(from: string, options: ProjectRestoreOptions): Promise<ProjectRestoreSummary> {
    this.mustBeOpen()
    checkOptionNames(options ?? {}, ['project', 'name', 'key', 'at', 'copy', 'signal', 'onProgress'], 'restoreProject')
    mustBe(Number.isInteger(options?.project), 'project', 'must be the id of a project in the backup')
    if (this.dataDir === ':memory:' || this.parts.isOnServer) throw invalid('dataDir', 'must be a directory with the events in it')
    const { accounts, dataDir } = this
    return restoreAsNew({ accounts, dataDir, openAccounts: openCopiedAccounts, newShortId }, from, options)
  }

  /** @internal For the command line, which asks how far it is. */
  readonly longRuns = new LongRuns()

  /** One at a time. */
  private backingUp: Promise<void> = Promise.resolve()
  private readonly endBackups = new AbortController()

  private copied(): OpenDirectory {
    const { instance, projects } = this.parts
    const { dataDir, clock, accounts } = this
    return {
      dataDir,
      clock,
      settleAccounts: () => instance.settle('control'),
      projects: async () =>
        (await accounts.context.store.read.projects.find({})).map((record) => ({
          id: record.id,
          name: record.name,
        })),
      async settle(id) {
        const project = await projects.find(id)
        if (!project.isOpen && (await isAtRest(dataDir, id))) return false
        await project.settle()
        return true
      },
      logState: async (id) => (await projects.find(id)).logState,
      async digest(id) {
        const project = await projects.find(id)
        await project.warnings() // everything acknowledged is applied
        return project.digest()
      },
    }
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown()
    return this.closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @internal What a slow close is waiting for. */
  get stillOpen(): readonly string[] {
    const { projects, backends } = this.parts
    return [...projects.names, ...backends.stillOpen]
  }

  private mustBeOpen(): void {
    if (this.isRefusing) throw new WaymarkError('closed', {})
  }

  /** Plugins may capture events until acknowledged ones have passed them. */
  private async transformed(): Promise<void> {
    const { projects, plugins } = this.parts
    const passing = projects.ready.filter(({ id, lag }) => lag > 0 && plugins.host.runtime.hasTransformations(id))
    // What cannot be applied is reported by the closing of the project.
    await Promise.allSettled(passing.map((project) => project.warnings()))
  }

  private async shutDown(): Promise<void> {
    const failures: unknown[] = []
    const { asking, parts } = this
    for (const step of this.leavingSteps) await step().catch((error: unknown) => failures.push(error))
    this.isRefusing = true
    parts.endSweeping()
    this.endBackups.abort(new WaymarkError('closed', {}))
    const counts = () => Promise.all([this.accounts.historicalImports.flush(), this.accounts.eventQuotas.flush()])
    for (const step of [
      ...this.closingSteps,
      () => this.backingUp,
      () => parts.saved.close(),
      () => parts.watching.close(),
      () => parts.notifications.close(),
      () => asking.runs.drain(0),
      () => parts.slowQueries.close(),
      async () => parts.attached?.close(),
      () => parts.exports.close(),
      () => parts.resealing.close(),
      () => parts.retention.close(),
      () => parts.imports.close(),
      () => parts.proofs.close(),
      () => parts.plugins.deliveries.close(),
      () => this.transformed(),
      () => parts.plugins.host.stop(),
      () => parts.projects.close(),
      () => parts.plugins.host.close(),
      () => parts.backends.close(),
      counts,
      () => parts.instance.close(),
      async () => parts.cluster?.close(),
    ]) {
      await step().catch((error: unknown) => failures.push(error))
    }
    await parts.lock?.release(failures.length === 0 ? 'closed' : 'killed')
    if (failures.length === 0) return
    const [cause] = failures
    throw new WaymarkError('unclean-close', { reason: cause instanceof Error ? cause.message : String(cause) }, { cause })
  }
}
