import type { Figures } from '../http/server/figures.ts'
import { sizeText } from './backup.ts'
import { tableText } from './table-text.ts'

// What `waymark top` shows of a server, from two of its figures some seconds apart. Pure.

export interface Rates {
  readonly events_per_second: number
  readonly past_events_per_second: number
  readonly queries_per_second: number
}

const rounded = (value: number) => Math.round(value * 10) / 10

/** Null before: nothing is known of how fast. A server that was restarted begins at 0. */
export function ratesOf(before: Figures | null, now: Figures): Rates | null {
  const seconds = before ? (now.time - before.time) / 1000 : 0
  if (!before || seconds <= 0) return null
  const rate = (of: (figures: Figures) => number) => rounded(Math.max(0, of(now) - of(before)) / seconds)
  return {
    events_per_second: rate(({ events }) => events.live),
    past_events_per_second: rate(({ events }) => events.past),
    queries_per_second: rate(({ queries }) => queries.answered + queries.failed + queries.cancelled),
  }
}

const count = (value: number) => value.toLocaleString('en-US')
const durationText = (seconds: number): string =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : seconds < 172_800
        ? `${Math.round(seconds / 3_600)} h`
        : `${Math.round(seconds / 86_400)} days`

const line = (name: string, text: string) => `${name.padEnd(10)} ${text}`

const diskText = ({ disk }: Figures): string => {
  if (!disk) return 'in memory'
  const { freeBytes, untilFullSeconds } = disk
  return `${sizeText(freeBytes)} free, ${untilFullSeconds === null ? 'not filling' : `full in ${durationText(untilFullSeconds)}`}`
}
const backupText = ({ backup, time }: Figures): string => {
  if (!backup) return 'none are made'
  const age = (at: number | null) => (at === null ? 'none' : `${durationText((time - at) / 1000)} ago`)
  return `newest copy ${age(backup.copiedAt)}, verified ${age(backup.verifiedAt)}${backup.failures > 0 ? `, ${backup.failures} FAILED` : ''}`
}

/** Queries in progress by project and kind, those first that run longest. */
function runningTable({ running }: Figures, most: number): string {
  const groups = new Map<string, { project: number; kind: string; queries: number; longest: number; callers: Set<string> }>()
  for (const { project, kind, seconds, caller } of running) {
    const key = `${project} ${kind}`
    const group = groups.get(key) ?? { project, kind, queries: 0, longest: 0, callers: new Set<string>() }
    groups.set(key, group)
    group.queries++
    group.longest = Math.max(group.longest, seconds)
    group.callers.add(caller)
  }
  const rows = [...groups.values()].sort((a, b) => b.longest - a.longest)
  const shown = rows.slice(0, most).map(({ project, kind, queries, longest, callers }) => {
    const [first, ...others] = callers
    return [project, kind, queries, rounded(longest), others.length === 0 ? first : `${first} and ${others.length} more`]
  })
  const more = rows.length > most ? [`and ${rows.length - most} more`] : []
  return [tableText(['project', 'kind', 'queries', 'longest s', 'asked by'], shown), ...more].join('\n')
}

/** One frame. `rows`: of the terminal. */
export function topText(before: Figures | null, now: Figures, rows = 40): string {
  const rates = ratesOf(before, now)
  const perSecond = (value: number | undefined) => (value === undefined ? '–' : `${count(value)}/s`)
  const { events, queries, statements, memory, projects } = now
  const jobs = Object.entries(now.jobs).map(
    ([kind, { running, resting }]) => `${kind} ${running}${resting > 0 ? ` (${resting} wait after a failure)` : ''}`,
  )
  const problems = Object.entries(now.problems).flatMap(([name, value]) => (value > 0 ? [`${name} ${value}`] : []))
  const parts = [memory.engine, memory.server].flatMap((bytes, i) =>
    bytes === undefined ? [] : [`${['engine', 'server'][i]} ${sizeText(bytes)}`],
  )
  const head = [
    `waymark  ${new Date(now.time).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    '',
    line(
      'Events',
      `${perSecond(rates?.events_per_second)}, past ${perSecond(rates?.past_events_per_second)}; ${count(events.live + events.past)} since the start, ${count(events.dropped)} dropped`,
    ),
    line('Lag', `${count(now.lag)} records not applied`),
    line(
      'Queries',
      `${perSecond(rates?.queries_per_second)}; ${count(queries.answered)} answered, ${count(queries.failed)} failed, ${count(queries.cancelled)} cancelled, ${count(queries.slow)} slow`,
    ),
    line('Statements', `${statements.running} running, ${statements.waiting} waiting`),
    line('Projects', `${projects.open} open${projects.failed > 0 ? `, ${projects.failed} FAILED` : ''}`),
    line('Memory', `${parts.join(', ')}; limit of the store ${sizeText(now.memoryLimits.store)}`),
    line('Disk', diskText(now)),
    line('Backups', backupText(now)),
    line('Jobs', jobs.length === 0 ? 'none' : jobs.join(', ')),
    line('Problems', problems.length === 0 ? 'none' : problems.join(', ')),
    '',
  ]
  if (now.running.length === 0) return [...head, 'No query is running.'].join('\n')
  return [...head, runningTable(now, Math.max(3, rows - head.length - 4))].join('\n')
}
