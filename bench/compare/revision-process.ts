import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type LineProcess, startLineProcess } from '../line-process.ts'
import type { Asked, Told } from './worker.ts'

/** Sources in a process of their own, with events in it. */
export type RevisionProcess = LineProcess<Asked, Told>

/** The programs of its threads, which lie beside whoever starts them: their folders are others at other revisions. */
const threads = ['fold-worker.ts', 'answer-worker.ts']
const threadsOf = (src: string): Record<string, string> =>
  Object.fromEntries(
    (existsSync(src) ? readdirSync(src, { recursive: true, encoding: 'utf8' }) : [])
      .filter((file) => threads.includes(basename(file)))
      .map((file) => [basename(file, '.ts'), join(src, file)]),
  )

/** A program that imports `waymark-revision`, with the sources of `root` in its place. */
export async function bundleOf(root: string, name: string, program: string): Promise<string> {
  const { build } = await import('esbuild')
  const outdir = join(root, '.bench')
  await build({
    entryPoints: { [name]: program, ...threadsOf(join(root, 'src')) },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    alias: { 'waymark-revision': join(root, 'src', 'index.ts') },
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return join(outdir, `${name}.mjs`)
}

/** Starts worker.ts on the sources of `root`. Each question takes `slowDown` times as long as it does. */
export async function startRevision(root: string, events: number, slowDown = 1): Promise<RevisionProcess> {
  const file = await bundleOf(root, 'compared', join(import.meta.dirname, 'worker.ts'))
  return startLineProcess({ name: root, file, args: [String(events), String(slowDown)], cwd: root })
}
