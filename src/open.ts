import type { OpenOptions, Waymark } from './engine.ts'

/**
 * Opens a data directory, which this process owns until `close()`; with `engine.postgres`, one of several servers.
 *
 * @example const waymark = await open({ dataDir: './data' })
 */
export async function open(options: OpenOptions): Promise<Waymark> {
  // The engine and DuckDB are loaded by the first call: an application that has not opened a directory does not pay for them.
  const engine = await import('./engine.ts')
  return engine.open(options)
}
