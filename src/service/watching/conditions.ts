import { often, type Rates } from './event-rates.ts'
import { countAt, countOfHourBefore, countOfPastHour, dayMs, hourMs, hourOf, knownBefore, meanBefore } from './hours.ts'
import { type FailingExport, type FailingPlugin, type Measured, serverId } from './measured.ts'
import type { WatchName } from './names.ts'

// What owners are notified of, one row for each. All functions are pure: the check measures, and keeps what has begun. A condition ends by another bound than it
// begins, so that nothing changes back and forth.

/** What a problem is about. */
export interface Subject {
  readonly project: number
  /** The export, or the plugin config; empty: the project, or the server. */
  readonly id: string
  readonly name: string
}

/** Numbers that the end of a problem is compared with. */
export type Detail = Readonly<Record<string, number>>

interface Begun {
  readonly detail: Detail
  readonly lines: readonly string[]
}

interface Rule<V> {
  readonly of: 'project' | 'server'
  /** As Settings names it. */
  readonly title: string
  readonly summary: string
  measure(all: Measured): readonly { readonly subject: Subject; readonly value: V }[]
  /** Null: it does not hold. The lines are those of the mail. */
  begins(value: V, all: Measured): Begun | null
  isOver(value: V, detail: Detail, all: Measured): boolean
  /** How long it must not hold before it has ended. */
  readonly calmMs: number
  /** After its end it does not begin again for this long. */
  readonly restMs: number
  /** Subjects of the mails. `what`: the name of the project, the export or the plugin. */
  subjects(what: string): { readonly began: string; readonly ended: string }
  /** The page that says more. */
  readonly page: string
}

/** A rule whose values only it knows. */
export type Condition = Rule<unknown>
const condition = <V>(rule: Rule<V>): Condition => rule as unknown as Condition

const minuteMs = 60_000
const number = (value: number) => Math.round(value).toLocaleString('en-US')
const time = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
const ofProject = (project: number): Subject => ({ project, id: '', name: '' })
const ofServer = ofProject(serverId)
const gibibytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

const weekMs = 7 * dayMs

/**
 * Events that should have come in the hour before a time, by the same hour of other days: the least of them. None where they usually begin or end within it.
 * Null: nothing is known.
 */
function expectedBefore({ hours, longestGap }: Rates, time: number): number | null {
  // As many hours as a client that sends at intervals may leave out.
  const span = Math.max(1, Math.ceil((1.25 * (longestGap?.ms ?? 0)) / hourMs))
  const count = (end: number) => {
    let sum = 0
    for (let i = 0; i < span; i++) sum += countOfPastHour(hours, end - i * hourMs)
    return sum
  }
  const known = knownBefore(hours, hourOf(time)) * hourMs
  const days = [dayMs, weekMs].filter((age) => known >= age + hourMs)
  const expected = days.map((age) => {
    const [before, after] = [count(time - age), count(time - age + span * hourMs)]
    return before < after / 2 || after < before / 10 ? 0 : before
  })
  return days.length === 0 ? null : Math.min(...expected)
}

/** Events in the hour before now, of those that came after a time. */
function arrivedSince({ hours, latestAt }: Rates, since: number, now: number): number {
  if (latestAt <= since) return 0
  const isAfter = hourOf(now) - 1 > hourOf(since)
  return isAfter ? countOfHourBefore(hours, now) : countAt(hours, hourOf(now))
}

/**
 * Events that are missing: those that came in the same hour of the day and of the week before, or those before they stopped. Null: none. Before two hours had
 * events, and at hours that usually have few, nothing is missing.
 */
function missingEvents(rates: Rates, now: number): number | null {
  const { hours, latestAt } = rates
  const isWeekKnown = knownBefore(hours, hourOf(now)) * hourMs >= weekMs + hourMs
  const usual = isWeekKnown ? expectedBefore(rates, now) : null
  if (usual !== null && usual >= often) return usual
  const before = countOfHourBefore(hours, latestAt)
  const after = expectedBefore(rates, latestAt + hourMs)
  const last = hourOf(latestAt)
  const hoursWithSome = [0, 1, 2, 3].filter((i) => countAt(hours, last - i) > 0).length
  return before >= often && hoursWithSome >= 2 && (after === null || after >= often) ? before : null
}

const silenceMs = (rates: Rates) => Math.max(hourMs, 1.25 * (rates.longestGap?.ms ?? 0))

const leastHoursKnown = 3
const leastFlood = 100
const [manyTimes, fewTimes] = [10, 5]

/** Events in an hour that are usual at this time; null: nothing is known. */
function usualEvents({ hours }: Rates, now: number): number | null {
  const hour = hourOf(now)
  const mean = knownBefore(hours, hour) < leastHoursKnown ? null : meanBefore(hours, hour)
  if (mean === null) return null
  const around = [24, 7 * 24].flatMap((age) => [-1, 0, 1].map((i) => countAt(hours, hour - age + i)))
  return Math.max(1, mean, ...around)
}

const [quotaBegins, quotaEnds] = [0.8, 0.5]
const leastBackupFailures = 2
const [fullBeginsMs, fullEndsMs] = [weekMs, 10 * dayMs]
const [leastFailedRuns, leastFailedAttempts] = [2, 4]
const failingMs = 30 * minuteMs
const leastDead = 10

const eventsOf = ({ rates }: Measured) => [...rates].map(([project, value]) => ({ subject: ofProject(project), value }))
const copyProblem = (backup: NonNullable<Measured['backup']>, now: number): string | null => {
  if (backup.failures >= leastBackupFailures)
    return `${backup.failures} attempts at a copy failed in a row. The latest error: ${backup.latest_error ?? 'unknown'}`
  return now - backup.due_at.getTime() > dayMs ? `No copy was taken, although one was due at ${time(backup.due_at.getTime())}.` : null
}
const verifyProblem = ({ verify_error, copied_at, verify_at }: NonNullable<Measured['backup']>, now: number): string | null => {
  if (verify_error !== null)
    return `The latest verification failed: ${verify_error} Do not rely on copies that are newer than the last verified one.`
  const isLate = copied_at !== null && now - verify_at.getTime() > dayMs
  return isLate ? `No copy was verified, although it was due at ${time(verify_at.getTime())}.` : null
}
const exportProblem = ({ pausedReason, failedRuns, failedAttempts, latestError }: FailingExport): string | null => {
  const error = latestError === null ? '' : ` The latest error: ${latestError}`
  if (pausedReason !== null) return pausedReason
  if (failedRuns >= leastFailedRuns) return `${failedRuns} runs failed in a row.${error}`
  return failedAttempts >= leastFailedAttempts ? `A run has failed ${failedAttempts} times and is tried again.${error}` : null
}
const pluginProblem = ({ problem, failingSince, dead, delivered, latestError }: FailingPlugin, now: number): string | null => {
  if (problem !== null) return `The server does not use it: ${problem}`
  const error = latestError ? ` The latest error: ${latestError}` : ''
  if (failingSince !== null && now - failingSince >= failingMs) return `Deliveries have failed since ${time(failingSince)}.${error}`
  return dead >= leastDead && dead > delivered
    ? `${number(dead)} events could not be delivered and were given up in the last two hours.${error}`
    : null
}

export const conditions: { readonly [N in WatchName]: Condition } = {
  silence: condition<Rates>({
    of: 'project',
    title: 'No events for an hour',
    summary: 'Events usually come at this time, or came until now, and none has arrived for an hour.',
    measure: eventsOf,
    begins(rates, { now, upSince }) {
      if (now - Math.max(rates.latestAt, upSince) < silenceMs(rates)) return null
      const missing = missingEvents(rates, now)
      return missing === null
        ? null
        : {
            detail: { expected: missing, since: rates.latestAt },
            lines: [
              `No event has arrived since ${time(rates.latestAt)}. Before, or at the same time of other days, about ${number(missing)} came in an hour.`,
              'Look at what sends them: a release, a blocked script, a proxy, an expired key. Data → Warnings lists events that were refused or changed.',
            ],
          }
    },
    // One stray event of an application with thousands is not the end.
    isOver: (rates, { expected = 0, since = 0 }, { now }) => arrivedSince(rates, since, now) >= Math.max(1, Math.floor(expected / 10)),
    calmMs: 0,
    restMs: hourMs,
    subjects: (what) => ({ began: `${what}: no events arrive`, ended: `${what}: events arrive again` }),
    page: 'live',
  }),
  flood: condition<Rates>({
    of: 'project',
    title: 'Ten times as many events as usual',
    summary: `At least ${leastFlood} events arrived within an hour, ten times as many as at this time of other days and on average.`,
    measure: eventsOf,
    begins(rates, { now }) {
      const usual = usualEvents(rates, now)
      const count = countOfHourBefore(rates.hours, now)
      if (usual === null || count < leastFlood || count < manyTimes * usual) return null
      return {
        detail: { usual, count, at: now },
        lines: [
          `About ${number(count)} events arrived in the last hour. Usually it is ${number(usual)} at most.`,
          'The project key is public: if you did not send them, create a new key in Settings → Project, and set a limit of events a day there.',
        ],
      }
    },
    isOver(rates, { usual: before = 1, at = 0 }, { now }) {
      // What lasts for a day is usual from then on; sooner, the flood itself would raise the mean.
      const usual = now - at < dayMs ? before : Math.max(before, usualEvents(rates, now) ?? 0)
      return countOfHourBefore(rates.hours, now) < fewTimes * usual
    },
    calmMs: 0,
    restMs: hourMs,
    subjects: (what) => ({ began: `${what}: ten times as many events as usual`, ended: `${what}: as many events as usual again` }),
    page: 'live',
  }),
  quota: condition<Measured['quotas'][number]>({
    of: 'project',
    title: 'The limit of events a day is nearly reached',
    summary: 'The project has taken 80% of its events for today. It does not repeat this for three days after it ended.',
    measure: ({ quotas }) => quotas.map((value) => ({ subject: ofProject(value.project), value })),
    begins: ({ taken, limit }) =>
      taken < quotaBegins * limit
        ? null
        : {
            detail: { taken, limit },
            lines: [
              `The project has accepted ${number(taken)} of ${number(limit)} events that it may take today. Beyond the limit, events are refused until 00:00 UTC.`,
              'The limit is in Settings → Project. If you did not send the events, create a new project key there.',
            ],
          },
    isOver: ({ taken, limit }) => taken < quotaEnds * limit,
    calmMs: 0,
    restMs: 3 * dayMs,
    subjects: (what) => ({ began: `${what}: the event limit for today is nearly reached`, ended: `${what}: below the event limit again` }),
    page: 'settings/project',
  }),
  backup: condition<NonNullable<Measured['backup']>>({
    of: 'server',
    title: 'A backup failed or is not verified',
    summary: 'Two copies in a row failed, the newest copy did not pass its verification, or either is a day late.',
    measure: ({ backup }) => (backup ? [{ subject: ofServer, value: backup }] : []),
    begins(backup, { now }) {
      const lines = [copyProblem(backup, now), verifyProblem(backup, now)].filter((line) => line !== null)
      const last = backup.copied_at
        ? `The newest copy has everything until ${time(backup.copied_at.getTime())}.`
        : 'There is no copy of this server yet.'
      return lines.length === 0 ? null : { detail: { failures: backup.failures }, lines: [...lines, last] }
    },
    isOver: (backup, _, { now }) => backup.failures === 0 && copyProblem(backup, now) === null && verifyProblem(backup, now) === null,
    calmMs: 0,
    restMs: 0,
    subjects: () => ({ began: 'Backups fail', ended: 'Backups work again' }),
    page: 'settings/backups',
  }),
  disk: condition<NonNullable<Measured['disk']>>({
    of: 'server',
    title: 'The disk is full within a week',
    summary: 'Free space shrinks, over the last day and over the last three, so that it ends within seven days.',
    measure: ({ disk }) => (disk ? [{ subject: ofServer, value: disk }] : []),
    begins: ({ freeBytes, untilFullMs }) =>
      untilFullMs === null || untilFullMs >= fullBeginsMs
        ? null
        : {
            detail: { freeBytes, untilFullMs },
            lines: [
              untilFullMs === 0
                ? `The disk of the data directory is full: ${gibibytes(freeBytes)} are free, and events are refused.`
                : `The disk of the data directory has ${gibibytes(freeBytes)} left, and is full in about ${untilFullMs < 2 * dayMs ? `${number(untilFullMs / hourMs)} hours` : `${number(untilFullMs / dayMs)} days`} at the rate of the last days.`,
              'Enlarge it, keep less of the log (`--log-keep`), keep events for fewer months (Settings → Project), or give back space (`waymark compact`).',
            ],
          },
    isOver: ({ untilFullMs }) => untilFullMs === null || untilFullMs > fullEndsMs,
    calmMs: hourMs,
    restMs: 0,
    subjects: () => ({ began: 'The disk is full within a week', ended: 'The disk has room again' }),
    page: 'settings/backups',
  }),
  export: condition<FailingExport>({
    of: 'project',
    title: 'A batch export keeps failing',
    summary: 'Two runs failed in a row, a run failed four times, or the export was paused because of failures.',
    measure: ({ exports }) => exports.map((value) => ({ subject: { project: value.project, id: value.id, name: value.name }, value })),
    begins(value) {
      const problem = exportProblem(value)
      return problem === null
        ? null
        : { detail: { failed: value.failedRuns }, lines: [problem, 'Its log is in Pipelines → Batch exports.'] }
    },
    isOver: ({ failedRuns, failedAttempts, pausedReason }) => failedRuns === 0 && failedAttempts === 0 && pausedReason === null,
    calmMs: 0,
    restMs: hourMs,
    subjects: (what) => ({ began: `The export ${what} keeps failing`, ended: `The export ${what} works again` }),
    page: 'pipelines/exports',
  }),
  plugin: condition<FailingPlugin>({
    of: 'project',
    title: 'A plugin keeps failing',
    summary: 'The server has switched it off, its deliveries have failed for half an hour, or most of its events were given up.',
    measure: ({ plugins }) => plugins.map((value) => ({ subject: { project: value.project, id: value.id, name: value.name }, value })),
    begins(value, { now }) {
      const problem = pluginProblem(value, now)
      return problem === null ? null : { detail: { dead: value.dead }, lines: [problem, 'Its log is in Pipelines → Plugins.'] }
    },
    isOver: (value, _, { now }) => pluginProblem(value, now) === null && value.failingSince === null,
    // It is used again for a moment at the end of each time that it is switched off.
    calmMs: failingMs,
    restMs: hourMs,
    subjects: (what) => ({ began: `The plugin ${what} keeps failing`, ended: `The plugin ${what} works again` }),
    page: 'pipelines/plugins',
  }),
}
