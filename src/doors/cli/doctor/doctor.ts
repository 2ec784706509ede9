import { readdir, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { recordsAside } from '../../../engine/storage/files/attempts-file.ts'
import type { Instance } from '../../../engine/storage/instance.ts'
import { type LastOwner, readLastOwner } from '../../../engine/storage/locks/lock.ts'
import { inspectProject, type ProjectInspection } from '../../../engine/storage/project-storage.ts'
import { BrokenFileError, openServerInspector, openStoreInspector } from '../../../engine/storage/recovery/inspector.ts'
import { recoveryText } from '../../../engine/storage/recovery/recovery-report.ts'
import type { EngineChoice } from '../../../engine.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { asideText } from '../../../lib/text/aside-text.ts'
import { bytesText } from '../../../lib/text/bytes-text.ts'
import type { Accounts } from '../../../service/accounts/accounts.ts'
import { defaultSettings } from '../../../service/accounts/context.ts'
import { openAccounts } from '../../../service/directory/control.ts'
import { listLargest } from '../../../service/directory/large-rows.ts'
import { type LockedDomain, lockedDomains, lockedText } from '../../../service/single-sign-on/locked-domains.ts'
import { directoryCommands, type ImportState } from '../../http/commands/directory-commands.ts'
import { type Command, type Output, type Values, wrongUsage } from '../command.ts'
import { directoryOptions, mustBeDataDirectory, recoveryOf, recoveryOption } from '../directory.ts'
import { engineOf } from '../options/clickhouse-option.ts'
import { type RunningServer, runningServer } from '../running-server.ts'
import { examineCluster } from './cluster.ts'
import { type DiskSpeed, hostFacts, hostLines, measureDisk } from './host.ts'

export const doctor: Command = {
  options: {
    ...directoryOptions,
    recovery: recoveryOption,
    hosted: { summary: 'report the import limits that apply with serve --hosted' },
    disk: { summary: 'also measure how fast the disk writes and syncs, with a file of 32 MiB in the directory, which is removed' },
    json: { summary: 'with --postgres: print what was found as one line of JSON' },
    largest: { summary: 'list the twenty largest rows of account data; `waymark trim` cuts those that are too large' },
  },
  run: async (values, output) => {
    const engine = engineOf(values)
    if (engine?.postgres !== undefined) return conclude(await examineCluster(engine, values, output), values, output)
    if (values.isOn('json')) throw wrongUsage('--json is for several servers: it needs --postgres and --clickhouse.')
    const dataDir = values.required('data')
    if (!(await stat(dataDir).catch(() => null))?.isDirectory())
      throw new WaymarkError('command-failed', { message: `${dataDir} is not a directory.` })
    await mustBeDataDirectory(dataDir)
    const { bavail, bsize } = await statfs(dataDir)
    const server = await runningServer(dataDir)
    const lastOwner = server ? 'closed' : await readLastOwner(dataDir)
    output.out(`Directory        ${dataDir}, ${bytesText(bavail * bsize)} free`)
    const disk = values.isOn('disk') ? await diskSpeed(dataDir, bavail * bsize) : undefined
    for (const { text, isWarning } of hostLines(await hostFacts(await newestFileAt(dataDir), disk)))
      output.out(`Host             ${isWarning ? 'look at this: ' : ''}${text}`)
    const problems = server ? await askServer(server, output) : await inspect(resolve(dataDir), engine, lastOwner, values, output)
    conclude(problems, values, server ? null : output)
  },
}

/** `output`: null if not everything was looked at. */
function conclude(problems: number, values: Values, output: Output | null): void {
  if (problems > 0)
    throw new WaymarkError('command-failed', { message: `${problems} ${problems === 1 ? 'thing needs' : 'things need'} attention.` })
  if (output && !values.isOn('json')) output.out('All is well.')
}

const leastFree = 256 * 1024 ** 2

function diskSpeed(dataDir: string, free: number): Promise<DiskSpeed> {
  if (free < leastFree)
    throw new WaymarkError('command-failed', { message: `${dataDir} has ${bytesText(free)} free: too little to measure the disk.` })
  return measureDisk(dataDir)
}

/** When the directory, or one of its projects, was written to last. Null: it has no file yet. */
async function newestFileAt(dataDir: string): Promise<number | null> {
  const projects = await readdir(join(dataDir, 'projects')).catch(() => [])
  const paths = [...(await readdir(dataDir)), ...projects.map((id) => join('projects', id, 'log'))]
  const stats = await Promise.all(paths.map((path) => stat(join(dataDir, path)).catch(() => null)))
  const times = stats.flatMap((one) => (one ? [one.mtimeMs] : []))
  return times.length > 0 ? Math.max(...times) : null
}

async function askServer(server: RunningServer, output: Output): Promise<number> {
  output.out(`Server           ${server.url} has it open and responds; stop it to check logs and stores`)
  const failures = await server.do('failures', {})
  for (const { project, message } of failures) output.out(`Project ${String(project).padEnd(8)} ${message}`)
  sayImports(await server.do('imports', {}), output)
  return failures.length + sayLocked(await server.do('locked-domains', {}), output)
}

/** Returns how many there are for sure. */
function sayLocked(domains: readonly LockedDomain[], { out }: Output): number {
  for (const one of domains) out(`Sign-in          ${lockedText(one)}`)
  return domains.filter(({ isCertain }) => isCertain).length
}

const left: Readonly<Record<LastOwner, string | null>> = {
  closed: null,
  killed: 'a process that exited without closing it',
  rebooted: 'a process on another machine, or before the last reboot, that did not close it',
  copied: 'none: this is a copy, made while a process had the original open',
}

/** Everything is opened read-only. */
async function inspect(
  dataDir: string,
  engine: EngineChoice | undefined,
  lastOwner: LastOwner,
  values: Values,
  output: Output,
): Promise<number> {
  const isPartial = recoveryOf(values) === 'partial'
  const settings = () => ({ ...defaultSettings, isHosted: values.isOn('hosted') })
  if (left[lastOwner]) output.out(`Last owner       ${left[lastOwner]}`)
  const onServer = await openServerInspector(dataDir, engine)
  if (onServer) output.out(`ClickHouse       ${onServer.address}`)
  const inspector = await openStoreInspector(dataDir)
  try {
    const accounts = await openAccounts(inspector.instance, { settings })
    let problems = 0
    if (values.isOn('largest')) for (const line of await largestLines(inspector.instance)) output.out(line)
    for (const { id, isKnown } of await projectsOf(dataDir, accounts)) {
      const hadEvents = (await accounts.projects.byId(id))?.ingested_event ?? false
      const inspection = isKnown
        ? await inspectProject(inspector, id, lastOwner, hadEvents, onServer ? () => onServer.inspect(id) : undefined).catch(asMessage)
        : 'not listed in control.duckdb'
      const lines =
        typeof inspection === 'string'
          ? [inspection]
          : await describe(dataDir, id, inspection, { isPartial, isOnServer: onServer !== null })
      const [first = '', ...more] = lines
      output.out(`Project ${String(id).padEnd(8)} ${first}`)
      for (const line of more) output.out(`  ${line}`)
      const aside = await recordsAside(join(dataDir, 'projects', String(id)))
      if (aside.length > 0) output.out(`  ${asideText(aside)}`)
      if (typeof inspection === 'string' || hasProblem(inspection) || aside.length > 0) problems++
    }
    sayImports(await directoryCommands.imports({ accounts }, {}), output)
    return problems + sayLocked(await lockedDomains(accounts.context, null), output)
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error
    throw new WaymarkError('unusable-directory', { dataDir, reason: error.message }, { cause: error })
  } finally {
    await inspector.close()
    await onServer?.close()
  }
}

async function largestLines(instance: Instance): Promise<readonly string[]> {
  const rows = await listLargest(instance, 20)
  return rows.map(({ table, key, characters, most }) => {
    const tooLarge = characters > most ? `, more than the ${number(most)} of its table` : ''
    return `Largest row      ${table}/${key[1]}: ${number(characters)} characters${tooLarge}`
  })
}

const asMessage = (error: unknown): string => {
  if (error instanceof WaymarkError) return error.message
  throw error
}

/** Known projects, and unknown folders. Folders of removed projects are deleted at the next start. */
async function projectsOf(dataDir: string, { context }: Accounts): Promise<readonly { id: number; isKnown: boolean }[]> {
  const given = (await context.store.read.counters.first({ name: 'project' }))?.value ?? 0
  const known = new Set((await context.store.read.projects.find({})).map(({ id }) => id))
  const folders = (await readdir(join(dataDir, 'projects')).catch(() => [])).filter((name) => /^[1-9]\d{0,8}$/.test(name)).map(Number)
  const strange = folders.filter((id) => !known.has(id) && id > given)
  return [...known, ...strange].sort((a, b) => a - b).map((id) => ({ id, isKnown: known.has(id) }))
}

const hasProblem = ({ plan }: ProjectInspection) =>
  plan.from === 'checkpoint' || plan.from === 'log' || plan.lost.length > 0 || plan.harmless.length > 0

/** The files of a project, and what opening it would do. */
async function describe(
  dataDir: string,
  id: number,
  { found, plan }: ProjectInspection,
  { isPartial, isOnServer }: { readonly isPartial: boolean; readonly isOnServer: boolean },
): Promise<readonly string[]> {
  const { store, log } = found
  const folder = join(dataDir, 'projects', String(id))
  const bytes = (await stat(found.file).catch(() => null))?.size ?? 0
  const events = 'events' in store ? `${number(store.events ?? 0)} events, ` : ''
  const waiting = log.lastSeq - plan.appliedSeq
  const storeText = isOnServer ? 'store on the server' : `store ${bytesText(bytes)}`
  const lines = [`${events}${storeText}, log ${bytesText(await sizeOf(join(folder, 'log')))}`]
  if (plan.from === 'store' && waiting > 0) lines.push(`${number(waiting)} records of the log are not applied yet; opening applies them`)
  if (plan.from === 'checkpoint')
    lines.push(`the store is readable only up to its last checkpoint (${reasonOf(store)}); opening replays the rest from the log`)
  if (plan.from === 'log') lines.push(`${reasonOf(store)}; opening rebuilds the store from the log`)
  for (const damage of plan.harmless) lines.push(recoveryText({ kind: 'log-damaged', ...damage }))
  for (const lost of plan.lost) lines.push(recoveryText({ kind: 'records-lost', ...lost }))
  if (plan.refusal) lines.push(isPartial ? 'opening with --recovery partial skips them' : `opening is refused: ${plan.refusal.message}`)
  for (const { kind, count } of ('warnings' in store && store.warnings) || []) lines.push(`warning ${kind}: ${number(count)}`)
  return lines
}

const reasonOf = (store: ProjectInspection['found']['store']) => ('reason' in store ? store.reason : 'the store is missing')

function sayImports(states: readonly ImportState[], { out }: Output): void {
  for (const state of states) out(`Imports          project ${state.project} (${state.name}): ${importsText(state)}`)
}

const number = (value: number) => value.toLocaleString('en')
function importsText(state: ImportState): string {
  const { is_approved: isApproved, total_events: total, events_per_minute: speed } = state
  const bounds = [total !== null && `${number(total)} events`, speed !== null && `${number(speed)} a minute`].filter(Boolean).join(', ')
  const by = state.approved_by === null ? '' : ` by ${state.approved_by} on ${state.approved_at?.slice(0, 10)}`
  const counted = bounds === '' ? '' : `; ${number(state.imported_events)} imported so far`
  if (isApproved) return `approved${by}, ${bounds || 'unlimited'}${counted}`
  return `not approved, so limited to ${bounds}${counted}; raise the limit with \`waymark imports approve --project ${state.project}\``
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
