import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { buildEmptyFiles } from '../../build/empty-files.mjs'

export const repository = resolve(import.meta.dirname, '../..')

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
    external: ['@duckdb/node-bindings*', 'nodemailer', 'pg'],
    nodePaths: [join(repository, 'node_modules')],
    banner: { js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);" },
    logLevel: 'warning',
  })
  await buildEmptyFiles(folder)
  return outfile
}
