import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { buildClient } from '../../build/client.mjs'
import { buildEmptyFiles } from '../../build/empty-files.mjs'
import { preludeText } from '../../build/prelude.mjs'
import { buildWeb } from '../../build/web.mjs'

// Programs that tests start in processes of their own, each in one file: a start from TypeScript takes ten times as long. Beside
// them the web interface, and the scripts for other sites. What was built stays until a source changes.

const root = resolve(import.meta.dirname, '../..')
const sources = {
  cli: 'src/doors/cli/main.ts',
  'engine-process': 'src/engine/isolation/engine-process.ts',
  'fold-worker': 'src/core/folds/fold-worker.ts',
  'answer-worker': 'src/engine/isolation/answer-worker.ts',
  'import-worker': 'src/doors/library/import-worker.ts',
  'plugin-worker': 'src/service/plugins/sandbox/plugin-worker.ts',
  'png-worker': 'src/service/bitmaps/png-worker.ts',
  engine: 'src/engine.ts',
  'transform-kills': 'test/crash/transform-child.ts',
  'export-kills': 'test/service/exports/kill-child.ts',
  'backup-kills': 'test/service/backups/backup-child.ts',
  'delivery-kills': 'test/service/plugins/delivery/kill-child.ts',
  'notification-kills': 'test/service/notifications/kill-child.ts',
  'mounted-app': 'test/web/mounted-app.ts',
  memory: 'test/memory/child.ts',
  'compact-kills': 'test/service/directory/compact-child.ts',
  'migration-kills': 'test/engine/storage/duckdb/migration-child.ts',
}
const folder = join(root, '.tmp', 'tests')

/** Where a program lies, once a run of the tests has begun. */
export const program = (name: keyof typeof sources): string => join(folder, `${name}.mjs`)

/** What the programs are made of: their sources, those of tests but for the tests themselves, and the packages inside. */
const madeOf = ['src', 'build', 'test', 'package.json', 'package-lock.json']
/** Of what they were made last. */
const madeOfFile = join(folder, 'made-of')

/** Changes when a source is added, removed, or written. */
function fingerprint(): string {
  const hash = createHash('sha256').update(process.version)
  const add = (path: string) => {
    const own = statSync(path)
    if (!own.isDirectory()) hash.update(`${path} ${own.size} ${own.mtimeMs}\n`)
    else for (const name of readdirSync(path).sort()) if (name !== 'node_modules' && !name.endsWith('.test.ts')) add(join(path, name))
  }
  for (const path of madeOf) add(join(root, path))
  return hash.digest('hex')
}

export default async function buildPrograms(): Promise<void> {
  const made = fingerprint()
  if (existsSync(madeOfFile) && readFileSync(madeOfFile, 'utf8') === made) return
  rmSync(madeOfFile, { force: true })
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
  writeFileSync(join(folder, 'plugin-prelude.js'), await preludeText())
  await buildEmptyFiles(folder)
  await buildWeb(join(folder, 'web/'))
  await buildClient(join(folder, 'client/'))
  writeFileSync(madeOfFile, made)
}
