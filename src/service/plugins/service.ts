import { pick } from '../../lib/pick.ts'
import { type ActingMember, writeAs } from '../accounts/acting-member.ts'
import { type AccountContext, changesOf, entryAbout, log, nextNumber } from '../accounts/context.ts'
import { check } from '../accounts/fields.ts'
import { removePluginRows } from '../accounts/projects/plugin-rows.ts'
import type { AccountStore, AccountTables, Organization, Plugin, PluginFile } from '../accounts/records.ts'
import { invalid, mustFind } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Json } from '../accounts/store.ts'
import { mustBeGlobalManager, mustHave, mustOwn, organizationNow } from './access.ts'
import type { FetchedPlugin, Fetching } from './archives/fetching.ts'
import { isBundledUrl, readBundled } from './bundled/install.ts'
import type { PluginFamily } from './families.ts'
import { type PluginChange, pluginChange, pluginInput, sourceFiles, sourceInput } from './fields.ts'
import {
  type BrowserFile,
  type Capabilities,
  isBrowserFile,
  type PluginLoader,
  type PluginRuntime,
  type PluginSource,
  type Transpiled,
} from './host-ports.ts'
import { columnsOf, ManifestError, readManifest } from './manifest.ts'
import { starters } from './starters.ts'
import { keepVersion, noteVersion } from './versions.ts'

// The rules of plugins. Reading needs the plugin access level `config`, changes need `install` and the organization that owns the plugin.

export interface PluginParts {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly fetching: Fetching
  readonly loader: PluginLoader
  readonly runtime: PluginRuntime
}

/** What was found in the files of a plugin before they are stored. */
interface LoadedCode {
  readonly capabilities: Capabilities
  /** Files for browsers. */
  readonly compiled: ReadonlyMap<string, Transpiled>
}
interface ReadCode {
  readonly source: PluginSource
  readonly loaded: LoadedCode
  readonly columns: Columns
}

type Columns = Partial<Omit<Plugin, 'id' | 'organization_id' | 'created_at'>>

/** Types whose code is on another server. */
const hasOrigin = (type: string): boolean => !['source', 'local', 'inline'].includes(type)

const largestSource = 4 * 1024 ** 2

/** For the activity log. The URL is without its query. */
const shown = (plugin: Plugin) =>
  pick(plugin, ['name', 'description', 'url', 'icon', 'config_schema', 'tag', 'is_global', 'capabilities', 'metrics', 'public_jobs'])

const columnsFrom = ({ capabilities, config_schema, metrics, public_jobs, ...plain }: PluginChange): Columns => ({
  ...plain,
  ...(capabilities !== undefined && { capabilities: capabilities as Json }),
  ...(config_schema !== undefined && { config_schema: config_schema as Json }),
  ...(metrics !== undefined && { metrics: (metrics ?? {}) as Json }),
  ...(public_jobs !== undefined && { public_jobs: (public_jobs ?? {}) as Json }),
})
type Reading = AccountStore['read']

const asItIs = (tables: AccountTables, { id }: Plugin): Promise<Plugin> => mustFind(tables.plugins.first({ id }))
const note = (by: ActingMember, plugin: Plugin, activity: string) =>
  entryAbout('Plugin', { id: plugin.id, organization_id: by.membership.organization_id }, plugin.name, by.user, activity)
const projectsWith = async (tables: Reading, id: number): Promise<number[]> =>
  (await tables.plugin_configs.find({ plugin_id: id })).map((config) => config.project_id)

const filesOf = async (tables: Reading, id: number): Promise<readonly PluginFile[]> =>
  (await tables.plugin_files.find({ plugin_id: id })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
const textsOf = (files: readonly PluginFile[]): PluginSource => Object.fromEntries(files.map(({ name, source }) => [name, source]))

const load = async ({ loader }: PluginParts, source: PluginSource): Promise<LoadedCode> => ({
  capabilities: source['index.ts'] ? await loader.capabilities(source) : {},
  compiled: new Map(
    await Promise.all(
      Object.entries(source)
        .filter(([name]) => isBrowserFile(name))
        .map(async ([name, text]) => [name, await loader.transpile(name as BrowserFile, text)] as const),
    ),
  ),
})

const insertFile = (
  context: AccountContext,
  tables: AccountTables,
  pluginId: number,
  name: string,
  source: string,
  { compiled }: LoadedCode,
): Promise<void> =>
  tables.plugin_files.insert({
    id: context.newId(),
    plugin_id: pluginId,
    name,
    source,
    ...(compiled.get(name) ?? { transpiled: null, status: null, error: null }),
    updated_at: context.clock(),
  })
const replaceFiles = async (
  context: AccountContext,
  tables: AccountTables,
  pluginId: number,
  { source, loaded }: Pick<ReadCode, 'source' | 'loaded'>,
): Promise<void> => {
  await tables.plugin_files.remove({ plugin_id: pluginId })
  for (const [name, text] of Object.entries(source)) await insertFile(context, tables, pluginId, name, text, loaded)
}

const loadedFrom = async (parts: PluginParts, { manifest, source, tag }: FetchedPlugin): Promise<ReadCode> => {
  const loaded = await load(parts, source)
  return { source, loaded, columns: { ...columnsOf(manifest), tag, latest_tag: tag, capabilities: loaded.capabilities as Json } }
}

const started = async (parts: PluginParts, source: PluginSource): Promise<ReadCode> => {
  const loaded = await load(parts, source)
  return { source, loaded, columns: { capabilities: loaded.capabilities as Json } }
}

const writeOwned = <T>(
  context: AccountContext,
  by: ActingMember,
  plugin: Plugin,
  work: (tables: AccountTables, current: Plugin, organization: Organization) => Promise<T>,
): Promise<T> =>
  writeAs(context, by, async (tables, { organization_id }) => {
    const organization = await organizationNow(tables, organization_id)
    mustHave(organization, 'install')
    const current = await asItIs(tables, plugin)
    mustOwn(current, organization)
    return work(tables, current, organization)
  })

/** The same checks before something that takes time. */
const mustBeAllowed = (plugin: Plugin, organization: Organization) => {
  mustHave(organization, 'install')
  mustOwn(plugin, organization)
}

const originFor = ({ box, fetching }: PluginParts, plugin: Plugin) => {
  const query = plugin.url_secrets === null ? '' : `?${box.open(plugin.url_secrets, sealedFor.pluginUrl(plugin.id))}`
  return fetching.originOf(`${plugin.url}${query}`)
}
const isDownloaded = ({ plugin_type, url }: Plugin) => hasOrigin(plugin_type) && url !== null

const mustBeNew = async (tables: Reading, organizationId: string, url: string) => {
  if (await tables.plugins.first({ organization_id: organizationId, url }))
    throw invalid('A plugin from this URL is already installed.', 'url', 'unique')
}
const reads = ({ store }: AccountContext) => ({
  /** Those of the organization, global ones, and those with a config in one of its projects. In the order of their installation. */
  async seenBy(organization: Organization): Promise<readonly Plugin[]> {
    mustHave(organization, 'config')
    const configs = await store.read.plugin_configs.find({ organization_id: organization.id })
    const configured = new Set(configs.map(({ plugin_id }) => plugin_id))
    const all = await store.read.plugins.find({})
    return all
      .filter((one) => one.organization_id === organization.id || one.is_global || configured.has(one.id))
      .toSorted((a, b) => a.id - b.id)
  },

  source: async (plugin: Plugin): Promise<PluginSource> => textsOf(await filesOf(store.read, plugin.id)),

  fileOf: (plugin: Plugin, name: string): Promise<PluginFile | undefined> => store.read.plugin_files.first({ plugin_id: plugin.id, name }),

  /** Whether a project of any organization uses the plugin. */
  isUsed: async (plugin: Plugin): Promise<boolean> => (await store.read.plugin_configs.count({ plugin_id: plugin.id, enabled: true })) > 0,
})

const codeWrites = (parts: PluginParts) => {
  const { context, runtime, fetching } = parts
  return {
    /** Replaces the files that are sent; null removes one. */
    async updateSource(by: ActingMember, organization: Organization, plugin: Plugin, body: unknown): Promise<PluginSource> {
      mustBeAllowed(plugin, organization)
      const input = check(sourceInput, body)
      const given = sourceFiles.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]] as const]))
      for (const [name, text] of given)
        if (text !== null && Buffer.byteLength(text) > largestSource)
          throw invalid(`A file has at most ${largestSource} bytes.`, name, 'max_length')
      const manifest = input['plugin.json'] ? manifestFrom(input['plugin.json']) : null
      const before = textsOf(await filesOf(context.store.read, plugin.id))
      const after = Object.fromEntries(Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, text]) => text !== null))
      const loaded = await load(parts, after as PluginSource)
      const [files, projects] = await writeOwned(context, by, plugin, async (tables, current) => {
        const hashBefore = await keepVersion(context, tables, current)
        for (const [name, text] of given) {
          await tables.plugin_files.remove({ plugin_id: current.id, name })
          if (text !== null) await insertFile(context, tables, current.id, name, text, loaded)
        }
        const columns: Columns = {
          ...(manifest && columnsOf(manifest)),
          capabilities: loaded.capabilities as Json,
          updated_at: context.clock(),
        }
        const changed = { ...current, ...columns }
        await tables.plugins.update({ id: current.id }, columns)
        const changes = [
          ...changesOf('Plugin', shown(current), shown(changed)),
          ...given.map(([field]) => ({ type: 'Plugin', action: 'changed', field, before: null, after: null }) as const),
        ]
        await noteVersion(tables, by.membership, changed, hashBefore)
        await log(context, tables, { ...note(by, changed, 'updated'), changes })
        return [textsOf(await filesOf(tables, current.id)), await projectsWith(tables, current.id)]
      })
      await runtime.changed(projects)
      return files
    },

    /** Reads the newest version again. Nothing changes for plugins that are edited in place, and for local ones. */
    async upgrade(by: ActingMember, organization: Organization, plugin: Plugin): Promise<Plugin> {
      mustBeAllowed(plugin, organization)
      const read = isDownloaded(plugin)
        ? await fetching.fetch(organization.id, originFor(parts, plugin))
        : plugin.plugin_type === 'inline'
          ? readBundled(plugin.url!)
          : null
      const code = read ? await loadedFrom(parts, read) : null
      const [updated, projects] = await writeOwned(context, by, plugin, async (tables, current) => {
        if (!code) return [current, []]
        const before = await keepVersion(context, tables, current)
        const after = { ...current, ...code.columns, updated_at: context.clock() }
        await tables.plugins.update({ id: current.id }, after)
        await replaceFiles(context, tables, current.id, code)
        await noteVersion(tables, by.membership, after, before)
        await log(context, tables, { ...note(by, after, 'updated'), changes: changesOf('Plugin', shown(current), shown(after)) })
        return [after, await projectsWith(tables, current.id)]
      })
      await runtime.changed(projects)
      return updated
    },

    /** Notes the newest version, without installing it. */
    async checkForUpdates(organization: Organization, plugin: Plugin): Promise<Plugin> {
      if (!isDownloaded(plugin)) return plugin
      const latest_tag = await fetching.newestTag(organization.id, originFor(parts, plugin))
      await context.store.write((tables) => tables.plugins.update({ id: plugin.id }, { latest_tag }))
      return { ...plugin, latest_tag }
    },
  }
}

export const createPlugins = (parts: PluginParts) => {
  const { context, box, fetching, runtime } = parts
  const { store } = context

  return {
    ...reads(context),

    async create(by: ActingMember, organization: Organization, body: unknown, family: PluginFamily = 'plugins'): Promise<Plugin> {
      mustHave(organization, 'install')
      const { url: given, ...input } = check(pluginInput, body)
      const isBundled = typeof given === 'string' && isBundledUrl(given)
      const type = isBundled ? 'inline' : (input.plugin_type ?? 'custom')
      if (type === 'inline' && !isBundled) throw invalid('Bundled plugins have URLs such as inline://geoip.', 'url')
      if (input.is_global === true) mustBeGlobalManager(organization)
      const address = given === '' || given === undefined ? null : given
      // Local code comes from a folder of the operator, or is written here: without a URL it begins as the starter of its family.
      const isWrittenHere = type === 'source' || (type === 'local' && address === null)
      if (!isWrittenHere && address === null) throw invalid('This field is required.', 'url', 'required')
      const origin = hasOrigin(type) ? fetching.originOf(address!) : null
      const url = isWrittenHere ? null : (origin?.url ?? address!)
      if (url !== null) await mustBeNew(store.read, organization.id, url)
      const read = origin
        ? await fetching.fetch(organization.id, origin)
        : type === 'local' && address !== null
          ? await fetching.readLocal(address)
          : type === 'inline'
            ? readBundled(address!)
            : null
      const starter = type === 'local' && address === null ? starters[family] : {}
      const code = read ? await loadedFrom(parts, read) : Object.keys(starter).length > 0 ? await started(parts, starter) : null
      const made = await writeAs(context, by, async (tables, { organization_id }) => {
        const current = await organizationNow(tables, organization_id)
        mustHave(current, 'install')
        if (input.is_global === true) mustBeGlobalManager(current)
        if (url !== null) await mustBeNew(tables, current.id, url)
        const now = context.clock()
        const id = await nextNumber(tables, 'plugin')
        const plugin: Plugin = {
          id,
          organization_id: current.id,
          plugin_type: type,
          name: origin?.name ?? null,
          description: null,
          url,
          url_secrets: origin && origin.secrets !== '' ? box.seal(origin.secrets, sealedFor.pluginUrl(id)) : null,
          icon: null,
          config_schema: {},
          tag: null,
          latest_tag: null,
          is_global: false,
          capabilities: {},
          metrics: {},
          public_jobs: {},
          code_hash: null,
          created_at: now,
          updated_at: now,
          ...columnsFrom(input),
          ...code?.columns,
          ...(input.capabilities && { capabilities: input.capabilities as Json }),
        }
        await tables.plugins.insert(plugin)
        if (code) await replaceFiles(context, tables, id, code)
        await log(context, tables, {
          ...note(by, plugin, 'installed'),
          changes: changesOf('Plugin', {}, { url: plugin.url, tag: plugin.tag }),
        })
        return noteVersion(tables, by.membership, plugin, null)
      })
      return made
    },

    async update(by: ActingMember, plugin: Plugin, body: unknown): Promise<Plugin> {
      const input = check(pluginChange, body)
      const [updated, projects] = await writeOwned(context, by, plugin, async (tables, current, organization) => {
        if (input.is_global !== undefined && input.is_global !== current.is_global) mustBeGlobalManager(organization)
        const before = await keepVersion(context, tables, current)
        const after = { ...current, ...columnsFrom(input), updated_at: context.clock() }
        await tables.plugins.update({ id: current.id }, after)
        const changes = changesOf('Plugin', shown(current), shown(after))
        if (changes.length > 0) await log(context, tables, { ...note(by, after, 'updated'), changes })
        return [await noteVersion(tables, by.membership, after, before), await projectsWith(tables, current.id)]
      })
      await runtime.changed(projects)
      return updated
    },

    async remove(by: ActingMember, plugin: Plugin): Promise<void> {
      const projects = await writeOwned(context, by, plugin, async (tables, current) => {
        if (current.is_global) throw invalid('This plugin is marked as global! Make it local before uninstallation')
        const configured = await projectsWith(tables, current.id)
        await removePluginRows(tables, [current.id])
        await log(context, tables, note(by, current, 'uninstalled'))
        return configured
      })
      await runtime.changed(projects)
    },
    ...codeWrites(parts),
  }
}
export type Plugins = ReturnType<typeof createPlugins>

const manifestFrom = (text: string) => {
  try {
    return readManifest(text)
  } catch (error) {
    if (error instanceof ManifestError) throw invalid(error.message, 'plugin.json')
    throw error
  }
}
