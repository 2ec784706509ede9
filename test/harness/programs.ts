import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { buildClient } from '../../build/client.mjs'
import { buildWeb } from '../../build/web.mjs'

// Programs that tests start in processes of their own, each in one file: a start from TypeScript takes ten times as long. Beside
// them the web interface, and the scripts for other sites.

const root = resolve(import.meta.dirname, '../..')
const sources = {
  cli: 'src/cli/main.ts',
  'engine-process': 'src/isolation/engine-process.ts',
  'fold-worker': 'src/folds/fold-worker.ts',
  'answer-worker': 'src/isolation/answer-worker.ts',
  'plugin-worker': 'src/plugins/sandbox/plugin-worker.ts',
  engine: 'src/engine.ts',
  'transform-kills': 'test/crash/transform-child.ts',
  'export-kills': 'test/exports/kill-child.ts',
  'delivery-kills': 'test/plugins/delivery/kill-child.ts',
  'notification-kills': 'test/notifications/kill-child.ts',
  'mounted-app': 'test/web/mounted-app.ts',
  memory: 'test/memory/child.ts',
}
const folder = join(root, '.tmp', 'tests')

/** Where a program lies, once a run of the tests has begun. */
export const program = (name: keyof typeof sources): string => join(folder, `${name}.mjs`)

export default async function buildPrograms(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: sources,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['@duckdb/node-bindings*', 'nodemailer', 'pg'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  })
  await buildWeb(join(folder, 'web/'))
  await buildClient(join(folder, 'client/'))
}
