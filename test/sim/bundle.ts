import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { buildEmptyFiles } from '../../build/empty-files.mjs'
import { type SmallerLimit, withSmallerLimits } from '../harness/smaller-limits.ts'

export const repository = resolve(import.meta.dirname, '../..')

const lists = 'src/core/lists/project-lists.ts'
const eventLists = 'src/core/lists/event-lists.ts'
const pages = 'src/core/lists/pages/page-store.ts'
const pagedEvents = 'src/core/lists/pages/paged-events.ts'
const pageFiles = 'src/core/lists/pages/page-files.ts'
const slots = 'src/language/catalog/slots.ts'
const knowing = 'src/events/ingestion/persons/known/knowing-writer.ts'
/** Limits that a plan of thirty steps would never reach, and the same ones here. */
const smallerLimits: readonly SmallerLimit[] = [
  ['src/engine/storage/log/file-log.ts', 'segmentBytes: 64 * 1024 ** 2', 'segmentBytes: 12 * 1024'],
  ['src/engine/storage/log/compressed.ts', 'blockBytes = 256 * 1024', 'blockBytes = 3 * 1024'],
  ['src/engine/storage/log/segment.ts', 'seekBytes = 256 * 1024', 'seekBytes = 4 * 1024'],
  ['src/lib/ids/time-ordered-uuid.ts', 'Buffer.alloc(8192)', 'Buffer.alloc(8)'], // what one run left would be used by the next
  ['src/events/ingestion/uuids/runs.ts', 'firstRunRecords = 262_144', 'firstRunRecords = 32'],
  [knowing, 'leastSaved = 20_000', 'leastSaved = 1'],
  [knowing, 'options.mostInMemory ?? store.groupPeople', 'options.mostInMemory ?? 3'],
  // Each column of a store costs time at every start and end of a process.
  [slots, "text: { prefix: 's', count: 32 }", "text: { prefix: 's', count: 4 }"],
  [slots, "number: { prefix: 'n', count: 16 }", "number: { prefix: 'n', count: 3 }"],
  [slots, "boolean: { prefix: 'b', count: 8 }", "boolean: { prefix: 'b', count: 2 }"],
  // Lists of some kilobytes lie in files (world.ts says how much memory they have).
  [lists, 'fewEvents = 50_000', 'fewEvents = 20'],
  [lists, 'recordsPerStatement = 2_000_000', 'recordsPerStatement = 64'],
  [eventLists, 'start: Int32Array = sharedArray(Int32Array, 1024)', 'start: Int32Array = sharedArray(Int32Array, 8)'],
  [eventLists, 'end: Int32Array = sharedArray(Int32Array, 1024)', 'end: Int32Array = sharedArray(Int32Array, 8)'],
  [eventLists, 'room: Int32Array = sharedArray(Int32Array, 1024)', 'room: Int32Array = sharedArray(Int32Array, 8)'],
  [eventLists, 'this.capacity * 1.25), 1024)', 'this.capacity * 1.25), 8)'],
  [pages, 'inMemoryShare = 0.7', 'inMemoryShare = 0.01'],
  [pages, 'fewestEvents = 256', 'fewestEvents = 4'],
  [pages, 'pageShare = 1 / 64', 'pageShare = 1 / 1024'],
  [pages, 'movedShare = 1 / 4', 'movedShare = 1 / 64'],
  [pagedEvents, 'fewPersons = 64', 'fewPersons = 1'],
  // A process begins with pages that nobody has looked at.
  [
    pageFiles,
    'const checked = new Set<string>()',
    'const checked = ((globalThis as { checkedPages?: Set<string> }).checkedPages = new Set<string>())',
  ],
]

/** Builds the program of the simulator, in one file: a module that is loaded while it runs would take time of its own. `root`: another copy of the sources. */
export async function bundleSimulator(name: string, root = repository): Promise<string> {
  const folder = join(repository, '.tmp', name)
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, 'simulator.mjs')
  await build({
    absWorkingDir: repository,
    entryPoints: [join(root, 'test/sim/program.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    alias: { '@duckdb/node-bindings': join(root, 'test/sim/world/bindings.ts') },
    plugins: [withSmallerLimits(root, smallerLimits)],
    external: ['@duckdb/node-bindings*', 'nodemailer', 'pg'],
    nodePaths: [join(repository, 'node_modules')],
    banner: { js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);" },
    logLevel: 'warning',
  })
  await buildEmptyFiles(folder)
  return outfile
}
