import type { OpenOptions } from '../../engine.ts'
import type { Waymark } from '../../waymark.ts'

/**
 * Opens a data directory. One process owns it until `close()`; with `connect: true` others work through it.
 *
 * @example const waymark = await open({ dataDir: './data' })
 */
export async function open(options: OpenOptions): Promise<Waymark> {
  // The engine and DuckDB are loaded by the first call: an application that has not opened a directory does not pay for them.
  const { openAnywhere } = await import('./open-anywhere.ts')
  return (await openAnywhere(options)).waymark
}
