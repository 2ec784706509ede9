import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AccountContext } from '../accounts/context.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Outside } from './destinations/destination.ts'
import type { ExportRows } from './ports.ts'
import { createScheduler, type Scheduler } from './running/scheduler.ts'
import { type BatchExports, createBatchExports } from './service.ts'

/** Options of `open()`. */
export interface ExportOptions {
  /** Whether this process executes the runs that are due. Default: true. */
  readonly runs?: boolean
  /** Where the destination LocalFiles writes. Default: `exports` in the data directory, and nowhere on a hosted server. */
  readonly folder?: string
  /** Keys for the secrets of destinations and plugins, each 32 random bytes in base64; the first encrypts, the others decrypt. Default: the file `secret.key`. */
  readonly secretKeys?: readonly string[]
  /** Whether destinations may be in private networks. Default: unless the server is hosted. Link-local addresses are never allowed. */
  readonly allowsPrivateAddresses?: boolean
}

export interface ExportHome {
  readonly context: AccountContext
  /** Null: nothing that is written there stays. */
  readonly dataDir: string | null
  readonly stagingFolder: string
  readonly box: SecretBox
  readonly options: ExportOptions
  readonly network: Pick<Outside, 'lookup' | 'mustBeAllowed'>
  rows(projectId: number): Promise<ExportRows | null>
  report(error: unknown): void
}

export interface OpenedExports {
  readonly service: BatchExports
  readonly scheduler: Scheduler
  readonly outside: Outside
  close(): Promise<void>
}

/** Most of their time is spent waiting for destinations; the engine decides how many statements it runs at once. */
const runsAtOnce = 4

export function openExports({ context, dataDir, stagingFolder, box, options, network, rows, report }: ExportHome): OpenedExports {
  const outside: Outside = {
    ...network,
    clock: context.clock,
    get localFolder() {
      if (options.folder !== undefined) return options.folder
      return dataDir === null || context.settings().isHosted ? null : join(dataDir, 'exports')
    },
  }
  const scheduler = createScheduler({
    context,
    box,
    outside,
    rows,
    stagingFolder,
    atOnce: runsAtOnce,
    report,
  })
  const service = createBatchExports({
    context,
    box,
    network: outside,
    async rows(projectId) {
      const found = await rows(projectId)
      if (!found) throw new TypeError(`Project ${projectId} does not exist`)
      return found
    },
    wake: () => scheduler.wake(),
    stop: (runIds) => scheduler.stop(runIds),
  })
  if (options.runs !== false) scheduler.begin()
  return {
    service,
    scheduler,
    outside,
    async close() {
      await scheduler.close()
      await rm(stagingFolder, { recursive: true, force: true })
    },
  }
}
