import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { inside, insidePluginWorker, insidePngWorker, outside, programs } from '../../build/cli.mjs'

// Whose code is inside the programs: each of these packages has its license beside them.

const root = fileURLToPath(new URL('../../', import.meta.url))

test('every package inside the programs and the library is in a list of licenses, or is installed with its own', async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { ...programs, index: 'src/index.ts' },
    outdir: '.tmp/licenses',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: outside,
    logLevel: 'error',
  })
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  )
  const packages = new Set(files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []))
  const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { dependencies: Record<string, string> }
  const known = new Set([...inside, ...insidePluginWorker, ...insidePngWorker, ...Object.keys(dependencies)])
  expect(packages).toContain('hono')
  expect([...packages].filter((name) => !known.has(name))).toEqual([])
})
