import { readFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { serverMemory } from '../../engine/storage/open-stores.ts'
import { recoveryText } from '../../engine/storage/recovery/recovery-report.ts'
import type { OpenOptions } from '../../engine.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { otherLimits } from '../../limits/limits.ts'
import type { FirstStart } from '../../service/accounts/accounts.ts'
import { type AccountSettings, defaultSettings, type Surroundings } from '../../service/accounts/context.ts'
import type { BackupSchedule } from '../../service/backups/directory-backups.ts'
import { newSecret } from '../../service/directory/announcement.ts'
import type { ExportOptions } from '../../service/exports/open-exports.ts'
import { createCnameLookup, createTxtLookup } from '../../service/network/dns.ts'
import { createMailer } from '../../service/network/smtp.ts'
import type { PluginOptions } from '../../service/plugins/open-plugins.ts'
import { lockedText } from '../../service/single-sign-on/locked-domains.ts'
import { type ProviderOptions, readProviders } from '../../service/single-sign-on/providers.ts'
import { type Opened, openAnywhere } from '../connected/open-anywhere.ts'
import { directoryCommands } from '../http/commands/directory-commands.ts'
import { createHandler } from '../http/server/create-handler.ts'
import { type RunningServer, startServer } from '../http/server/node-server.ts'
import { createSites, type SiteOptions } from '../http/site.ts'
import type { PostgresServer } from '../postgres/server.ts'
import { keyFileOption, keyOf } from './backup.ts'
import { type Command, listOf, type Values, wrongUsage } from './command.ts'
import { CommandsOfOwner } from './commands-of-owner.ts'
import { makeDemo } from './demo.ts'
import { currencyRatesOf, currencyRatesOption, dataOption, geoipOption, recoveryOf, recoveryOption } from './directory.ts'
import { bootstrapKeys, shown } from './init.ts'
import { HandOver } from './move/hand-over.ts'
import { attachEveryOption, attachOf, attachOptions } from './options/attach.ts'
import { clickhouseOption, engineOf, postgresOption } from './options/clickhouse-option.ts'
import { millisecondsOf } from './options/durations.ts'
import { openPostgresDoor, postgresDoorOf, postgresDoorOptions } from './postgres-door.ts'
import { countOf, limitOptions, requestLimits } from './request-limits.ts'
import { closeMs, listenForStop } from './stopping.ts'

const portOf = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw wrongUsage(`--port must be a number from 0 to 65535, but got ${text}.`)
  return Number(text)
}

type Line = (level: 'info' | 'warn' | 'error', message: string, fields?: object) => void

/** Lines about requests of one turn of the event loop are written together; all others at once, and after them. */
class LogLines {
  private readonly err: (line: string) => void
  private waiting: string[] = []

  constructor(err: (line: string) => void) {
    this.err = err
  }

  writeSoon(line: string): void {
    if (this.waiting.push(line) === 1) setImmediate(() => this.flush())
  }

  write(line: string): void {
    this.flush()
    this.err(line)
  }

  flush(): void {
    if (this.waiting.length > 0) this.err(this.waiting.splice(0).join('\n'))
  }
}

const surroundingsOf = async (values: Values, site: () => string, log: Line): Promise<Surroundings> => {
  const smtp = values.text('smtp')
  const mailer = smtp === undefined ? null : await createMailer(smtp, values.text('mail-from') ?? 'Waymark <waymark@localhost>')
  const servers = listOf(values.text('dns'))
  const publicUrl = values.text('public-url')
  const given = {
    ...defaultSettings,
    isHosted: values.isOn('hosted'),
    proxyBase: values.text('proxy-base') ?? defaultSettings.proxyBase,
    eventsPerDay: countOf(values, 'events-per-day') || null,
  }
  return {
    settings: (): AccountSettings => ({ ...given, siteUrl: publicUrl ?? site() }),
    mailer: () => mailer,
    lookupTxt: createTxtLookup(servers),
    lookupCname: createCnameLookup(servers),
    report: (message, error) => log('warn', message, { error: error instanceof Error ? error.message : String(error) }),
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
/** For errors that the operator can fix, the message is enough. */
const stackOf = (error: unknown) => (error instanceof WaymarkError || !(error instanceof Error) ? {} : { error: error.stack })

const siteOf = (values: Values): SiteOptions => {
  const site = { publicUrl: values.text('public-url'), trustedProxies: listOf(values.text('trusted-proxies')) }
  try {
    createSites(site)
    return site
  } catch (error) {
    throw error instanceof WaymarkError ? wrongUsage(error.detail) : error
  }
}

const downloadsOf = (values: Values): 'on' | 'off' | null => {
  const text = values.text('downloads')
  if (text === undefined) return null
  if (text !== 'on' && text !== 'off') throw wrongUsage(`--downloads must be on or off, but got ${text}.`)
  return text
}

/** How long running queries may still take when the directory is given away. */
const handOverMs = 5_000

/** In a terminal, lines of requests would push away the link and the key that are shown once. */
const logsRequests = (values: Values): boolean => {
  const text = values.text('log')
  if (text !== undefined && text !== 'all' && text !== 'quiet') throw wrongUsage(`--log must be all or quiet, but got ${text}.`)
  return text === undefined ? !process.stderr.isTTY : text === 'all'
}

/** Keys are separated by commas, the newest first: they never appear among the arguments of a process. */
const exportOptions = (values: Values): ExportOptions => {
  const keys = listOf(values.env.WAYMARK_SECRET_KEY || undefined)
  const folder = values.text('export-folder')
  return {
    ...(keys.length > 0 && { secretKeys: keys }),
    ...(folder !== undefined && { folder: resolve(folder) }),
    ...(values.isOn('private-destinations') && { allowsPrivateAddresses: true }),
  }
}

const pluginOptions = (values: Values): PluginOptions => {
  const [folder, geoip] = [values.text('plugin-folder'), values.text('geoip')]
  return {
    ...(folder !== undefined && { folder: resolve(folder) }),
    ...(geoip !== undefined && { geoip: resolve(geoip) }),
    ...(values.isOn('private-plugin-requests') && { allowsPrivateRequests: true }),
  }
}

/** A file, so that secrets never appear among the arguments of a process. */
async function singleSignOnOf(values: Values): Promise<Pick<OpenOptions, 'singleSignOn'>> {
  const file = values.text('oidc')
  if (file === undefined) return {}
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw wrongUsage(`--oidc must name a file of JSON with identity providers: ${error.message}`)
  })
  try {
    const providers = JSON.parse(text) as Record<string, ProviderOptions>
    readProviders(providers)
    return { singleSignOn: { providers } }
  } catch (error) {
    throw wrongUsage(`--oidc: ${error instanceof WaymarkError ? error.detail : `${file} is not valid JSON.`}`)
  }
}

/** The shell command that starts this program again. */
const calledAs = (called = process.argv[1] ?? ''): string => {
  if (called.includes(join('node_modules', '.bin'))) return 'npx waymark'
  return basename(called) === 'waymark' ? 'waymark' : `node ${relative(process.cwd(), called)}`
}

const newKeyCommand = ({ user }: FirstStart, dataDir: string) =>
  `${calledAs()} keys create --data ${dataDir} --user ${user.email} --label mine --scopes '*'`

/** Three commands to copy. */
function firstSteps(url: string, { project, personalKey }: FirstStart, dataDir: string): readonly string[] {
  const body = JSON.stringify({ api_key: project.api_token, event: 'hello', distinct_id: 'me' })
  const query = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select event, count() from events group by event' } })
  return [
    '',
    'Send an event:',
    `  curl ${url}/capture/ -H 'content-type: application/json' -d '${body}'`,
    'Ask a question:',
    `  curl ${url}/api/projects/${project.id}/query/ -H 'authorization: Bearer ${personalKey ?? '<PERSONAL KEY>'}' -H 'content-type: application/json' -d '${query}'`,
    'Import what you have (exports, JSON lines, CSV, Parquet, access logs):',
    `  ${calledAs()} import FILE --data ${dataDir} --project ${project.id}`,
    '',
  ]
}

function memoryOf(values: Values): Pick<OpenOptions, 'memoryLimit' | 'listMemory'> {
  const [memoryLimit, listMemory] = [values.text('memory'), values.text('list-memory')]
  if (memoryLimit !== undefined) return { memoryLimit, listMemory }
  const all = serverMemory()
  return { ...all, ...(listMemory !== undefined && { listMemory }) }
}

const logRetentionOf = (values: Values): OpenOptions['logRetention'] => {
  const bytes = values.text('log-size')
  return { days: millisecondsOf('log-keep', values.required('log-keep')) / 86_400_000, ...(bytes === undefined ? {} : { bytes }) }
}

const backupOptions = {
  backup: { value: 'TO', summary: 'make backups regularly, to a folder or s3://BUCKET/PREFIX' },
  'backup-every': { value: 'TIME', summary: 'how often a copy is taken, such as 15m or 6h', default: '1h' },
  'backup-keep': { value: 'TIME', summary: 'how long copies are kept', default: '30d' },
  'backup-verify': { value: 'TIME', summary: 'how often a copy is restored and compared; never: not at all', default: '1d' },
  'key-file': keyFileOption,
} as const

async function backupsOf(values: Values): Promise<BackupSchedule | undefined> {
  const to = values.text('backup')
  if (to === undefined) return undefined
  const verify = values.required('backup-verify')
  const key = await keyOf(values)
  return {
    to: to.startsWith('s3://') ? to : resolve(to),
    everyMinutes: millisecondsOf('backup-every', values.required('backup-every')) / 60_000,
    keepDays: millisecondsOf('backup-keep', values.required('backup-keep')) / 86_400_000,
    verifyEveryHours: verify === 'never' ? 0 : millisecondsOf('backup-verify', verify) / 3_600_000,
    ...(key === null ? {} : { key }),
  }
}

const slowQueriesOf = (values: Values): OpenOptions['slowQueries'] => {
  const text = values.required('slow-query')
  const [, number, unit] = /^(\d{1,6})(ms|s)$/.exec(text) ?? []
  if (text !== 'never' && (!number || Number(number) === 0))
    throw wrongUsage(`--slow-query must be a time such as 500ms or 10s, or never, but got ${text}.`)
  return { seconds: text === 'never' ? 0 : Number(number) / (unit === 's' ? 1 : 1000) }
}

export const serve: Command = {
  options: {
    data: dataOption,
    connect: {
      summary:
        'if another process has the directory, serve through it, and take over when it leaves: for several workers, and for restarts without a pause',
    },
    ...postgresDoorOptions,
    host: { value: 'H', summary: 'the address to listen on', default: '127.0.0.1' },
    port: { value: 'N', summary: 'the port to listen on; 0 picks a free one', default: '8000' },
    demo: { summary: 'create a demo project at the first start' },
    json: { summary: 'print one line of JSON when ready' },
    log: {
      value: 'HOW',
      summary: 'all: a line for each request too; quiet: none for requests that succeed; default: quiet in a terminal, otherwise all',
    },
    memory: {
      value: 'SIZE',
      summary: "memory limit of the store, such as 512MB; default: 40 % of the container's memory up to 2 GiB, a fifth of it beyond 10 GiB",
    },
    'list-memory': {
      value: 'SIZE',
      summary:
        'memory for the events from which trends and funnels are computed; 0: none; default: a quarter of --memory, or of what the container has beyond 4 GiB if that is more and --memory is not set',
    },
    clickhouse: clickhouseOption,
    postgres: postgresOption,
    'one-process': {
      summary: 'run the engine inside the server process: uses less memory, but a query that crashes the engine stops the server',
    },
    recovery: recoveryOption,
    ...limitOptions,
    'drain-seconds': { value: 'N', summary: 'on shutdown, how long to wait for running requests and queries', default: '20' },
    'public-url': {
      value: 'URL',
      summary: 'public URL of the server: base of links in e-mails and pages; with https, cookies are Secure',
    },
    'trusted-proxies': {
      value: 'LIST',
      summary: 'proxies whose X-Forwarded-Proto, -Host and -For headers are trusted, as addresses or CIDR networks (default: none)',
    },
    'stop-seconds': {
      value: 'N',
      summary: 'on shutdown, exit with code 1 after this time, whatever is still open (default: --drain-seconds plus 10)',
    },
    smtp: { value: 'URL', summary: 'mail server, smtp://user:password@host:587; needs the package nodemailer' },
    'mail-from': { value: 'ADDRESS', summary: 'sender address of e-mails' },
    oidc: {
      value: 'FILE',
      summary:
        'a file of JSON with identity providers (Google, GitHub, GitLab, any issuer of OpenID Connect); needs the package openid-client',
    },
    dns: { value: 'SERVERS', summary: "name servers that verify domains and proxy records, address:port,… (default: the system's)" },
    'proxy-base': { value: 'NAME', summary: 'base domain for the CNAME targets of proxy records' },
    downloads: {
      value: 'HOW',
      summary: 'on or off: downloads of all rows of a query over HTTP, without the row limit of an answer; default: on, off with --hosted',
    },
    'export-folder': {
      value: 'DIR',
      summary: 'where batch exports to local files are written (default: exports in the data directory; with --hosted nowhere)',
    },
    'plugin-folder': { value: 'DIR', summary: 'a folder with local plugins, one folder each; default: local plugins are refused' },
    geoip: geoipOption,
    'currency-rates': currencyRatesOption,
    ...attachOptions,
    'attach-every': attachEveryOption,
    'private-plugin-requests': { summary: 'plugins, and webhooks of alerts and subscriptions, may connect to private networks' },
    'private-destinations': { summary: 'with --hosted: batch exports may connect to private networks' },
    'events-per-day': {
      value: 'N',
      summary: 'daily limit of events from clients for each project; 0: no limit; `waymark projects limit` sets it for one project',
      default: String(otherLimits.eventsPerDay.number),
    },
    'log-keep': { value: 'TIME', summary: 'how long the log of a project keeps applied events, such as 12h or 30d', default: '7d' },
    'log-size': {
      value: 'SIZE',
      summary: 'how many bytes of applied events the log of a project keeps at most, such as 2GB; default: all that are not older',
    },
    ...backupOptions,
    'slow-query': { value: 'TIME', summary: 'log queries that take this long, such as 500ms or 10s; never: none', default: '2s' },
    'no-format-copies': { summary: 'keep no copy of a database file before a newer version of Waymark changes its format' },
    hosted: { summary: 'multi-tenant mode: organizations must verify their domains' },
  },
  run: async (values, { out, err }) => {
    const port = portOf(values.required('port'))
    const postgresDoor = await postgresDoorOf(values)
    const { limits, concurrency } = requestLimits(values)
    const site = siteOf(values)
    const downloading = downloadsOf(values)
    const isVerbose = logsRequests(values)
    const drainMs = countOf(values, 'drain-seconds') * 1000
    const stopMs = values.text('stop-seconds') === undefined ? drainMs + closeMs : countOf(values, 'stop-seconds') * 1000
    const recovery = recoveryOf(values)
    const backups = await backupsOf(values)
    const logRetention = logRetentionOf(values)
    const signOn = await singleSignOnOf(values)
    const engine = engineOf(values)
    const isShared = engine?.postgres !== undefined
    const clock = () => new Date()
    const lines = new LogLines(err)
    const lineOf: (...line: Parameters<Line>) => string = (level, message, fields) =>
      JSON.stringify({ time: clock().toISOString(), level, message, ...fields })
    const log: Line = (...line) => lines.write(lineOf(...line))
    let url = ''
    let opened: Opened | null = null
    let server: RunningServer | null = null
    let postgres: PostgresServer | null = null
    const stopping = listenForStop(stopMs, () => {
      const still_open = [
        ...(server?.running ? [`${server.running} requests`] : []),
        ...(opened ? (opened.local()?.stillOpen ?? []) : ['the data directory']),
      ]
      log('error', `shutdown did not finish within ${stopMs / 1000} seconds of the signal`, { still_open })
    })
    const handOver = new HandOver()
    const commands = new CommandsOfOwner((error) => log('error', messageOf(error), stackOf(error)))
    try {
      const surroundings = await surroundingsOf(values, () => url, log)
      const options: OpenOptions = {
        dataDir: values.required('data'),
        connect: values.isOn('connect'),
        ...memoryOf(values),
        engine,
        isolate: !isShared && !values.isOn('one-process'),
        clock,
        surroundings,
        recovery,
        logRetention,
        formatCopies: !values.isOn('no-format-copies'),
        exports: exportOptions(values),
        plugins: pluginOptions(values),
        ...currencyRatesOf(values),
        ...attachOf(values),
        ...signOn,
        backups,
        slowQueries: slowQueriesOf(values),
        onError: (error) => log('error', messageOf(error), stackOf(error)),
        onRecovery: ({ project, ...notice }) => log('warn', recoveryText(notice), { project, ...notice }),
      }
      opened = await openAnywhere(options, async (owned) => {
        owned.handOver = () => handOver.begin()
        for (const locked of await directoryCommands['locked-domains'](owned, {})) log('warn', lockedText(locked))
        return commands.owned(owned)
      })
      const start = await opened.server.firstStart(bootstrapKeys(values))
      const local = opened.local()
      const demoId = local && values.isOn('demo') && start.personalKey !== null ? await makeDemo(local, start) : null
      const handler = createHandler(opened.waymark, {
        limits: () => limits,
        concurrency: () => concurrency,
        ...(downloading === null ? {} : { allowsDownloads: () => downloading === 'on' }),
        ...site,
        takesCommands: false, // through the server itself
        sendsCompressed: true,
        log: ({ level, message, ...fields }) => {
          if (message !== 'request') log(level, message, fields)
          else if (isVerbose) lines.writeSoon(lineOf(level, message, fields))
        },
      })
      const givenAway = async () => {
        log('info', 'the directory is being moved: requests are refused')
        await handler.drain(Math.min(drainMs, handOverMs))
        await commands.end()
        await opened?.waymark.close()
        await handOver.watch(resolve(values.required('data')), stopping.asked)
      }
      const ownerSecret = newSecret()
      const isWithoutOwner = await opened.server.allowFirstOwner(ownerSecret)
      server = await startServer(handOver.before(commands.before(handler)), { host: values.required('host'), port })
      url = server.url
      await commands.reachableAt(url)
      const send = handOver.before(commands.before(handler))
      postgres = await openPostgresDoor(postgresDoor, { host: values.required('host'), send, onError: options.onError! })
      // For people only: what --json prints may end in a log.
      const setupUrl = isWithoutOwner ? `${url}/#/setup?secret=${ownerSecret}` : null
      const facts = { url, ...(postgres && { postgres_port: postgres.port }), ...shown(start) }
      if (values.isOn('json')) out(JSON.stringify(facts))
      else {
        out(`Waymark          ${url}`)
        if (postgres !== null) out(`PostgreSQL       ${values.required('host')}:${postgres.port}`)
        if (demoId !== null) out(`Demo project     ${demoId}`)
        out(`Project key      ${start.project.api_token}`)
        out(`Owner            ${start.user.email}`)
        if (setupUrl !== null) {
          out(`Choose a password ${setupUrl}`)
          out(`                 print another link: ${calledAs()} users link --data ${values.required('data')} --user ${start.user.email}`)
        }
        if (start.personalKey !== null) out(`Personal key     ${start.personalKey}   (shown this once)`)
        else out(`Personal key     was shown at the first start; create another: ${newKeyCommand(start, values.required('data'))}`)
        for (const line of firstSteps(url, start, values.required('data'))) out(line)
      }
      await Promise.race([stopping.asked, handOver.asked.then(() => givenAway())])
      log('info', 'draining')
      await commands.end()
      await Promise.all([server.drain(drainMs), handler.drain(drainMs), postgres?.close()])
    } finally {
      await postgres?.close()
      await opened?.waymark.close()
      lines.flush()
      stopping.end()
    }
  },
}
