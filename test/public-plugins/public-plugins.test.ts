import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type PluginServer, pluginServer } from '../plugins/delivery/server.ts'
import { openMirror, packagesFolder } from './mirror.ts'

// Plugins that others have published, installed from an npm archive as an operator's mirror serves it, and run unmodified.

const isInstalled = existsSync(packagesFolder)
if (!isInstalled) console.warn('\n  SKIPPED: published plugins. `npm run setup:plugins` installs them.\n')

interface Case {
  readonly name: string
  readonly config: Record<string, unknown>
  readonly sent: Record<string, unknown>
  /** What its stored event has in addition. */
  readonly added: Record<string, unknown>
}

const cases: readonly Case[] = [
  {
    name: '@posthog/semver-flattener-plugin',
    config: { properties: 'app_version, lib_version' },
    sent: { app_version: '22.7.11', lib_version: '1.2.3-beta.1+exp', other: '1.0.0' },
    added: {
      app_version__major: 22,
      app_version__minor: 7,
      app_version__patch: 11,
      lib_version__major: 1,
      lib_version__minor: 2,
      lib_version__patch: 3,
      lib_version__preRelease: 'beta.1',
      lib_version__build: 'exp',
    },
  },
]

/** Its properties as they are stored, without those that the server adds. */
const storedProperties = async ({ project }: PluginServer): Promise<Record<string, unknown>> => {
  const { results } = await project.query({ kind: 'SqlLikeQuery', query: 'select properties from events' })
  const [[text]] = results as [[string]]
  return JSON.parse(text) as Record<string, unknown>
}

describe.skipIf(!isInstalled)('published plugins', () => {
  test.each(cases)('$name', async ({ name, config, sent, added }) => {
    const mirror = await openMirror()
    const server = await pluginServer({ plugins: { hosts: { npm: mirror.url } } })
    try {
      const plugins = '/api/organizations/@current/plugins/'
      const installed = await server.call('POST', plugins, { url: `https://www.npmjs.com/package/${name}` })
      expect(installed, JSON.stringify(installed.body)).toMatchObject({ status: 201, body: { plugin_type: 'custom' } })
      expect(mirror.requests).toHaveLength(2)
      const configs = `/api/projects/${server.project.id}/plugin_configs/`
      const enabled = await server.call('POST', configs, { plugin: installed.body.id, enabled: true, config })
      expect(enabled, JSON.stringify(enabled.body)).toMatchObject({ status: 201 })
      await server.project.ingest({ batch: [{ event: 'opened', distinct_id: 'u1', properties: sent }] })
      const stored = await storedProperties(server)
      expect(stored).toMatchObject({ ...sent, ...added, $plugins_failed: [] })
      expect(stored.$plugins_succeeded).toEqual([expect.stringContaining(`(${enabled.body.id})`)])
    } finally {
      await server.close()
      await mirror.close()
    }
  })
})
