import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createAdmission } from './engine/admission/admission.ts'
import type { Backends } from './engine/backend/backend.ts'
import { sharedBackends } from './engine/backend/shared/shared-backends.ts'
import type { KeptAnswers } from './engine/execution/ports.ts'
import { type ClusterFigures, type ClusterReach, ClusterWatch } from './engine/storage/cluster-watch.ts'
import type { Aside } from './engine/storage/files/attempts-file.ts'
import type { Instance } from './engine/storage/instance.ts'
import type { EngineChoice } from './engine/storage/open-stores.ts'
import { answersInPostgres } from './engine/storage/postgres/answers.ts'
import { cancelsThrough, type SharedCancels } from './engine/storage/postgres/cancels.ts'
import { connectToPostgres } from './engine/storage/postgres/client.ts'
import { openPluginChanges, versionsInPostgres } from './engine/storage/postgres/plugin-changes.ts'
import { linesInPostgres, storageInPostgres, sweepPlugins } from './engine/storage/postgres/plugin-storage.ts'
import { openSharedSalts, type SharedSalts } from './engine/storage/postgres/salts.ts'
import { type SharedStates, statesInPostgres } from './engine/storage/postgres/states.ts'
import { prepareTables } from './engine/storage/postgres/tables.ts'
import { openSharedStores } from './engine/storage/shared-stores.ts'
import { WaymarkError } from './errors/errors.ts'
import { otherLimits } from './limits/limits.ts'
import type { Accounts } from './service/accounts/accounts.ts'
import type { AccountContext } from './service/accounts/context.ts'
import type { SecretBox } from './service/accounts/secrets/secret-box.ts'
import { lazySecretBox } from './service/accounts/secrets/secret-box.ts'
import { openSharedAccounts, prepareSharedAccounts } from './service/directory/shared-control.ts'
import type { SharedPlugins } from './service/plugins/plugin-host.ts'

// One of several servers on one PostgreSQL and one ClickHouse. Nothing that others must know is in the process or in its directory.

type AboutAccounts = Partial<Omit<AccountContext, 'store' | 'newId' | 'isShared'>>

interface Opening {
  /** For files of this process, in a folder of its own that is removed at the end. Default: the system's folder for temporary files. */
  readonly dataDir?: string | undefined
  readonly engine: EngineChoice
  readonly clock: () => Date
  /** How long the log keeps applied batches. */
  readonly logKeptMs: number
  /** Also while a directory is being moved there. */
  readonly isMove?: boolean | undefined
  report(error: unknown): void
}

export interface Cluster {
  readonly scratch: string
  readonly answers: KeptAnswers
  readonly salts: SharedSalts
  /** Counts of requests and attempts. */
  readonly states: SharedStates
  readonly cancels: SharedCancels
  readonly plugins: SharedPlugins
  accounts(about: AboutAccounts): Promise<Accounts>
  /** `adopt`: opens projects that nobody applies. */
  backends(instance: Instance, adopt: (projects: readonly number[]) => void): Promise<Backends>
  /** Null before the backends are open. */
  reach(): Promise<ClusterReach | null>
  figures(): Promise<ClusterFigures | null>
  /** Records that ended each server which applied them. */
  aside(): Promise<readonly Aside[]>
  close(): Promise<void>
}

export async function openCluster({ dataDir, engine, clock, logKeptMs, isMove, report }: Opening): Promise<Cluster> {
  const { clickhouse, postgres: given } = engine
  const postgres = await connectToPostgres(typeof given === 'string' ? { url: given } : given!)
  const scratch = join(resolve(dataDir ?? tmpdir()), `waymark-${process.pid}-${randomUUID()}`)
  const holder = `${hostname()} ${process.pid} ${randomUUID()}`
  let watch: ClusterWatch | null = null
  const close = async () => {
    await postgres.close().catch(report)
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    const clusterId = await prepareTables(postgres, (on) => prepareSharedAccounts(on, postgres.schema), { isMove })
    await mkdir(scratch, { recursive: true, mode: 0o700 })
    const cancels = cancelsThrough(postgres)
    const changes = await openPluginChanges(versionsInPostgres(postgres, holder), report)
    return {
      scratch,
      answers: answersInPostgres(postgres),
      salts: await openSharedSalts(postgres, clock),
      states: statesInPostgres(postgres),
      cancels,
      plugins: {
        changes,
        storage: storageInPostgres(postgres),
        lines: linesInPostgres(postgres, otherLimits.pluginLines.number),
        sweep: () => sweepPlugins(postgres),
      },
      accounts: (about) => openSharedAccounts(postgres, about),
      async backends(instance, adopt) {
        const { memoryLimit } = instance
        const stores = await openSharedStores({
          postgres,
          clusterId,
          clickhouse,
          scratch,
          memoryLimit,
          logKeptMs,
          noteBlock: (written) => watch?.noteBlock(written),
        })
        watch = new ClusterWatch({ postgres, client: stores.client, holder })
        return sharedBackends({
          stores,
          postgres,
          plugins: changes,
          cancels,
          holder,
          admission: createAdmission(instance.concurrency),
          instance,
          report,
          adopt,
        })
      },
      reach: async () => watch?.reach() ?? null,
      figures: async () => watch?.figures() ?? null,
      aside: async () => watch?.aside() ?? [],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A key that only one server knows would seal what the others cannot open. */
export const keyOfCluster = (): SecretBox =>
  lazySecretBox(() => {
    const message =
      'Secrets need a key that is the same at every server: set WAYMARK_SECRET_KEY, or the option exports.secretKeys, everywhere.'
    throw new WaymarkError('command-failed', { message })
  })
