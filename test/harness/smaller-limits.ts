import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** A limit that a short run would never reach, in a file of the sources, and what is built in its place. */
export type SmallerLimit = readonly [file: string, text: string, smaller: string]

/** Builds programs that meet what only large directories would. */
export const withSmallerLimits = (root: string, limits: readonly SmallerLimit[]): Plugin => ({
  name: 'smaller-limits',
  setup({ onLoad }) {
    for (const file of new Set(limits.map(([file]) => file))) {
      const path = join(root, file)
      onLoad({ filter: new RegExp(`^${path.replaceAll('.', '\\.')}$`) }, () => {
        let contents = readFileSync(path, 'utf8')
        for (const [of, text, smaller] of limits) {
          if (of !== file) continue
          if (!contents.includes(text)) throw new Error(`${file} has no ${text} any more: the smaller limits of the tests must follow it`)
          contents = contents.replace(text, smaller)
        }
        return { contents, loader: 'ts' }
      })
    }
  },
})
