import { join } from 'node:path'
import { type LineProcess, startLineProcess } from '../line-process.ts'
import type { Asked, Told } from './worker.ts'

/** Sources in a process of their own, with events in it. */
export type RevisionProcess = LineProcess<Asked, Told>

/** Starts worker.ts on the sources of `root`. Each question takes `slowDown` times as long as it does. */
export async function startRevision(root: string, events: number, slowDown = 1): Promise<RevisionProcess> {
  const { build } = await import('esbuild')
  const outfile = join(root, '.bench', 'compared.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'worker.ts')],
    outfile,
    bundle: true,
    alias: { 'waymark-revision': join(root, 'src', 'index.ts') },
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return startLineProcess({ name: root, file: outfile, args: [String(events), String(slowDown)], cwd: root })
}
