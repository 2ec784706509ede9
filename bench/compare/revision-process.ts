import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Asked, Told } from './worker.ts'

/** Sources in a process of their own, with events in it. */
export interface RevisionProcess {
  ask(asked: Asked): Promise<Told>
  stop(): Promise<void>
}

/** Starts worker.ts on the sources of `root`. */
export async function startRevision(root: string, events: number): Promise<RevisionProcess> {
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
  const child = spawn(process.execPath, [outfile, String(events)], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`The process of ${root} ended before it answered`)
    return value
  }
  await next()
  return {
    async ask(asked) {
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      return JSON.parse(await next()) as Told
    },
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
