import { readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OutboundCalls } from '../../accounts/outbound-calls.ts'
import { invalid } from '../../accounts/refusals.ts'
import type { PluginNetwork } from '../host-ports.ts'
import { ManifestError } from '../manifest.ts'
import { type Download, download } from './download.ts'
import { ArchiveError, type ArchiveLimits, archiveLimits } from './limits.ts'
import { type Origin, type PluginHosts, publicHosts, readOrigin } from './origin.ts'
import { type PackageFiles, readPackage } from './package-files.ts'
import { archiveFiles } from './unpack.ts'

export interface FetchingParts {
  readonly network: PluginNetwork
  readonly outbound: OutboundCalls
  readonly hosts?: Partial<PluginHosts>
  /** The folder with local plugins, one folder each. Null: local plugins are not allowed. */
  readonly localFolder: string | null
  readonly limits?: Partial<ArchiveLimits>
}

export interface FetchedPlugin extends PackageFiles {
  readonly tag: string | null
}

export type Fetching = ReturnType<typeof createFetching>

const files = ['plugin.json', 'index.js', 'index.ts', 'dist/index.js', 'frontend.tsx', 'site.ts']

/** Reads plugins from hosts and from the operator's folder. Failures are errors about the URL, for the user. */
export function createFetching({ network, outbound, hosts, localFolder, limits: given }: FetchingParts) {
  const limits = { ...archiveLimits, ...given }
  const bases = { ...publicHosts, ...hosts }

  const blamed = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ArchiveError || error instanceof ManifestError) throw invalid(error.message, 'url')
      throw error
    }
  }
  const json = async (from: Download): Promise<unknown> => {
    const body = await download(from, network, limits)
    try {
      return JSON.parse(body.toString('utf8'))
    } catch {
      throw new ArchiveError(`${new URL(from.url).host} answered something that is not JSON.`)
    }
  }
  const tagOf = async (origin: Origin): Promise<string> => {
    if (origin.newest === null) return origin.fixed!
    const tag = origin.readTag(await json(origin.newest))
    if (tag === null) throw new ArchiveError(`${origin.url} has no commits and no versions.`)
    return tag
  }

  return {
    originOf(url: string): Origin {
      const origin = readOrigin(url, bases)
      if (!origin) throw invalid('Must be a GitHub/GitLab repository or a npm package URL!', 'url')
      return origin
    },

    newestTag: (organizationId: string, origin: Origin): Promise<string> =>
      blamed(() => outbound.archives(organizationId, () => tagOf(origin))),

    fetch: (organizationId: string, origin: Origin): Promise<FetchedPlugin> =>
      blamed(() =>
        outbound.archives(organizationId, async () => {
          const tag = await tagOf(origin)
          const bytes = await download(origin.archive(tag), network, limits)
          return { tag, ...(await readPackage(await archiveFiles(bytes, limits))) }
        }),
      ),

    /** A folder directly in the operator's folder: `file:///srv/plugins/hello`. */
    readLocal: (url: string): Promise<FetchedPlugin> =>
      blamed(async () => {
        if (localFolder === null) throw new ArchiveError('This server has no folder for local plugins. Ask its operator.')
        const path = await realPath(url)
        const root = await realpath(localFolder)
        if (!path.startsWith(root + sep))
          throw new ArchiveError('Local plugins must be in the folder that the operator of the server allows.')
        const manifest = await optional(join(path, 'plugin.json'), limits)
        const main = manifest === null ? null : mainOf(manifest)
        const names = main === null ? files : [...files, main]
        const found = await Promise.all(
          [...new Set(names)].map(async (name) => ({ name, contents: await optional(await inside(path, name), limits) })),
        )
        const present = found.flatMap(({ name, contents }) => (contents === null ? [] : [{ path: name, read: async () => contents }]))
        return { tag: null, ...(await readPackage(present)) }
      }),
  }
}

const realPath = async (url: string): Promise<string> => {
  try {
    return await realpath(fileURLToPath(url))
  } catch {
    throw new ArchiveError('Expected the URL of a folder, such as file:///srv/plugins/hello.')
  }
}

const mainOf = (manifest: Buffer): string | null => {
  try {
    const { main } = JSON.parse(manifest.toString('utf8')) as { main?: unknown }
    return typeof main === 'string' ? main : null
  } catch {
    return null // reported when the manifest is read
  }
}

/** Links must not lead out of the folder of the plugin. */
const inside = async (folder: string, name: string): Promise<string> => {
  const path = await realpath(join(folder, name)).catch(() => join(folder, name))
  if (!path.startsWith(folder + sep)) throw new ArchiveError(`${name} is not in the folder of the plugin.`)
  return path
}

const optional = async (path: string, { fileBytes }: ArchiveLimits): Promise<Buffer | null> => {
  const found = await stat(path).catch(() => null)
  if (!found?.isFile()) return null
  if (found.size > fileBytes) throw new ArchiveError(`A file of the plugin has ${found.size} bytes. At most ${fileBytes} are read.`)
  return readFile(path)
}
