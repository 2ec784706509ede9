import { CallMemory } from '../../../src/service/plugins/call-memory.ts'
import { ManagedPlugin } from '../../../src/service/plugins/managed-plugin.ts'
import { createMemoryCache } from '../../../src/service/plugins/memory-cache.ts'
import type { ScheduledTask } from '../../../src/service/plugins/runtime.ts'
import { createSandbox } from '../../../src/service/plugins/sandbox/sandbox.ts'
import { createServerCalls } from '../../../src/service/plugins/server-calls.ts'
import { answerOf, createWorld, pluginOf } from './world.ts'

// Runs one case of the plugin runtime: some code, what it is called with, and everything that it did.

export interface RuntimeCase {
  readonly code: string
  readonly event: Readonly<Record<string, unknown>> | null
  readonly method: string
  readonly pluginId: number
  readonly pluginName: string | null
  /** What the function is called with after the event, call by call. */
  readonly again?: readonly RuntimeCase['event'][]
}

export interface RuntimeResult {
  /** What the function returned; null for nothing. */
  readonly returned: unknown
  /** Of every call. */
  readonly calls: readonly unknown[]
  /** The event after all transformations. */
  readonly pipeline: unknown
  readonly fetches: readonly string[]
  readonly captured: readonly unknown[]
  readonly capabilities: unknown
  readonly label: string
  readonly config: Readonly<Record<string, unknown>>
}

const halfASecond = 'https://half-a-second.test/'

export async function runRuntimeCase({ code, event, method, pluginId, pluginName, again = [] }: RuntimeCase): Promise<RuntimeResult> {
  const sandbox = createSandbox({ threads: 1 })
  const world = createWorld({
    sandbox,
    respond: async ({ url }) => {
      if (url === halfASecond) await new Promise((resolve) => setTimeout(resolve, 500))
      return answerOf('{}')
    },
  })
  const config = pluginOf(code.replaceAll('<half a second>', `fetch('${halfASecond}')`), 39, {
    plugin: { id: pluginId, name: pluginName, files: { 'index.ts': code.replaceAll('<half a second>', `fetch('${halfASecond}')`) } },
    config: { localhostIP: '94.224.212.175' },
  })
  try {
    const plugin = new ManagedPlugin(
      config,
      sandbox,
      createServerCalls(world.ports, createMemoryCache(world.ports.clock), new CallMemory()),
      world.ports,
    )
    const calls: unknown[] = []
    for (const given of [event, ...again]) {
      const [result] = await plugin.call(method as ScheduledTask, [given === null ? null : JSON.stringify(given)])
      calls.push(result?.kind === 'value' && result.json !== null ? JSON.parse(result.json) : null)
    }
    const fetches = world.fetched.map(({ url }) => url).filter((url) => url !== halfASecond)
    const captured = [...world.captured]
    const capabilities = await plugin.capabilities()
    await world.runtime.use(1, [config])
    const [pipeline] = event === null ? [null] : await world.runtime.transform(1, [event])
    return { returned: calls[0], calls, pipeline, fetches, captured, capabilities, label: plugin.label, config: config.config }
  } finally {
    await world.runtime.close()
    await sandbox.close()
  }
}
