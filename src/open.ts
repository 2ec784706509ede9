import type { OpenOptions, Waymark } from './engine.ts'

/**
 * Opens a data directory. One process owns it until `close()`.
 *
 * @example const waymark = await open({ dataDir: './data' })
 */
export async function open(options: OpenOptions): Promise<Waymark> {
  // The engine and DuckDB are loaded by the first call: an application that has not opened a directory does not pay for them.
  const engine = await import('./engine.ts')
  return engine.open(options)
}
