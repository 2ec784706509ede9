import { build, stop } from 'esbuild'

/**
 * Writes dist/cli.js and dist/engine-process.js: the command and its engine, each with all its JavaScript inside, because reading three hundred small files had been half of the time until a server is
 * ready. What has native code, and optional peers, stay outside.
 */
export async function buildCli() {
  await build({
    entryPoints: { cli: 'src/cli/main.ts', 'engine-process': 'src/isolation/engine-process.ts' },
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['@duckdb/node-bindings*', 'nodemailer'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  })
  await stop()
}
