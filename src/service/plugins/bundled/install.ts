import { invalid } from '../../accounts/refusals.ts'
import type { FetchedPlugin } from '../archives/fetching.ts'
import { readManifest } from '../manifest.ts'
import { bundledPlugins } from './registry.ts'

// Plugins that come with the server, as they are installed and offered.

export const isBundledUrl = (url: string): boolean => url.startsWith('inline://')

/** As if it had been fetched. */
export function readBundled(url: string): FetchedPlugin {
  const found = bundledPlugins.find((one) => one.url === url)
  if (!found) throw invalid(`No bundled plugin has this URL. Known URLs: ${bundledPlugins.map((one) => one.url).join(', ')}.`, 'url')
  const { name, description, config_schema, code } = found
  const manifest = JSON.stringify({ name, description, config: config_schema })
  return { manifest: readManifest(manifest), source: { 'plugin.json': manifest, 'index.ts': code }, tag: null }
}

export const bundledCatalogue = bundledPlugins.map(({ name, url, description }) => ({
  name,
  url,
  description,
  icon: null,
  verified: true,
  maintainer: 'Waymark',
}))
