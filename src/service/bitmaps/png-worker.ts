import { existsSync, readFileSync } from 'node:fs'
import { createRequire as requireBeside } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import type { Drawn, ToDraw } from './png.ts'

// The program of the thread that makes bitmaps: the first one takes most of a second, a later one some dozen milliseconds.

/** The file is beside this program in the package, and in its own package when run from the sources. */
const bytesOf = (name: string, place: string): Uint8Array => {
  const beside = new URL(`./${name}`, import.meta.url)
  return readFileSync(existsSync(beside) ? beside : requireBeside(import.meta.url).resolve(place))
}

/** Greek and Cyrillic names too; other scripts are drawn as boxes. */
const parts = ['latin', 'latin-ext', 'greek', 'cyrillic']
const family = 'Inter Variable'
const font = {
  fontBuffers: parts.map((part) =>
    bytesOf(`fonts/inter-${part}.woff2`, `@fontsource-variable/inter/files/inter-${part}-wght-normal.woff2`),
  ),
  defaultFontFamily: family,
  sansSerifFamily: family,
}
const ready = initWasm(bytesOf('resvg.wasm', '@resvg/resvg-wasm/index_bg.wasm'))

parentPort!.on('message', async ({ id, svg, scale }: ToDraw) => {
  const answer = (drawn: Drawn) => parentPort!.postMessage(drawn)
  try {
    await ready
    const picture = new Resvg(svg, { fitTo: { mode: 'zoom', value: scale }, font })
    const rendered = picture.render()
    answer({ id, png: rendered.asPng() })
    rendered.free()
    picture.free()
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) })
  }
})
