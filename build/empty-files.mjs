import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Writes the empty database files that new directories and projects begin with into a folder of programs. */
export async function buildEmptyFiles(folder) {
  for (const name of readdirSync(folder)) if (/^empty-.*\.duckdb\.gz$/.test(name)) rmSync(join(folder, name))
  const program = join(folder, 'empty-files.mjs')
  await build({
    absWorkingDir: new URL('..', import.meta.url).pathname,
    entryPoints: ['src/service/directory/empty-files.ts'],
    outfile: program,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['@duckdb/*', 'nodemailer', 'pg'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  })
  execFileSync(process.execPath, [program, folder], { stdio: 'inherit' })
  rmSync(program)
}
