import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { licenseOf } from './cli.mjs'

const require = createRequire(import.meta.url)
const folder = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Of posthog-js: as src/doors/http/capture/scripts.ts serves them. */
const libraryFiles = ['array.js', 'web-vitals.js', 'web-vitals-with-attribution.js', 'web-vitals-soft-navs.js', 'web-vitals-with-attribution-soft-navs.js', 'exception-autocapture.js', 'dead-clicks-autocapture.js', 'tracing-headers.js']
/** What they have inside. */
const inside = ['posthog-js', '@posthog/core', '@posthog/browser-common', 'core-js', 'dompurify', 'fflate', 'preact', 'query-selector-shadow-dom', 'web-vitals']

const small = async (path, target) => (await transform(await readFile(folder(path), 'utf8'), { minify: true, target, legalComments: 'none' })).code

/** The script for page views, as small as it is served. */
export const smallPageScript = () => small('../src/web/page-script/waymark.js', 'es2020')
/** The custom elements, without the function that the server puts before them. */
const smallElements = () => small('../src/web/embed/elements.js', 'es2022')

/** Writes dist/client: the scripts that pages of other sites load. posthog-js is copied as it is, without the 28 MB around those files. */
export async function buildClient(outDir = folder('../dist/client/')) {
  await mkdir(outDir, { recursive: true })
  for (const name of libraryFiles) await copyFile(require.resolve(`posthog-js/dist/${name}`), outDir + name)
  const { name, version } = require('posthog-js/package.json')
  await writeFile(`${outDir}posthog-js.json`, `${JSON.stringify({ name, version })}\n`)
  await writeFile(`${outDir}waymark.js`, await smallPageScript())
  await writeFile(`${outDir}elements.js`, await smallElements())
  await writeFile(`${outDir}LICENSES.txt`, (await Promise.all(inside.map(licenseOf))).join('\n\n'))
}
