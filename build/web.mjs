import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'
import { licenseOf } from './cli.mjs'

const folder = (path) => fileURLToPath(new URL(path, import.meta.url))
const [squeeze, zip] = [promisify(brotliCompress), promisify(gzip)]
/** What the pages have inside. */
const inside = ['preact', '@codemirror/autocomplete', '@codemirror/commands', '@codemirror/lang-javascript', '@codemirror/lang-sql', '@codemirror/language', '@codemirror/lint', '@codemirror/state', '@codemirror/view', '@lezer/common', '@lezer/highlight', '@lezer/javascript', '@lezer/lr', 'style-mod', 'w3c-keyname', 'crelt', 'papaparse', 'lean-qr', 'world-atlas', '@fontsource-variable/inter']
const largestUncompressed = 1024

/** What most pages need, and nothing that needs forms. It comes with the first page, in one file: a dozen small ones would each wait for a connection. */
const shared = /\/node_modules\/preact\/|\/src\/lib\/|\/src\/web\/(lib|ui)\/(?!code-view|forms\.|zone|about-document|in-place|tags|changes)|\/src\/web\/data\/event-name\.|\/src\/web\/people\/(properties|types)\.|\/src\/web\/insights\/(filters|filter-value|filter-text|property-field|event-field|choices|query|whose)\.|\/src\/web\/live\/(first-event|snippets|code-block)\.|\/src\/service\/pictures\/(format|readable|zone-text)\.|vite\/preload-helper/

/** Writes dist/web: the web interface, each file with a hash of its contents in the name, and compressed beside it. */
export async function buildWeb(outDir = folder('../dist/web/')) {
  await build({
    root: folder('../src/web/'),
    base: './',
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      rolldownOptions: { output: { codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'shared', test: shared }] } } },
    },
  })
  await writeFile(`${outDir}LICENSES.txt`, (await Promise.all(inside.map(licenseOf))).join('\n\n'))
  for (const name of await readdir(outDir, { recursive: true })) {
    if (!/\.(js|css|html|svg)$/.test(name)) continue
    const bytes = await readFile(outDir + name)
    if (bytes.length < largestUncompressed) continue
    await writeFile(`${outDir}${name}.br`, await squeeze(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
    await writeFile(`${outDir}${name}.gz`, await zip(bytes, { level: 9 }))
  }
}
