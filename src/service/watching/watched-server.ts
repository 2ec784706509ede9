import type { BackupRow, PluginConfig } from '../accounts/records.ts'

/** What the watch asks of others. */
export interface WatchedServer {
  /** The backups that this process makes by itself. Null: none. */
  backups(): Promise<Omit<BackupRow, 'id'> | null>
  /** Of the disk of the data directory. Null: nothing is on a disk. */
  disk(): Promise<{ readonly freeBytes: number; readonly minFreeBytes: number } | null>
  /** Events of clients today, of projects that have a limit of events a day. */
  quotas(): Promise<readonly { readonly project: number; readonly taken: number; readonly limit: number }[]>
  /** Why a plugin is not used. Null: it is. */
  pluginProblem(config: PluginConfig): string | null
}
