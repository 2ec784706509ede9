import { expect } from 'vitest'
import { createHandler } from '../../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../../../src/engine.ts'
import type { LocalProject } from '../../../../src/project.ts'
import { bundledPlugins } from '../../../../src/service/plugins/bundled/registry.ts'

// A whole server with plugins, used over its API. Its clock can be put forward, so that no test waits for a retry.

type Body = Record<string, unknown>

export interface PluginServer {
  readonly waymark: LocalWaymark
  readonly project: LocalProject
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: any }>
  /** Installs a plugin from source and enables it. Returns the id of the config. */
  use(files: Readonly<Record<string, string>>, config?: Body): Promise<number>
  useBundled(name: string, config: Body): Promise<number>
  configPath(configId: number): string
  send(count: number): Promise<string[]>
  /** Lets the time pass until failed deliveries are due. */
  later(minutes: number): void
  /** When a config has come to the end of the log. */
  delivered(configId: number): Promise<void>
  /** The same server for another project. */
  of(project: LocalProject): PluginServer
  close(): Promise<void>
}

export async function pluginServer(options: Partial<OpenOptions> = {}): Promise<PluginServer> {
  let ahead = 0
  const clock = () => new Date(Date.now() + ahead)
  const waymark = await open({
    dataDir: ':memory:',
    threads: 1,
    clock,
    ...options,
    plugins: { allowsPrivateAddresses: true, allowsPrivateRequests: true, ...options.plugins },
  })
  const { organization, project: first } = await waymark.accounts.firstStart({ makesKey: false })
  const { key } = await waymark.createPersonalKey({ label: 'test', scopes: ['*'] })
  const handler = createHandler(waymark, { limits: () => ({ api: [], query: [], draft: [] }) })
  const plugins = `/api/organizations/${organization.id}/plugins/`

  const forProject = (project: LocalProject): PluginServer => {
    let sent = 0
    const configs = `/api/projects/${project.id}/plugin_configs/`
    const server: PluginServer = {
      waymark,
      project,
      async call(method, path, body) {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const request = new Request(`http://localhost${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        const response = await handler(request)
        const text = await response.text()
        return { status: response.status, body: text === '' ? null : JSON.parse(text) }
      },
      async use(files, config = {}) {
        const made = await server.call('POST', plugins, { plugin_type: 'source', name: 'Plugin' })
        const written = await server.call('PATCH', `${plugins}${made.body.id}/update_source/`, files)
        expect(written, JSON.stringify(written.body)).toMatchObject({ status: 200 })
        const enabled = await server.call('POST', configs, { plugin: made.body.id, enabled: true, config })
        expect(enabled, JSON.stringify(enabled.body)).toMatchObject({ status: 201 })
        return enabled.body.id
      },
      useBundled(name, config) {
        const { code, config_schema } = bundledPlugins.find((one) => one.name === name)!
        return server.use({ 'index.ts': code, 'plugin.json': JSON.stringify({ name, config: config_schema }) }, config)
      },
      configPath: (configId) => `${configs}${configId}/`,
      async send(count) {
        const names = Array.from({ length: count }, () => `event ${sent++}`)
        const batch = names.map((event, i) => ({
          event,
          distinct_id: `u${i % 3}`,
          properties: { i, $set: { email: `u${i % 3}@example.com` } },
        }))
        await project.ingest({ batch })
        return names
      },
      later(minutes) {
        ahead += minutes * 60_000
        const { deliveries } = waymark.plugins
        void waymark.accounts.context.store.read.plugin_deliveries
          .find({})
          .then((all) => deliveries.wake(all.map(({ plugin_config_id }) => plugin_config_id)))
      },
      async delivered(configId) {
        for (;;) {
          const record = await waymark.accounts.context.store.read.plugin_deliveries.first({ plugin_config_id: configId })
          if (record && (record.position as number) >= (await waymark.project(record.project_id)).position) return
          await new Promise(setImmediate)
        }
      },
      of: forProject,
      close: () => waymark.close(),
    }
    return server
  }
  return forProject(await waymark.project(first.id))
}
