import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { preludeText } from '../build/prelude.mjs'

export interface Measured {
  readonly seconds: number
  readonly peakMb: number
  /** What was counted at the end, so that a wrong answer is never a fast one. */
  readonly answer: number
  /** Further figures of the measurement, by name. */
  readonly figures?: Readonly<Record<string, number>>
}

/**
 * A program of benches as the package is built: what runs the sources directly keeps the names of functions, which costs time where they are made often,
 * and its loader takes a hundred megabytes. What it imports from `waymark` is the package as it would be published, or these sources.
 */
export const bundled = async (file: string, waymark: 'package' | 'sources' = 'package'): Promise<string> => {
  const name = basename(file, '.ts')
  const outdir = join(import.meta.dirname, '..', '.bench')
  const { build } = await import('esbuild')
  const library = waymark === 'package' ? { external: ['waymark'] } : { alias: { waymark: join(import.meta.dirname, '../src/index.ts') } }
  await build({
    // The program of the threads lies beside whoever starts them.
    entryPoints: {
      [name]: file,
      'fold-worker': join(import.meta.dirname, '../src/core/folds/fold-worker.ts'),
      'engine-process': join(import.meta.dirname, '../src/engine/isolation/engine-process.ts'),
      'answer-worker': join(import.meta.dirname, '../src/engine/isolation/answer-worker.ts'),
      'plugin-worker': join(import.meta.dirname, '../src/service/plugins/sandbox/plugin-worker.ts'),
    },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    ...library,
  })
  writeFileSync(join(outdir, 'plugin-prelude.js'), await preludeText())
  return join(outdir, `${name}.mjs`)
}

/** A measurement in a process of its own: nobody else's memory, no warm code. */
export const inOwnProcess = async (file: string, args: readonly string[]): Promise<Measured> => {
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { maxBuffer: 1 << 24 })
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measured
}

/** Times `work` and prints it for the process that asked. */
export const measured = async (work: () => Promise<{ answer: number; figures?: Readonly<Record<string, number>> }>): Promise<void> => {
  const start = performance.now()
  const result = await work()
  const seconds = (performance.now() - start) / 1000
  console.log(JSON.stringify({ seconds, peakMb: process.resourceUsage().maxRSS / 1024, ...result } satisfies Measured))
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const rounded = (value: number, digits = 3): number => Number(value.toPrecision(digits))

export const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 1024 ** 3),
  node: process.version,
})
