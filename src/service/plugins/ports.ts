import type { LookupFunction } from 'node:net'

// What plugins need of others: addresses that may be called, storage, a log, a way to capture events.

/** The value of a JSON text. */
export type JsonObject = Readonly<Record<string, unknown>>

export interface Attachment {
  readonly content_type: string
  readonly file_name: string
  readonly contents: Uint8Array
}

/** A plugin as it was installed: its files by name. */
export interface PluginCode {
  readonly id: number
  readonly name: string | null
  readonly files: Readonly<Record<string, string>>
  /** The file to start with. Without it: `main` of plugin.json, then index.ts, then index.js. */
  readonly main?: string
  /** Absent: the code has not been loaded before. */
  readonly capabilities?: Capabilities
}

/** A plugin as one project uses it. */
export interface PluginConfig {
  readonly id: number
  readonly projectId: number
  readonly plugin: PluginCode
  /** Transformations run by `order`, then by plugin. */
  readonly order: number
  readonly config: JsonObject
  readonly attachments: Readonly<Record<string, Attachment>>
}

export interface Capabilities {
  readonly methods: readonly string[]
  readonly scheduled_tasks: readonly string[]
  readonly jobs: readonly string[]
}

export const logLevels = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR'] as const
export type LogLevel = (typeof logLevels)[number]
/** `SYSTEM`: about the plugin. `CONSOLE`: written by it. */
export type LogSource = 'SYSTEM' | 'CONSOLE'

export interface PluginLogEntry {
  readonly projectId: number
  readonly pluginId: number
  readonly configId: number
  readonly source: LogSource
  readonly level: LogLevel
  readonly message: string
}

export interface CapturedEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string | null
  readonly properties: JsonObject
}

/** A request that was sent to the webhook address of a plugin config. */
export interface ReceivedRequest {
  readonly method: string
  /** By their names in lower case. Anyone who knows the address can send any. */
  readonly headers: Readonly<Record<string, string>>
  /** The query, without the question mark. */
  readonly search: string
  /** The body; in base64 if it is not UTF-8. */
  readonly text?: string
  readonly base64?: string
}

export interface OutboundRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}
export interface OutboundResponse {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}
/** A request to a server outside. Refuses addresses that this server does not connect to, after redirects too. `hold`: waits for the memory of a long response. */
export type Outbound = (request: OutboundRequest, signal: AbortSignal, hold?: (bytes: number) => Promise<void>) => Promise<OutboundResponse>

/** Which addresses may be connected to: the check and the connection use the same lookup. */
export interface Reachable {
  readonly lookup: LookupFunction
  mustBeAllowed(host: string): void
}

/** What outlives a restart: one JSON text per key, apart for each scope. */
export interface PluginStorage {
  get(scope: string, key: string): Promise<string | null>
  /** Null removes the key. */
  set(scope: string, key: string, json: string | null): Promise<void>
  /** Sets a key that has the text `before` (null: that is missing). False: it has another one, which somebody has set meanwhile. */
  replace(scope: string, key: string, before: string | null, json: string): Promise<boolean>
  /** What a scope has: its keys, and the characters of keys and values. */
  size(scope: string): Promise<{ readonly keys: number; readonly characters: number }>
  /** All keys of a scope with their values, in the order in which they were added. */
  list(scope: string): Promise<readonly (readonly [key: string, json: string])[]>
}

/** Where lines of several servers are, by the number of a config. */
export interface LogLines {
  add(lines: readonly (readonly [config: number, line: string])[]): Promise<void>
  /** The newest ones, the oldest of them first. */
  of(config: number): Promise<readonly string[]>
}

export interface PluginJob {
  readonly id: string
  readonly projectId: number
  readonly configId: number
  readonly name: string
  readonly payload: unknown
  /** ISO 8601. */
  readonly at: string
}
export interface PluginJobs {
  add(job: Omit<PluginJob, 'id'>): Promise<void>
}

export interface PluginPorts {
  readonly outbound: Outbound
  readonly storage: PluginStorage
  readonly jobs: PluginJobs
  capture(projectId: number, event: CapturedEvent): Promise<void>
  log(entry: PluginLogEntry): void
  /** A city record of a database of addresses. Null: the address is unknown. */
  locate(ip: string): Promise<JsonObject | null>
  /** A call of this server's own API on behalf of the project. */
  api?(projectId: number, request: OutboundRequest): Promise<OutboundResponse>
  /** The config must not be used again until it changes. */
  disabled?(config: PluginConfig, reason: string): void
  /** A fault of the server, not of a plugin. */
  report?(error: unknown): void
  clock(): Date
}
