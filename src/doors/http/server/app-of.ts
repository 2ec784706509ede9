import type { ClusterFigures, Condition, LocalWaymark } from '../../../engine.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { statesInMemory } from '../../../lib/flow/states.ts'
import { codeAllowances, createLoginAttempts, mailedLinkAllowances, scimAllowances, signOnAllowances } from '../access/login-attempts.ts'
import { countsInMemory, countsOfServers } from '../access/request-counts.ts'
import type { App, Readiness } from '../app.ts'
import { fillDemo } from '../commands/demo-project.ts'
import type { ConcurrencyLimits } from '../queries/concurrency.ts'
import { createPlaces, placesOfServers } from '../queries/places-of-servers.ts'
import { RequestBodies, type RequestBodyLimits } from '../requests/request-bodies.ts'
import { figuresOf } from './figures.ts'

/** With a larger lag the server is not ready. */
const largestLag = 1_000_000

/** Anyone can read this; the log has the details and the names of files. */
const reasonOf = ({ project, what, error }: Condition['failures'][number]): string =>
  `project ${project} ${what}${error instanceof WaymarkError ? `: ${error.code}` : ''}`

/** An engine that ends this often within a minute is not only unlucky with a query. */
const manyEnds = 3

const reachable = ({ isReachable, reason }: ClusterFigures['store']) => ({
  isOk: isReachable,
  ...(reason !== null && { reasons: [reason] }),
})

const readinessOf = (condition: Condition): Readiness => {
  const { isOpen, isWritable, freeBytes, minFreeBytes, projects, lag, failures, aside, recentEnds, reach } = condition
  const reasonsAside = aside.map(({ project, records }) => `project ${project} has set aside record ${records.slice(0, 5).join(', ')}`)
  const checks = {
    open: { isOk: isOpen },
    write: { isOk: isWritable },
    disk_free_bytes: { isOk: freeBytes === null || freeBytes > minFreeBytes, ...(freeBytes === null ? {} : { detail: freeBytes }) },
    lag_records: { isOk: lag < largestLag, detail: lag },
    projects_open: { isOk: true, detail: projects },
    projects_failed: { isOk: failures.length === 0, detail: failures.length, reasons: failures.map(reasonOf) },
    records_set_aside: {
      isOk: aside.length === 0,
      detail: aside.reduce((sum, { records }) => sum + records.length, 0),
      reasons: reasonsAside,
    },
    ...(reach && Object.fromEntries([reach.accounts, reach.store].map((one) => [one.part, reachable(one)]))),
    engine_ends: { isOk: recentEnds < manyEnds, detail: recentEnds },
  }
  return { isReady: Object.values(checks).every((check) => check.isOk), checks }
}

/** As in the options of a handler. */
interface AppOptions extends Pick<App, 'limits' | 'rows' | 'allowsDownloads'> {
  readonly concurrency: () => ConcurrencyLimits
  readonly intake?: Partial<RequestBodyLimits> | undefined
}

/** What the routes work on, of an open directory. */
export function appOf(waymark: LocalWaymark, { limits, rows, allowsDownloads, concurrency, intake }: AppOptions): App {
  const { clock, sharedStates } = waymark
  const about = { clock, states: sharedStates ?? statesInMemory() }
  return {
    accounts: waymark.accounts,
    exports: waymark.exports,
    plugins: waymark.plugins,
    ...about,
    limits,
    requestCounts: sharedStates ? countsOfServers(sharedStates) : countsInMemory(),
    asking: waymark.asking,
    saved: waymark.saved,
    sharing: waymark.sharing,
    viewers: waymark.viewers,
    flags: waymark.flags,
    imports: waymark.imports,
    notifications: waymark.notifications,
    watching: waymark.watching,
    slowQueries: waymark.slowQueries,
    backups: async () => (await waymark.scheduledBackups?.status()) ?? null,
    concurrency: createPlaces(concurrency, sharedStates ? placesOfServers(sharedStates) : undefined),
    requestBodies: new RequestBodies(intake),
    attempts: createLoginAttempts('password', about),
    codeAttempts: createLoginAttempts('code', about, codeAllowances),
    signOnAttempts: createLoginAttempts('sign-on', about, signOnAllowances),
    scimAttempts: createLoginAttempts('scim', about, scimAllowances),
    singleSignOn: waymark.singleSignOn,
    mailedLinks: createLoginAttempts('mailed link', about, mailedLinkAllowances),
    project: (id) => waymark.project(id),
    fillWithDemo: (record, by) => fillDemo(waymark, record, by),
    groupTypes: async (record) => {
      // A store that has no events need not be opened for this.
      if (!record.ingested_event) return []
      const types = await (await waymark.project(record.id)).groupTypes()
      return types.map(({ index, name }) => ({ group_type: name, group_type_index: index }))
    },
    rows,
    allowsDownloads,
    readiness: async () => readinessOf(await waymark.condition()),
    figures: () => figuresOf(waymark),
  }
}
