import { Script } from 'node:vm'
import { type Transform, transform } from 'sucrase'
import type { BrowserFile, Transpiled } from '../host-ports.ts'

/** Files that browsers run. They are compiled when they are stored, in a thread of the plugins. */
const kinds: Readonly<Record<BrowserFile, { readonly transforms: readonly Transform[]; wrap(code: string): string }>> = {
  // The page gives modules to the app, such as React.
  'frontend.tsx': {
    transforms: ['typescript', 'jsx', 'imports'],
    wrap: (code) => `export function getFrontendApp(require) {\nconst exports = {};\n${code}\nreturn exports;\n}\n`,
  },
  'site.ts': {
    transforms: ['typescript', 'imports'],
    wrap: (code) => `(function () {\nconst exports = {};\n${code}\nreturn exports;\n})()\n`,
  },
}

/** Some short texts with nested type parameters would take hours, and others wait meanwhile. */
const mostMs = 1000
const mostBytes = 512 * 1024

const call = new Script('work()')
/** Interrupts code that takes too long, also that of this module. */
const withinTime = <T>(work: () => T): T => call.runInNewContext({ work }, { timeout: mostMs }) as T

const isLate = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** The time is that of a clock: a busy machine may have used it for others. */
function onceMore<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isLate(error)) throw error
    return work()
  }
}

export function compileForBrowsers(name: BrowserFile, source: string): Transpiled {
  const { transforms, wrap } = kinds[name]
  const bytes = Buffer.byteLength(source)
  if (bytes > mostBytes)
    return failed(`A file that is compiled has at most ${mostBytes / 1024} KiB, but this one has ${Math.ceil(bytes / 1024)}.`)
  try {
    const options = { transforms: [...transforms], filePath: name, production: true, disableESTransforms: true }
    const compile = () => withinTime(() => transform(source, options))
    const { code } = onceMore(compile)
    // The transpiler accepts some texts that are no JavaScript. Compiled only, never run.
    new Script(`(function (require, exports) {\n${code}\n})`, { filename: name, lineOffset: -1 })
    return { transpiled: wrap(code), status: 'TRANSPILED', error: null }
  } catch (error) {
    if (isLate(error))
      return failed(
        `Compiling took longer than ${mostMs / 1000} second. Write deeply nested functions and type parameters as several statements.`,
      )
    return failed(error instanceof Error ? error.message : String(error))
  }
}

const failed = (error: string): Transpiled => ({ transpiled: null, status: 'ERROR', error })
