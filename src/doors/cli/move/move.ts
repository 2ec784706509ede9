import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sizeOfStores } from '../../../engine/storage/moving/source.ts'
import { inspectTarget } from '../../../engine/storage/moving/target.ts'
import { type LocalWaymark, type OpenOptions, open, openForMove, withoutWork } from '../../../engine.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { restore } from '../../../service/backups/backups.ts'
import { type MovedServer, type MoveSummary, moveToCluster } from '../../../service/moving/move-to-cluster.ts'
import { inspectSource, type MovedBackSummary, moveToDirectory } from '../../../service/moving/move-to-directory.ts'
import type { ApplyingServer, MoveParts, MoveProgress } from '../../../service/moving/parts.ts'
import { followed, projectsText, sizeText } from '../backup.ts'
import { type Command, type Output, type Values, wrongUsage } from '../command.ts'
import { memoryOption, mustBeDataDirectory } from '../directory.ts'
import { clickhouseOption, engineOf, postgresOption } from '../options/clickhouse-option.ts'
import { stepsLine } from '../progress.ts'
import { type RunningServer, runningServer } from '../running-server.ts'

const cluster = 'clickhouse+postgres'

export const move: Command = {
  options: {
    from: {
      value: 'WHERE',
      summary: `the data directory that is moved; or ${cluster}: the databases that --clickhouse and --postgres name`,
      default: './data',
    },
    to: {
      value: 'WHERE',
      summary: `${cluster}: these databases, which must be empty; or a directory that does not exist yet`,
      default: cluster,
    },
    clickhouse: clickhouseOption,
    postgres: postgresOption,
    'dry-run': { summary: 'say what would be moved, and what prevents it; change nothing' },
    memory: memoryOption,
    json: { summary: 'print the result as one line of JSON' },
  },
  run: async (values, output) => {
    const engine = engineOf(values)
    const [from, to] = [values.required('from'), values.required('to')]
    if ((from === cluster) === (to === cluster))
      throw wrongUsage(
        `A data directory is moved into a cluster, with --from DIR --to ${cluster}, or a cluster into a directory, with --from ${cluster} --to DIR.`,
      )
    if (engine?.postgres === undefined) throw wrongUsage('move needs --clickhouse URL and --postgres URL: the databases of the cluster.')
    const isBack = from === cluster
    const dataDir = resolve(isBack ? to : from)
    if (!isBack) await mustBeDataDirectory(dataDir)
    if (values.isOn('dry-run')) return isBack ? dryRunBack(dataDir, engine, values, output) : dryRun(dataDir, engine, values, output)
    const line = stepsLine(process.stderr)
    const stop = new AbortController()
    const left = isBack ? 'The databases are as they were' : 'The directory is as it was'
    const interrupt = () =>
      stop.abort(new WaymarkError('command-failed', { message: `Stopped. ${left}; the same command goes on where it ended.` }))
    process.on('SIGINT', interrupt)
    process.on('SIGTERM', interrupt)
    try {
      const memoryLimit = values.text('memory')
      const parts: MoveParts = {
        dataDir,
        engine,
        memoryLimit,
        secretKeys: (values.env.WAYMARK_SECRET_KEY ?? '').split(',').flatMap((key) => key.trim() || []),
        settle: (directory) => settle(directory, memoryLimit, stop.signal),
        openCluster: () => openApplying(engine),
        signal: stop.signal,
        onProgress: (progress) => line.show(stepText(progress)),
      }
      if (isBack) {
        const summary = await moveToDirectory({
          ...parts,
          pause: () => pause(lookMs, undefined, { signal: stop.signal }).catch(() => stop.signal.throwIfAborted()),
        })
        line.end()
        reportBack(summary, values, output)
        return
      }
      const server = await runningServer(dataDir)
      const summary = await moveToCluster(parts, server && movedServer(server, stop.signal))
      line.end()
      report(summary, values, output)
    } finally {
      line.end()
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    }
  },
}

/** Between looks whether servers still run. */
const lookMs = 1_000

type Engine = NonNullable<ReturnType<typeof engineOf>>

/** How long a server that gives a directory away may take to close it: what is acknowledged passes slow plugins before. */
const leavingMs = 3_600_000
const againMs = 100

/** Opens a directory, which its owner may not have left yet. */
async function openLeft(options: OpenOptions, signal: AbortSignal): Promise<LocalWaymark> {
  for (const until = performance.now() + leavingMs; ; ) {
    try {
      return await open(options)
    } catch (error) {
      if (!(error instanceof WaymarkError && error.code === 'directory-locked') || performance.now() > until) throw error
      await pause(againMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

/** Applies all records of the logs. */
async function settle(dataDir: string, memoryLimit: string | undefined, signal: AbortSignal): Promise<void> {
  const waymark = await openLeft({ dataDir, memoryLimit, ...withoutWork, logRetention: { days: Number.POSITIVE_INFINITY } }, signal)
  try {
    for (const { id } of await waymark.projects()) await (await waymark.project(id)).warnings()
  } finally {
    await waymark.close()
  }
}

async function openApplying(engine: Engine): Promise<ApplyingServer> {
  const waymark = await openForMove({ engine, ...withoutWork, logRetention: { days: Number.POSITIVE_INFINITY } })
  return {
    reach: async (id) =>
      void (await (await waymark.project(id)).answer({ kind: 'SqlLikeQuery', query: 'select count() from events where 1 = 0' })),
    close: () => waymark.close(),
  }
}

/** Through its backups: they are made while it takes events. */
const movedServer = (server: RunningServer, signal: AbortSignal): MovedServer => ({
  async copyTo(folder) {
    const place = `${folder}.copy`
    const input = { to: place, key: null, verify: false, keep_days: null, take_over: false }
    const { run } = await server.do('backup', input)
    await followed(server, run)
    await restore(place, folder, { signal })
    await rm(place, { recursive: true, force: true })
  },
  handOver: async () => void (await server.do('hand-over', {})),
})

async function dryRun(dataDir: string, engine: Engine, values: Values, { out }: Output): Promise<void> {
  const found = await inspectTarget(engine, dataDir)
  const stores = await sizeOfStores(dataDir)
  const result = {
    from: dataDir,
    to: found.address,
    can_move: found.problem === null,
    problem: found.problem,
    has_begun: found.moving !== null,
    ...stores,
  }
  if (values.isOn('json')) out(JSON.stringify(result))
  else {
    out(`From             ${dataDir}: ${projectsText(stores.projects)} with events, ${sizeText(stores.bytes)}`)
    out(`To               ${found.address}`)
    out(
      `It would         ${found.problem === null ? (found.moving ? 'go on with the move that has begun' : 'copy everything') : `be refused: ${found.problem}`}`,
    )
  }
  if (found.problem !== null)
    throw new WaymarkError('command-failed', { message: `The directory cannot be moved there: ${found.problem}.` })
}

const number = (value: number) => value.toLocaleString('en')

const stepText = ({ phase, project, table, rows, ofRows }: MoveProgress): string =>
  phase === 'waiting'
    ? `Stop all servers now: ${rows} still ${rows === 1 ? 'runs' : 'run'}`
    : phase === 'leaving'
      ? 'Waiting until the server has left the directory: plugins first see what was acknowledged'
      : phase === 'comparing'
        ? `Comparing project ${project}`
        : phase === 'following'
          ? `Following project ${project}${rows === undefined ? '' : `: record ${number(rows)}`}`
          : `Copying project ${project}, ${table}: ${number(rows ?? 0)}${ofRows === rows ? '' : ` of ${number(ofRows ?? 0)}`} rows`

function reportRows({ projects, account_rows }: Pick<MoveSummary, 'projects' | 'account_rows'>, { out }: Output): void {
  for (const { id, name, events, persons } of projects)
    out(`Project ${String(id).padEnd(8)} ${name}: ${number(events)} events and ${number(persons)} persons, equal per day and name`)
  out(`Accounts         ${number(account_rows)} rows`)
}

function report(summary: MoveSummary, values: Values, output: Output): void {
  const { out } = output
  if (values.isOn('json')) {
    out(JSON.stringify(summary))
    return
  }
  const { projects, from, to, seconds, pause_seconds } = summary
  reportRows(summary, output)
  out(
    `Moved            ${projectsText(projects.length)} to ${to} in ${seconds.toFixed(1)} s; nobody took events for ${pause_seconds.toFixed(1)} s`,
  )
  out(`Next             start servers with --clickhouse and --postgres; ${from} is kept as it was, and cannot be opened by mistake`)
}

async function dryRunBack(dataDir: string, engine: Engine, values: Values, { out }: Output): Promise<void> {
  const { from, projects, events, servers, problem } = await inspectSource(engine, dataDir)
  if (values.isOn('json')) out(JSON.stringify({ from, to: dataDir, can_move: problem === null, problem, projects, events, servers }))
  else {
    out(`From             ${from}: ${projectsText(projects)} with ${number(events)} events`)
    out(`To               ${dataDir}`)
    out(
      `It would         ${problem === null ? `copy everything; ${servers === 0 ? 'no server runs' : `wait until ${number(servers)} servers are stopped`}` : `be refused: ${problem}`}`,
    )
  }
  if (problem !== null) throw new WaymarkError('command-failed', { message: `The cluster cannot be moved there: ${problem}.` })
}

function reportBack(summary: MovedBackSummary, values: Values, output: Output): void {
  const { out } = output
  if (values.isOn('json')) {
    out(JSON.stringify(summary))
    return
  }
  const { from, to, seconds, pause_seconds } = summary
  reportRows(summary, output)
  out(`Moved            from ${from} to ${to} in ${seconds.toFixed(1)} s; no server ran for ${pause_seconds.toFixed(1)} s`)
  out(`Next             waymark serve --data ${to}; the databases are kept as they were, and no server opens them by mistake`)
}
