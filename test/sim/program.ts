import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { replaceBuiltins } from './world/builtins.ts'
import { Schedule } from './world/schedule.ts'

// The process in which seeds run. Prints one line of JSON for each.

const { values } = parseArgs({
  options: { from: { type: 'string' }, to: { type: 'string' }, twice: { type: 'boolean' }, trace: { type: 'boolean' }, untilFailure: { type: 'boolean' } },
})
const { pid } = process
const print = process.stdout.write.bind(process.stdout)
const clock = performance.now.bind(performance)
const machine = { schedule: new Schedule(), files: null, random: () => 0 }
// DuckDB syncs its files: in memory that takes no time.
const root = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `waymark-sim-${pid}`)

replaceBuiltins(machine)
const { simulate } = await import('./simulate.ts')
const log = values.trace ? (line: string) => void print(`${line}\n`) : undefined
// What is loaded by its first use is loaded now: it takes calls that a later run does not make.
await simulate(2 ** 31, machine, { root })
for (let seed = Number(values.from); seed <= Number(values.to); seed++) {
  const began = clock()
  const cpu = process.cpuUsage()
  const result = await simulate(seed, machine, { root, ...(log && { log }) })
  const ms = Math.round(clock() - began)
  const { user, system } = process.cpuUsage(cpu)
  const again = values.twice ? await simulate(seed, machine, { root }) : null
  const { steps, ...summary } = result
  print(`${JSON.stringify({ ...summary, steps: steps.length, ms, cpuMs: Math.round((user + system) / 1000), ...(again && { again: again.hash }) })}\n`)
  if (values.untilFailure && result.failure) break
}
process.exit(0)
