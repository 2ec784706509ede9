import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'tsup'

const root = resolve(import.meta.dirname, '../..')

export interface Bundle {
  readonly serve: string
  readonly worker: string
  remove(): void
}

/** The server and the worker from the sources as they are, each in one file: a process is ready in a third of the time. */
export async function bundle(): Promise<Bundle> {
  const outDir = join(root, '.tmp', `cost-${process.pid}`)
  await build({
    entry: {
      serve: join(root, 'src/doors/cli/main.ts'),
      // The server looks for these beside itself.
      'engine-process': join(root, 'src/engine/isolation/engine-process.ts'),
      'fold-worker': join(root, 'src/core/folds/fold-worker.ts'),
      'answer-worker': join(root, 'src/engine/isolation/answer-worker.ts'),
      worker: join(root, 'test/cost/worker.ts'),
    },
    outDir,
    format: 'esm',
    target: 'node20',
    config: false,
    silent: true,
    splitting: false,
    noExternal: [/^(?!node:|@duckdb\/|nodemailer$|@clickhouse\/|chdb)/],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    outExtension: () => ({ js: '.mjs' }),
  })
  return {
    serve: join(outDir, 'serve.mjs'),
    worker: join(outDir, 'worker.mjs'),
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  }
}
