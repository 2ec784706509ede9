import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'

// The command and the library as an operator has them: built, in processes of their own.

const root = resolve(import.meta.dirname, '../..')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface Built {
  /** `waymark …`. */
  command(args: readonly string[], user?: { readonly uid: number; readonly gid: number }): Running
  /** A module that may import `open` from the library. */
  program(text: string, args: readonly string[]): Running
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  firstLine(): Promise<string>
}

/** Longer than any of them may take on a busy machine; what hangs is ended by it. */
const limitMs = 120_000

function run(args: readonly string[], user: { readonly uid?: number; readonly gid?: number } = {}): Running {
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'], cwd: root, ...user })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const lines = createInterface({ input: child.stdout })
  const first = once(lines, 'line').then(([line]) => line as string)
  first.catch(() => undefined)
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const ended = once(child, 'close').then(([code, signal]) => {
    clearTimeout(late)
    return { code, signal, out, err }
  })
  const over = ended.then((end): never => {
    throw new Error(`it ended before its first line: ${JSON.stringify(end)}`)
  })
  over.catch(() => undefined)
  return { child, ended, firstLine: () => Promise.race([first, over]) }
}

/** Builds both into a folder of the checkout, where the native packages are found. */
export async function buildAll(): Promise<Built> {
  const outdir = resolve(root, '.tmp', `damage-${process.pid}`)
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" }
  const entryPoints = {
    cli: resolve(root, 'src/doors/cli/main.ts'),
    'engine-process': resolve(root, 'src/engine/isolation/engine-process.ts'),
    'fold-worker': resolve(root, 'src/core/folds/fold-worker.ts'),
    'answer-worker': resolve(root, 'src/engine/isolation/answer-worker.ts'),
    index: resolve(root, 'src/index.ts'),
  }
  const external = ['@duckdb/*', 'nodemailer']
  await build({
    entryPoints,
    outdir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external,
    banner,
    outExtension: { '.js': '.mjs' },
  })
  const library = resolve(outdir, 'index.mjs')
  return {
    command: (args, user) => run([resolve(outdir, 'cli.mjs'), ...args], user),
    program: (text, args) => run(['--input-type=module', '-e', `import { open } from ${JSON.stringify(library)}\n${text}`, ...args]),
  }
}
