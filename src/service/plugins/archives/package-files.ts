import type { PluginSource } from '../host-ports.ts'
import { type Manifest, readManifest } from '../manifest.ts'
import type { ArchiveFile } from './archive-file.ts'
import { ArchiveError } from './limits.ts'

export interface PackageFiles {
  readonly manifest: Manifest
  readonly source: PluginSource
}

const mainFiles = ['index.js', 'index.ts', 'dist/index.js']
const browserFiles = ['frontend.tsx', 'site.ts']

const normal = (path: string): string => path.replaceAll('\\', '/').replace(/^(\.\/)+/, '')
const strict = new TextDecoder('utf-8', { fatal: true })

async function textOf({ path, read }: ArchiveFile): Promise<string> {
  const bytes = await read()
  try {
    return strict.decode(bytes)
  } catch {
    throw new ArchiveError(`${path} is not valid UTF-8.`)
  }
}

/** plugin.json, the main file and the files for browsers. They are at the top, or in the one folder that hosts put around a repository. */
export async function readPackage(files: readonly ArchiveFile[]): Promise<PackageFiles> {
  const paths = new Map(files.map((file) => [normal(file.path), file]))
  const found = [...paths.keys()].filter((path) => /^([^/]+\/)?plugin\.json$/.test(path)).sort((a, b) => a.length - b.length)[0]
  if (found === undefined) throw new ArchiveError('Could not find plugin.json in the plugin')
  const base = found.slice(0, -'plugin.json'.length)
  const plain = await textOf(paths.get(found)!)
  const manifest = readManifest(plain)
  const source: Record<string, string> = { 'plugin.json': plain }
  for (const name of browserFiles) {
    const file = paths.get(base + name)
    if (file) source[name] = await textOf(file)
  }
  const main = manifest.main === undefined ? mainFiles.find((name) => paths.has(base + name)) : normal(manifest.main)
  const code = main === undefined ? undefined : paths.get(base + main)
  if (code) source['index.ts'] = await textOf(code)
  else if (manifest.main !== undefined)
    throw new ArchiveError(`plugin.json names the main file ${manifest.main}, which the archive does not have.`)
  else if (Object.keys(source).length === 1)
    throw new ArchiveError(
      `The archive has no code: expected ${[...mainFiles, ...browserFiles].join(', ')}, or a main file that plugin.json names.`,
    )
  return { manifest, source }
}
