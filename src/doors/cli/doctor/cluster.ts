import {
  type ClickHouseFindings,
  type ClusterFindings,
  inspectCluster,
  type PostgresFindings,
  type SharedFindings,
} from '../../../engine/storage/recovery/cluster-inspector.ts'
import type { EngineChoice } from '../../../engine.ts'
import { asideText, sharedAsidePlace } from '../../../lib/text/aside-text.ts'
import { bytesText } from '../../../lib/text/bytes-text.ts'
import { createSecretBox } from '../../../service/accounts/secrets/secret-box.ts'
import { listOf, type Output, type Values } from '../command.ts'
import { hostFacts, hostLines } from './host.ts'

// What `waymark doctor` says of several servers on one PostgreSQL and one ClickHouse.

interface Line {
  readonly about: string
  readonly text: string
  /** Counted as something that needs attention. */
  readonly isProblem: boolean
}

/** The oldest version that the project of PostgreSQL still repairs. */
const oldestPostgres = 14
/** Between two clocks: sessions, time limits and relative dates go by them. */
const mostAheadMs = 2_000
const leastFreeShare = 0.1
/** Records that wait longer are not on their way. */
const mostWaitingSeconds = 60

const good = (about: string, text: string): Line => ({ about, text, isProblem: false })
const problem = (about: string, text: string): Line => ({ about, text, isProblem: true })
const number = (value: number) => value.toLocaleString('en')
const count = (value: number, one: string, more: string) => `${number(value)} ${value === 1 ? one : more}`
const duration = (seconds: number) =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} minutes`
      : `${Math.round(seconds / 3600)} hours`

function clockLine(about: string, ms: number): Line {
  const text = `its clock is ${number(Math.abs(ms))} ms ${ms < 0 ? 'behind' : 'ahead of'} this host's`
  return Math.abs(ms) > mostAheadMs
    ? problem(about, `${text}: let both follow the same time server, because sessions, limits and relative dates go by these clocks`)
    : good(about, text)
}

const settingReasons: Readonly<Record<keyof PostgresFindings['settings'], string>> = {
  fsync: 'acknowledged events are lost when the machine fails. Set it to on',
  synchronous_commit: 'the last acknowledged events are lost when the server fails. Set it to on, or to what a synchronous standby needs',
  full_page_writes: 'a machine that fails can damage tables. Set it to on, unless the file system writes whole pages',
}

function postgresLines({ version, major, settings, connections, servers, clockMs }: PostgresFindings, ofServer: number): Line[] {
  const about = 'PostgreSQL'
  const wanted = Math.max(1, servers) * ofServer
  const used = `${count(connections.most, 'connection', 'connections')}, ${number(connections.used)} in use; ${count(servers, 'server', 'servers')} may take ${number(wanted)}`
  const wrong = (Object.keys(settings) as (keyof typeof settings)[]).filter((name) => settings[name] === 'off')
  return [
    major < oldestPostgres
      ? problem(about, `version ${version}: Waymark supports ${oldestPostgres} or later`)
      : good(about, `version ${version}`),
    ...wrong.map((name) => problem(about, `${name} is off: ${settingReasons[name]}`)),
    wanted > connections.most
      ? problem(about, `${used}: raise max_connections, or put a pooler in session mode before it`)
      : good(about, used),
    clockLine(about, clockMs),
  ]
}

function projectLine(partition: SharedFindings['log']['partitions'][number], name: string | undefined, unfinished: boolean): Line {
  const { project, lastSeq, appliedSeq, holder, leaseSeconds, waitingSeconds, epoch } = partition
  const about = `Project ${project}`
  const lag = Math.max(0, lastSeq - appliedSeq)
  const isHeld = leaseSeconds !== null && leaseSeconds > 0
  const who = isHeld
    ? `applied by ${holder}, lease for ${leaseSeconds.toFixed(1)} s`
    : holder === null
      ? 'applied by nobody'
      : `applied by nobody since the lease of ${holder} ended ${duration(-(leaseSeconds ?? 0))} ago`
  const waits =
    lag === 0 ? 'everything is applied' : `${count(lag, 'record waits', 'records wait')}, the oldest for ${duration(waitingSeconds ?? 0)}`
  const begun = unfinished ? '; a block was begun and not finished, and the next server that applies the project finishes it' : ''
  const text = `${name === undefined ? '' : `${name}: `}${who}, epoch ${number(epoch)}; ${waits}${begun}`
  if (lag > 0 && !isHeld) return problem(about, `${text}. Start a server: a running one takes it within seconds`)
  return (waitingSeconds ?? 0) > mostWaitingSeconds ? problem(about, text) : good(about, text)
}

function sharedLines(shared: SharedFindings | null): Line[] {
  if (!shared) return [good('Schema', 'no server has started here yet: the first one makes the tables')]
  const { format, knownFormat, log, names, repeated, unfinished, aside } = shared
  const isNewer = format > knownFormat
  const older = format < knownFormat ? `; the next server that starts changes it to ${knownFormat}` : ''
  return [
    isNewer
      ? problem('Schema', `format ${format}, and this version of Waymark knows formats up to ${knownFormat}: use the newer one`)
      : good('Schema', `format ${format}${older}`),
    good('Log', `${bytesText(log.bytes)} in PostgreSQL`),
    ...log.partitions.map((one) => projectLine(one, names[one.project], unfinished.includes(one.project))),
    ...aside.map(({ project, records }) => problem(`Project ${project}`, asideText(records, sharedAsidePlace))),
    ...repeated.map(({ project, blocks }) =>
      good(
        `Project ${project}`,
        `${count(blocks, 'block was', 'blocks were')} begun by two servers within a day; second copies are looked for and removed`,
      ),
    ),
  ]
}

function clickHouseLines(found: ClickHouseFindings, cluster: string | null): Line[] {
  const about = 'ClickHouse'
  const { version, clockMs, knownBlocks, leastKnownBlocks, owner, tables, partsToDelay, disks, replicas } = found
  const [largest] = [...tables].sort((a, b) => b.mostParts - a.mostParts)
  const parts = largest && `${count(largest.mostParts, 'part', 'parts')} in the fullest partition, of ${largest.table}`
  const isFull = largest && partsToDelay !== null && largest.mostParts > partsToDelay / 2
  const isForeign = owner !== null && cluster !== null && owner !== cluster
  return [
    good(about, `version ${version}`),
    ...(isForeign ? [problem(about, 'the database belongs to a data directory, or to another PostgreSQL: servers refuse to start')] : []),
    ...(knownBlocks === null
      ? [good(about, 'no tables yet: the first server makes them')]
      : knownBlocks < leastKnownBlocks
        ? [
            problem(
              about,
              `the deduplication window of events is ${number(knownBlocks)}: each server that starts sets ${number(leastKnownBlocks)}, so something else has changed it`,
            ),
          ]
        : [good(about, `it knows ${number(knownBlocks)} inserts again`)]),
    ...(parts === undefined
      ? []
      : isFull
        ? [problem(about, `${parts}: from ${number(partsToDelay)} on inserts are slowed down, because merges are too slow`)]
        : [good(about, parts)]),
    ...disks.map(({ name, free, total }) => {
      const text = `disk ${name}: ${bytesText(free)} of ${bytesText(total)} free`
      return total > 0 && free < total * leastFreeShare ? problem(about, `${text}: merges need room`) : good(about, text)
    }),
    ...replicas
      .filter(({ delaySeconds }) => delaySeconds > 0)
      .map(({ table, delaySeconds }) => good(about, `replica of ${table}: ${duration(delaySeconds)} behind`)),
    clockLine(about, clockMs),
  ]
}

function secretLine(keys: readonly string[]): Line {
  const about = 'Secrets'
  if (keys.length === 0)
    return problem(
      about,
      'WAYMARK_SECRET_KEY is not set here: servers without it cannot store or read secrets of exports, plugins and second factors. Set the same one everywhere',
    )
  try {
    createSecretBox(keys)
    return good(about, 'WAYMARK_SECRET_KEY is set here: it must be the same at every server')
  } catch (error) {
    return problem(about, error instanceof Error ? error.message : String(error))
  }
}

/** Each fact in a line, with what to do about it where it needs attention. */
export function clusterLines({ postgres, clickhouse, connectionsOfServer }: ClusterFindings, keys: readonly string[]): readonly Line[] {
  const shared = 'reason' in postgres ? null : postgres.shared
  return [
    ...('reason' in postgres
      ? [problem('PostgreSQL', postgres.reason)]
      : [...postgresLines(postgres, connectionsOfServer), ...sharedLines(shared)]),
    ...('reason' in clickhouse ? [problem('ClickHouse', clickhouse.reason)] : clickHouseLines(clickhouse, shared?.id ?? null)),
    secretLine(keys),
  ]
}

/** Returns how many things need attention. */
export async function examineCluster(engine: EngineChoice, values: Values, { out }: Output): Promise<number> {
  const findings = await inspectCluster(engine)
  const lines = clusterLines(findings, listOf(values.env.WAYMARK_SECRET_KEY || undefined))
  const problems = lines.filter(({ isProblem }) => isProblem)
  if (values.isOn('json')) out(JSON.stringify({ ...findings, problems: problems.map(({ about, text }) => `${about}: ${text}`) }))
  else {
    for (const { text, isWarning } of hostLines(await hostFacts(null))) out(`Host             ${isWarning ? 'look at this: ' : ''}${text}`)
    for (const { about, text, isProblem } of lines) out(`${about.padEnd(16)} ${isProblem ? 'look at this: ' : ''}${text}`)
  }
  return problems.length
}
