import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type PluginServer, pluginServer } from './server.ts'
import { type Sink, startSink } from './sink.ts'

/** Sends each event, as most plugins do. */
export const sender = `
export async function onEvent(event, { config }) {
  let response
  try {
    response = await fetch(config.url, { method: 'POST', body: JSON.stringify(event) })
  } catch (error) {
    throw new RetryError(error.message)
  }
  if (response.status >= 500) throw new RetryError('status ' + response.status)
  if (!response.ok) throw new Error('status ' + response.status)
}`

export const namesOf = (bodies: readonly Record<string, unknown>[]) => bodies.map(({ event }) => event as string).sort()

export interface Sending {
  whole: PluginServer
  /** With a project of this test. */
  server: PluginServer
  sink: Sink
  failed(configId: number): Promise<Record<string, unknown>[]>
  bySource(): Promise<number>
  byWebhook(): Promise<number>
}

/** A server for the tests of a file, a project and a destination for each. */
export function withSending(): Sending {
  const held = {
    failed: async (configId) => (await held.server.call('GET', `${held.server.configPath(configId)}failed_deliveries/`)).body.results,
    bySource: () => held.server.use({ 'index.ts': sender }, { url: held.sink.url }),
    byWebhook: () => held.server.useBundled('Webhook', { url: held.sink.url }),
  } as Sending
  beforeAll(async () => {
    held.whole = await pluginServer()
  })
  beforeEach(async () => {
    held.server = held.whole.of(await held.whole.waymark.createProject({ name: 'Shop' }))
    held.sink = await startSink()
  })
  afterEach(() => held.sink.close())
  afterAll(() => held.whole.close())
  return held
}
