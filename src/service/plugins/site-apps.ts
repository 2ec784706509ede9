import { createHash } from 'node:crypto'
import { own } from '../../lib/own.ts'
import type { AccountStore, Plugin, PluginConfig } from '../accounts/records.ts'
import type { Json } from '../accounts/store.ts'
import { fieldsOf } from './config-fields.ts'
import { runningVersion, type VersionFile } from './versions.ts'

// Plugins with `site.ts`: scripts that the browser library loads into the pages of a project that has enabled them. Anyone can read them, so they get only
// settings that the plugin marks with `"site": true`, and no secrets.

export interface SiteApp {
  readonly id: number
  /** It contains a hash of the script: what is served there does not change. */
  readonly url: string
}

export interface SiteScript {
  readonly text: string
  /** False: the hash in the address is that of an older script. */
  readonly isCurrent: boolean
}

/** Also without a value that was a secret before the plugin called its field otherwise. */
function siteSettings(plugin: Pick<Plugin, 'config_schema'>, config: PluginConfig): Json {
  const secrets = config.secrets as Readonly<Record<string, Json>>
  const plain = config.config as Readonly<Record<string, Json>>
  const shown = fieldsOf(plugin.config_schema).filter(
    ({ key, isForSite, isSecret }) => isForSite && !isSecret && own(secrets, key) === undefined,
  )
  return Object.fromEntries(shown.map(({ key, fallback }) => [key, own(plain, key) ?? fallback]))
}

function scriptOf(config: PluginConfig, plugin: Pick<Plugin, 'config_schema'>, { transpiled }: VersionFile): string {
  const given = `{config:${JSON.stringify(siteSettings(plugin, config))},posthog:window[${JSON.stringify(`__$$ph_site_app_${config.id}`)}]}`
  return `(function(app){if(app&&app.inject)app.inject(${given})})(${transpiled!.trim()});\n`
}

const hashOf = (script: string) => createHash('sha256').update(script).digest('hex').slice(0, 32)

interface Hashed {
  readonly id: number
  readonly hash: string
}

/** Whose hashes are kept. */
const mostProjects = 1_000

export const createSiteApps = ({ read }: Pick<AccountStore, 'read'>) => {
  const scripts = async (configs: readonly PluginConfig[]) => {
    const found: { readonly id: number; readonly text: string }[] = []
    for (const config of configs) {
      const plugin = await read.plugins.first({ id: config.plugin_id })
      const version = plugin && (await runningVersion(read, config, plugin))
      const file = version?.files.find(({ name, status }) => name === 'site.ts' && status === 'TRANSPILED')
      if (version && file) found.push({ id: config.id, text: scriptOf(config, version, file) })
    }
    return found
  }
  const projectOf = async (token: string) => (token === '' ? undefined : read.projects.first({ api_token: token }))
  const enabledIn = async (projectId: number, id?: number): Promise<readonly PluginConfig[]> => {
    const where = { project_id: projectId, enabled: true, is_deleted: false, ...(id !== undefined && { id }) }
    return (await read.plugin_configs.find(where)).toSorted((a, b) => a.position - b.position || a.id - b.id)
  }
  /** Anyone can ask for the list, and scripts are large: their hashes are kept until a plugin or a config of the project changes. */
  const hashes = new Map<number, Promise<readonly Hashed[]>>()
  const hashed = (projectId: number): Promise<readonly Hashed[]> => {
    const known = hashes.get(projectId)
    if (known) return known
    const found = enabledIn(projectId)
      .then(scripts)
      .then((all) => all.map(({ id, text }) => ({ id, hash: hashOf(text) })))
    hashes.set(projectId, found)
    if (hashes.size > mostProjects) hashes.delete(hashes.keys().next().value!)
    found.catch(() => hashes.get(projectId) === found && hashes.delete(projectId))
    return found
  }
  return {
    /** Plugins or configs of these projects have changed. */
    changed(projectIds: readonly number[]): void {
      for (const id of projectIds) hashes.delete(id)
    },
    /** The apps of the project with this key. */
    async list(token: string): Promise<readonly SiteApp[]> {
      const project = await projectOf(token)
      const found = project ? await hashed(project.id) : []
      return found.map(({ id, hash }) => ({ id, url: `/site_app/${id}/${encodeURIComponent(token)}/${hash}/` }))
    },
    /** Null: the project has no such app. */
    async script(token: string, id: number, hash: string): Promise<SiteScript | null> {
      const project = await projectOf(token)
      const [found] = project ? await scripts(await enabledIn(project.id, id)) : []
      return found ? { text: found.text, isCurrent: hashOf(found.text) === hash } : null
    },
  }
}
export type SiteApps = ReturnType<typeof createSiteApps>
