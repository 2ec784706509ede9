import { createMemoryStorage } from '../../../src/service/plugins/memory-storage.ts'
import type {
  CapturedEvent,
  JsonObject,
  OutboundRequest,
  OutboundResponse,
  PluginConfig,
  PluginJob,
  PluginLogEntry,
  PluginPorts,
} from '../../../src/service/plugins/ports.ts'
import { createPluginRuntime, type PluginRuntime } from '../../../src/service/plugins/runtime.ts'
import { createSandbox, type Sandbox } from '../../../src/service/plugins/sandbox/sandbox.ts'

// A runtime of plugins with everything around it in memory, and what the plugins did to it.

export interface World {
  readonly runtime: PluginRuntime
  readonly ports: PluginPorts
  readonly logs: PluginLogEntry[]
  readonly captured: (CapturedEvent & { readonly projectId: number })[]
  readonly fetched: OutboundRequest[]
  readonly jobs: Omit<PluginJob, 'id'>[]
  readonly disabled: string[]
  now: Date
}

export const answerOf = (text: string, status = 200): OutboundResponse => ({
  url: 'https://example.com/',
  status,
  statusText: '',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(text),
})

/** Threads of a test file; starting one takes half a second from the sources. */
let shared: Sandbox | null = null
export const sharedSandbox = (): Sandbox => {
  shared ??= createSandbox({ threads: 2 })
  return shared
}
export const closeSharedSandbox = async (): Promise<void> => {
  await shared?.close()
  shared = null
}

export interface WorldOptions {
  readonly sandbox?: Sandbox
  readonly ports?: Partial<PluginPorts>
  readonly respond?: (request: OutboundRequest) => OutboundResponse | Promise<OutboundResponse>
}

export function createWorld({ ports: given, respond = () => answerOf('{}'), sandbox = sharedSandbox() }: WorldOptions = {}): World {
  const [logs, captured, fetched, jobs, disabled]: [PluginLogEntry[], World['captured'], OutboundRequest[], World['jobs'], string[]] = [
    [],
    [],
    [],
    [],
    [],
  ]
  const ports: PluginPorts = {
    outbound: async (request) => {
      fetched.push(request)
      return respond(request)
    },
    storage: createMemoryStorage(),
    jobs: { add: async (job) => void jobs.push(job) },
    capture: async (projectId, event) => void captured.push({ ...event, projectId }),
    log: (entry) => void logs.push(entry),
    locate: async () => null,
    disabled: (_, reason) => void disabled.push(reason),
    clock: () => world.now,
    ...given,
  }
  const world: World = {
    runtime: createPluginRuntime(ports, sandbox),
    ports,
    logs,
    captured,
    fetched,
    jobs,
    disabled,
    now: new Date('2026-01-05T10:00:00Z'),
  }
  return world
}

export const pluginOf = (
  code: string,
  id = 1,
  change: Partial<PluginConfig> & { readonly name?: string | null; readonly file?: string } = {},
): PluginConfig => {
  const { name = `plugin ${id}`, file = 'index.js', ...rest } = change
  return { id, projectId: 1, plugin: { id, name, files: { [file]: code } }, order: id, config: {}, attachments: {}, ...rest }
}

export const eventOf = (properties: JsonObject = {}, rest: JsonObject = {}): JsonObject => ({
  uuid: '01900000-0000-7000-8000-000000000001',
  event: '$pageview',
  distinct_id: 'u1',
  team_id: 1,
  properties,
  ...rest,
})
