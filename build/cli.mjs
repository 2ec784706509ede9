import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { build, stop } from 'esbuild'
import { buildEmptyFiles } from './empty-files.mjs'
import { removeOldParts } from './parts.mjs'
import { preludeText } from './prelude.mjs'

const { resolve } = createRequire(import.meta.url)

/** What the library and the programs have inside, besides what is installed beside them. */
export const inside = ['chevrotain', '@chevrotain/cst-dts-gen', '@chevrotain/gast', '@chevrotain/regexp-to-ast', '@chevrotain/types', '@chevrotain/utils', 'lodash-es', 'zod', 'hono', '@hono/node-server', 'fzstd', 'apache-arrow', 'flatbuffers', 'tslib', 'mmdb-lib', 'p-queue', 'p-timeout', 'eventemitter3', 'otplib', '@otplib/core', '@otplib/hotp', '@otplib/totp', '@otplib/uri', '@otplib/plugin-base32-scure', '@otplib/plugin-crypto-noble', '@scure/base', '@noble/hashes', '@simplewebauthn/server', '@hexagon/base64', '@levischuck/tiny-cbor', '@peculiar/asn1-android', '@peculiar/asn1-cms', '@peculiar/asn1-csr', '@peculiar/asn1-ecc', '@peculiar/asn1-pfx', '@peculiar/asn1-pkcs8', '@peculiar/asn1-pkcs9', '@peculiar/asn1-rsa', '@peculiar/asn1-schema', '@peculiar/asn1-x509', '@peculiar/asn1-x509-attr', '@peculiar/utils', '@peculiar/x509', 'asn1js', 'pvtsutils', 'pvutils', 'reflect-metadata', 'tsyringe', '@modelcontextprotocol/server', '@modelcontextprotocol/core']
/** What the threads of plugins have inside, with their licenses. */
export const insidePluginWorker = ['quickjs-emscripten-core', '@jitl/quickjs-ffi-types', '@jitl/quickjs-wasmfile-release-sync', 'buffer', 'base64-js', 'ieee754', 'events', 'sucrase', 'lines-and-columns', 'ts-interface-checker', '@jridgewell/gen-mapping', '@jridgewell/sourcemap-codec', '@jridgewell/resolve-uri', '@jridgewell/trace-mapping']
/** What the thread that draws bitmaps has inside. */
export const insidePngWorker = ['@resvg/resvg-wasm', '@fontsource-variable/inter']
export const programs = { cli: 'src/doors/cli/main.ts', 'engine-process': 'src/engine/isolation/engine-process.ts', 'fold-worker': 'src/core/folds/fold-worker.ts', 'answer-worker': 'src/engine/isolation/answer-worker.ts', 'import-worker': 'src/doors/library/import-worker.ts', 'plugin-worker': 'src/service/plugins/sandbox/plugin-worker.ts', 'png-worker': 'src/service/bitmaps/png-worker.ts' }
/** As `parts` of src/service/bitmaps/png-worker.ts. */
const fontParts = ['latin', 'latin-ext', 'greek', 'cyrillic']
/** Native code, and optional peers. */
export const outside = ['@duckdb/node-bindings*', 'nodemailer']

export async function licenseOf(name) {
  const folder = new URL(`../node_modules/${name}/`, import.meta.url)
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one))
  return `${name}\n\n${file ? await readFile(new URL(file, folder), 'utf8') : JSON.parse(await readFile(new URL('package.json', folder), 'utf8')).license}`
}

/**
 * Writes dist/cli.js, dist/engine-process.js, dist/fold-worker.js, dist/answer-worker.js, dist/import-worker.js, dist/plugin-worker.js and dist/png-worker.js: the command, its engine, the threads of that, of imports, of plugins and of bitmaps, with all their JavaScript inside,
 * because reading three hundred small files had been half of the time until a server is ready. They share files dist/part-…, and load of them what they need. What has native code, and optional peers, stay outside.
 */
export async function buildCli({ isAlone = false } = {}) {
  const { metafile } = await build({
    entryPoints: programs,
    outdir: 'dist',
    chunkNames: 'part-[name]-[hash]',
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: outside,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    metafile: true,
  })
  await writeFile('dist/plugin-prelude.js', await preludeText())
  await buildEmptyFiles('dist')
  await stop()
  await removeOldParts('dist', Object.keys(metafile.outputs).map((path) => basename(path)).filter((name) => name.startsWith('part-')), isAlone)
  await copyFile(resolve('@jitl/quickjs-wasmfile-release-sync/wasm'), 'dist/quickjs.wasm')
  await writeFile('dist/LICENSES.txt', (await Promise.all(inside.map(licenseOf))).join('\n\n'))
  await copyFile(resolve('@resvg/resvg-wasm/index_bg.wasm'), 'dist/resvg.wasm')
  await mkdir('dist/fonts', { recursive: true })
  for (const part of fontParts) await copyFile(resolve(`@fontsource-variable/inter/files/inter-${part}-wght-normal.woff2`), `dist/fonts/inter-${part}.woff2`)
  await writeFile('dist/png-worker.LICENSES.txt', (await Promise.all(insidePngWorker.map(licenseOf))).join('\n\n'))
  await writeFile('dist/plugin-worker.LICENSES.txt', (await Promise.all(insidePluginWorker.map(licenseOf))).join('\n\n'))
}
