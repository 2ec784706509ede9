import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { machine, median, rounded } from './measure.ts'

// How much memory does the built server take that nobody uses, with an empty directory and the defaults, beside an empty Node process? Resident memory of
// the server and its engine, `-- --seconds N` after it is ready.

const { values } = parseArgs({
  options: { events: { type: 'string' }, runs: { type: 'string', default: '5' }, seconds: { type: 'string', default: '10' } },
})
const cli = join(import.meta.dirname, '../dist/cli.js')

const residentMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
const withChildren = (pid: number): readonly number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(withChildren)]
}

/** Resident memory of a program and its children, some seconds after its first line. */
const measured = async (args: readonly string[]): Promise<{ readonly processes: number; readonly mb: number }> => {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(createInterface({ input: child.stdout }), 'line')
  await setTimeout(Number(values.seconds) * 1000)
  const pids = withChildren(child.pid!)
  const mb = pids.reduce((sum, pid) => sum + residentMb(pid), 0)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { processes: pids.length, mb }
}

const served = async (...options: readonly string[]) => {
  const data = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  try {
    return await measured([cli, 'serve', '--data', data, '--port', '0', '--json', ...options])
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}
const empty = () => measured(['-e', 'console.log("ready"); setInterval(() => {}, 1000)'])

for (const [part, options] of [
  ['two processes', []],
  ['one process', ['--one-process']],
] as const) {
  const [server, node]: [number[], number[]] = [[], []]
  let processes = 0
  for (let run = 0; run < Number(values.runs); run++) {
    const one = await served(...options)
    processes = one.processes
    server.push(one.mb)
    node.push((await empty()).mb)
  }
  console.log(
    JSON.stringify({
      bench: 'idle',
      part,
      state: `an empty directory, ${values.seconds} s after the start`,
      processes,
      resident_mb: Math.round(median(server)),
      smallest_mb: Math.round(Math.min(...server)),
      largest_mb: Math.round(Math.max(...server)),
      of_empty_node: rounded(median(server) / median(node)),
      machine: machine(),
    }),
  )
}
