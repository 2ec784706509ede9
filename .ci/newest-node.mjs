// Runs the core of the default tests (storage, lists, folds, ingestion, clients, the served API) on the newest Node that npm has.   npm run test:newest
// Without the registry it says that it was skipped, and exits with 0.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const tests = [
  'test/engine/storage/',
  'test/core/lists/',
  'test/core/folds/',
  'test/core/kernels/',
  'test/core/simd/',
  'test/events/ingestion/',
  'test/clients/',
  'test/doors/http/served.test.ts',
  'test/doors/http/query.test.ts',
  'test/library.test.ts',
  'test/engine.test.ts',
]
/** Files may be named, otherwise all of them run. */
const given = process.argv.slice(2)
const chosen = given.some((arg) => !arg.startsWith('-')) ? [] : tests
const folder = mkdtempSync(join(tmpdir(), 'waymark-newest-node-'))
const installed = () => {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, 'node@latest'], options)
    const program = join(folder, 'node_modules/node/bin/node')
    return { program, version: execFileSync(program, ['--version'], options).trim() }
  } catch (error) {
    console.log(`SKIPPED  npm has no \`node\` for this machine, or cannot be reached: ${error.message.split('\n')[0]}`)
    return null
  }
}
try {
  const node = installed()
  if (node) {
    console.log(`Node ${node.version}`)
    const { status } = spawnSync(node.program, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'together', '--project', 'alone', ...chosen, ...given], {
      stdio: 'inherit',
      env: { ...process.env, PATH: `${dirname(node.program)}${delimiter}${process.env.PATH}` },
    })
    process.exitCode = status ?? 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
