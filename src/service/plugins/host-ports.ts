import type { LookupFunction } from 'node:net'

// What the plugins of organizations and projects need of the parts that run them.

/** Names of functions, tasks and jobs that the code of a plugin has. Empty: the code has not been loaded. */
export interface Capabilities {
  readonly methods?: readonly string[]
  readonly scheduled_tasks?: readonly string[]
  readonly jobs?: readonly string[]
}

/** The texts of a plugin by file name: `index.ts`, `plugin.json`, `frontend.tsx`, `site.ts`. */
export type PluginSource = Readonly<Record<string, string>>

const browserFiles = ['frontend.tsx', 'site.ts'] as const
export type BrowserFile = (typeof browserFiles)[number]
export const isBrowserFile = (name: string): name is BrowserFile => browserFiles.some((one) => one === name)

/** A file for browsers, compiled. */
export interface Transpiled {
  readonly transpiled: string | null
  readonly status: 'TRANSPILED' | 'ERROR'
  readonly error: string | null
}

export interface PluginLoader {
  transpile(name: BrowserFile, source: string): Promise<Transpiled>
  /** Loads the code, without running a plugin. `{}` for a plugin without code for the server. */
  capabilities(source: PluginSource): Promise<Capabilities>
}

export interface PluginJob {
  readonly type: string
  readonly operation: string
  readonly job_id: string
  readonly payload: Readonly<Record<string, unknown>>
}

export interface PluginRuntime {
  queueJob(projectId: number, configId: number, job: PluginJob): Promise<void>
  /** Code, settings or the order of plugins in these projects changed, or plugins were removed. Events that arrive afterwards pass the plugins as they are now. */
  changed(projectIds: readonly number[]): Promise<void>
  /** Why an enabled plugin is not used at the moment. */
  problem(configId: number): string | null
}

export const logSources = ['SYSTEM', 'PLUGIN', 'CONSOLE'] as const
export const logTypes = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR'] as const

export interface PluginLogEntry {
  readonly id: string
  readonly team_id: number
  readonly plugin_id: number
  readonly plugin_config_id: number
  readonly timestamp: Date
  readonly source: (typeof logSources)[number]
  readonly type: (typeof logTypes)[number]
  readonly message: string
  readonly instance_id: string
}

export interface PluginLogFilter {
  readonly after: Date | null
  readonly before: Date | null
  readonly search: string
  /** Empty: all. */
  readonly types: readonly string[]
}

export interface PluginLogs {
  /** Newest first. */
  find(configId: number, filter: PluginLogFilter): Promise<readonly PluginLogEntry[]>
}

/** Which addresses this server connects to. */
export interface PluginNetwork {
  readonly lookup: LookupFunction
  mustBeAllowed(host: string): void
}
