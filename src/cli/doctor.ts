import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { defaultSettings } from '../accounts/context.ts'
import { open, type Waymark } from '../engine.ts'
import { WaymarkError } from '../errors/errors.ts'
import { recoveryText } from '../storage/recovery-report.ts'
import type { Command, Output } from './command.ts'
import { dataOption } from './directory.ts'
import { errands, type ImportState } from './errands.ts'
import { runningServer } from './running-server.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks a data directory, its logs and its stores, and says what it found.',
  options: { data: dataOption, hosted: { summary: 'say what holds for imports when it is served with --hosted' } },
  run: async (values, output) => {
    const dataDir = values.required('data')
    if (!(await stat(dataDir).catch(() => null))?.isDirectory())
      throw new WaymarkError('command-failed', { message: `${dataDir} is no directory.` })
    const { bavail, bsize } = await statfs(dataDir)
    output.out(`Directory        ${dataDir}, ${bytesText(bavail * bsize)} free`)
    const server = await runningServer(dataDir)
    if (server) {
      output.out(`Server           ${server.url} owns it and answers; logs and stores are checked when no server runs`)
      sayImports(await server.do('imports', {}), output)
      return
    }
    const settings = () => ({ ...defaultSettings, isHosted: values.isOn('hosted') })
    const waymark = await open({ dataDir, recovery: 'partial', surroundings: { settings } })
    try {
      const problems = await checkProjects(waymark, dataDir, output)
      sayImports(await errands.imports(waymark, {}), output)
      if (problems > 0)
        throw new WaymarkError('command-failed', { message: `${problems} ${problems === 1 ? 'thing needs' : 'things need'} attention.` })
    } finally {
      await waymark.close()
    }
    output.out('All is well.')
  },
}

function sayImports(states: readonly ImportState[], { out }: Output): void {
  for (const state of states) out(`Imports          project ${state.project} (${state.name}): ${importsText(state)}`)
}

const number = (value: number) => value.toLocaleString('en')

function importsText(state: ImportState): string {
  const { is_approved: isApproved, total_events: total, events_per_minute: speed } = state
  const bounds = [total !== null && `${number(total)} events`, speed !== null && `${number(speed)} a minute`].filter(Boolean).join(', ')
  const by = state.approved_by === null ? '' : ` by ${state.approved_by} on ${state.approved_at?.slice(0, 10)}`
  const counted = bounds === '' ? '' : `; ${number(state.imported_events)} came in`
  if (isApproved) return `approved${by}, ${bounds || 'unlimited'}${counted}`
  return `not approved, so at most ${bounds}${counted}; \`waymark imports approve --project ${state.project}\` approves more`
}

async function checkProjects(waymark: Waymark, dataDir: string, { out }: Output): Promise<number> {
  let problems = 0
  const folders = await readdir(join(dataDir, 'projects')).catch(() => [])
  for (const name of folders.filter((folder) => /^\d+$/.test(folder)).sort((a, b) => Number(a) - Number(b))) {
    try {
      const project = await waymark.project(Number(name))
      const [[events] = [0]] = await count(project)
      const log = await sizeOf(join(dataDir, 'projects', name, 'log'))
      const store = (await stat(join(dataDir, 'projects', name, 'store.duckdb')).catch(() => null))?.size ?? 0
      out(`Project ${name.padEnd(8)} ${Number(events).toLocaleString('en')} events, store ${bytesText(store)}, log ${bytesText(log)}`)
      for (const report of project.recoveryReports()) {
        problems++
        out(`  ${recoveryText(report)}`)
      }
      for (const { type, count: times } of project.warnings()) out(`  warning ${type}: ${times.toLocaleString('en')}`)
    } catch (error) {
      problems++
      out(`Project ${name.padEnd(8)} ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return problems
}

const count = async (project: { query(query: unknown): Promise<object> }): Promise<readonly (readonly unknown[])[]> =>
  ((await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })) as { results: unknown[][] }).results

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
