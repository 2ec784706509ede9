import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type PluginServer, pluginServer } from '../service/plugins/delivery/server.ts'
import { openMirror, packagesFolder } from './mirror.ts'

// Plugins that others have published, installed from an npm archive as an operator's mirror serves it, and run unmodified.

const isInstalled = existsSync(packagesFolder)
if (!isInstalled) console.warn('\n  SKIPPED: published plugins. `npm run setup:plugins` installs them.\n')

interface Case {
  readonly name: string
  readonly config: Record<string, unknown>
  /** The event as it is sent: its name and its properties. */
  readonly sent: readonly [event: string, properties: Record<string, unknown>]
  /** Parts of the event as it is stored. */
  readonly stored: readonly [event: string, properties: Record<string, unknown>]
  /** Properties that it does not have any more. */
  readonly without?: readonly string[]
}

/** A database with a few addresses, which a plugin brings along for its tests. */
const geoip = join(packagesFolder, '@posthog/geoip-plugin/GeoLite2-City-Test.mmdb')

const cases: readonly Case[] = [
  {
    name: '@posthog/semver-flattener-plugin',
    config: { properties: 'app_version, lib_version' },
    sent: ['opened', { app_version: '22.7.11', lib_version: '1.2.3-beta.1+exp', other: '1.0.0' }],
    stored: [
      'opened',
      {
        other: '1.0.0',
        app_version__major: 22,
        app_version__minor: 7,
        app_version__patch: 11,
        lib_version__major: 1,
        lib_version__minor: 2,
        lib_version__patch: 3,
        lib_version__preRelease: 'beta.1',
        lib_version__build: 'exp',
      },
    ],
  },
  {
    name: '@posthog/property-filter-plugin',
    config: { properties: 'email,cart.card' },
    sent: ['paid', { email: 'ada@example.com', cart: { card: '4242', total: 12 }, plan: 'pro' }],
    stored: ['paid', { plan: 'pro', cart: { total: 12 } }],
    without: ['email', 'cart.card'],
  },
  {
    name: '@posthog/taxonomy-plugin',
    config: { defaultNamingConvention: 'snake_case' },
    sent: ['articleOpened', { plan: 'pro' }],
    stored: ['article_opened', { plan: 'pro' }],
  },
  {
    name: '@posthog/geoip-plugin',
    config: {},
    sent: ['opened', { $ip: '89.160.20.112' }],
    stored: ['opened', { $geoip_city_name: 'Linköping', $geoip_country_code: 'SE', $geoip_continent_name: 'Europe' }],
  },
]

const storedEvent = async ({ project }: PluginServer): Promise<readonly [string, Record<string, unknown>]> => {
  const { results } = await project.query({ kind: 'SqlLikeQuery', query: 'select event, properties from events' })
  const [[event, text]] = results as [[string, string]]
  return [event, JSON.parse(text)]
}

describe.skipIf(!isInstalled)('published plugins', () => {
  test.each(cases)('$name', async ({ name: plugin, config, sent: [event, properties], stored, without = [] }) => {
    const mirror = await openMirror()
    const server = await pluginServer({ plugins: { hosts: { npm: mirror.url }, geoip } })
    try {
      const plugins = '/api/organizations/@current/plugins/'
      const installed = await server.call('POST', plugins, { url: `https://www.npmjs.com/package/${plugin}` })
      expect(installed, JSON.stringify(installed.body)).toMatchObject({ status: 201, body: { plugin_type: 'custom' } })
      expect(mirror.requests).toHaveLength(2)
      const configs = `/api/projects/${server.project.id}/plugin_configs/`
      const enabled = await server.call('POST', configs, { plugin: installed.body.id, enabled: true, config })
      expect(enabled, JSON.stringify(enabled.body)).toMatchObject({ status: 201 })
      await server.project.ingest({ batch: [{ event, distinct_id: 'u1', properties }] })
      const [name, found] = await storedEvent(server)
      expect([name, found]).toMatchObject([stored[0], { ...stored[1], $plugins_failed: [] }])
      for (const property of without) expect(found).not.toHaveProperty(property)
      expect(found.$plugins_succeeded).toEqual([expect.stringContaining(`(${enabled.body.id})`)])
    } finally {
      await server.close()
      await mirror.close()
    }
  })
})
