import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// `npm run kernels`: src/core/simd/kernel-module.ts is made of kernels.wat beside it. Both are kept, so that sources run without a build.

const folder = join(import.meta.dirname, '../src/core/simd')

/** The text of kernel-module.ts. */
export async function kernelModuleText() {
  const { default: wabt } = await import('wabt')
  const module = (await wabt()).parseWat('kernels.wat', readFileSync(join(folder, 'kernels.wat'), 'utf8'), { simd: true })
  module.validate()
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  const lines = base64.match(/.{1,120}/g).map((line) => `  '${line}'`)
  return `// \`npm run kernels\` makes this file of kernels.wat.\n\n/** The kernels as a WebAssembly module in base64. */\nexport const kernelModule =\n${lines.join(' +\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(join(folder, 'kernel-module.ts'), await kernelModuleText())
