import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { recoveryText } from '../../engine/storage/recovery/recovery-report.ts'
import { type OpenOptions, open } from '../../engine.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { PluginOptions } from '../../service/plugins/open-plugins.ts'
import {
  type DirectoryCommandName,
  type DirectoryDownload,
  type DownloadInput,
  directoryCommands,
  downloadFrom,
  type Input,
  type Outcome,
} from '../http/commands/directory-commands.ts'
import type { PreparedTarget } from '../library/import-threads.ts'
import { type Output, type Values, wrongUsage } from './command.ts'
import { attachOf } from './options/attach.ts'
import { clickhouseOption, engineOf, postgresOption } from './options/clickhouse-option.ts'
import { runningServer } from './running-server.ts'

export const dataOption = { value: 'DIR', summary: 'the data directory', default: './data' } as const
/** Options of commands that work in a directory. */
export const directoryOptions = { data: dataOption, clickhouse: clickhouseOption, postgres: postgresOption } as const
/** Also with a server: the operator limits the memory of a command. */
export const memoryOption = {
  value: 'SIZE',
  summary: "memory limit of the store, such as 512MB; default: 40 % of the container's memory, at most 2 GiB",
} as const
export const recoveryOption = {
  value: 'HOW',
  summary: 'complete: refuse a project that has lost records; partial: open it without them and log which ones',
  default: 'complete',
} as const
export const geoipOption = {
  value: 'FILE',
  summary: 'database of cities by address (MMDB), for the GeoIP plugin; default: addresses are unknown',
} as const
export const currencyRatesOption = {
  value: 'FILE',
  summary: 'exchange rates (JSON), or `sample` for fixed ones to try it out; default: amounts are not converted',
} as const
export const currencyRatesOf = (values: Values): Pick<OpenOptions, 'currencyRates'> => {
  const file = values.text('currency-rates')
  return file === undefined ? {} : { currencyRates: file === 'sample' ? file : resolve(file) }
}
/** Scheduled tasks and jobs of plugins are left to the server. */
export const pluginsOfCommand = (values: Values): PluginOptions => {
  const geoip = values.text('geoip')
  return { runs: false, ...(geoip !== undefined && { geoip }) }
}
export const projectOption = { value: 'ID', summary: 'ID of the project' } as const

export function projectId(values: Values): number {
  const text = values.required('project')
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrongUsage(`--project must be the ID of a project (a number), but got ${text}.`)
  return Number(text)
}

export function recoveryOf(values: Values): 'complete' | 'partial' {
  const text = values.required('recovery')
  if (text !== 'complete' && text !== 'partial') throw wrongUsage(`--recovery must be complete or partial, but got ${text}.`)
  return text
}

/** A data directory that is open for the length of one command. */
export interface Directory {
  do<N extends DirectoryCommandName>(name: N, input: Input<N>): Promise<Outcome<N>>
  download(input: DownloadInput, signal: AbortSignal): Promise<DirectoryDownload>
  /** For events that other threads have prepared. Absent: the directory is open in another process. */
  prepared?(project: number): Promise<PreparedTarget>
}

interface WorkOptions extends Pick<OpenOptions, 'memoryLimit' | 'recovery'> {
  /** Called with messages beside the command's output. */
  readonly err?: Output['err']
}

/** Runs work in an existing directory: through its server if one is running, else by opening it. */
export async function withDirectory<T>(
  values: Values,
  work: (directory: Directory) => Promise<T>,
  { err = () => undefined, ...options }: WorkOptions = {},
): Promise<T> {
  const dataDir = values.required('data')
  const engine = engineOf(values)
  // Servers that share a PostgreSQL own no directory: the command is one more of them for a moment.
  const isShared = engine?.postgres !== undefined
  if (!isShared) await mustBeDataDirectory(dataDir)
  const server = isShared ? null : await runningServer(dataDir)
  if (server) {
    if (values.text('currency-rates') !== undefined)
      err(`waymark: the server that owns ${dataDir} converts amounts by its own rates; --currency-rates is not used.`)
    if (values.all('attach').length > 0)
      err(`waymark: the server that owns ${dataDir} has its own tables beside the events; --attach is not used.`)
    return work(server)
  }
  const waymark = await open({
    ...(isShared ? {} : { dataDir }),
    engine,
    exports: { runs: false },
    notifications: { runs: false },
    plugins: pluginsOfCommand(values),
    ...currencyRatesOf(values),
    ...attachOf(values),
    logRetention: { days: Number.POSITIVE_INFINITY }, // the server decides what it removes
    ...options,
    onRecovery: ({ project, ...notice }) => err(`waymark: project ${project}: ${recoveryText(notice)}`),
    // An error that the caller can fix ends the command anyway, and is reported there.
    onError: (error) => error instanceof WaymarkError || err(`waymark: ${error instanceof Error ? error.message : String(error)}`),
  })
  try {
    await waymark.attachedCopied()
    return await work({
      do: (name, input) => (directoryCommands[name] as (w: typeof waymark, i: unknown) => never)(waymark, input),
      download: (input, signal) => downloadFrom(waymark, input, signal),
      prepared: async (id) => (await import('../library/import-files.ts')).preparedFor(waymark, id),
    })
  } finally {
    await waymark.close()
  }
}

/** A misspelled name must not create a directory. */
export async function mustBeDataDirectory(dataDir: string): Promise<void> {
  if (await stat(join(dataDir, 'control.duckdb')).catch(() => null)) return
  throw new WaymarkError('command-failed', {
    message: `${dataDir} is not a data directory. \`waymark init --data ${dataDir}\` creates one.`,
  })
}
