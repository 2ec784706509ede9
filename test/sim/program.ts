import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { kindOf, minimise } from './minimise.ts'
import type { Step } from './plan.ts'
import { replaceBuiltins } from './world/builtins.ts'
import { Schedule } from './world/schedule.ts'

// The process in which seeds run. Prints one line of JSON for each.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    twice: { type: 'boolean' },
    trace: { type: 'boolean' },
    minimise: { type: 'boolean' },
    'until-failure': { type: 'boolean' },
  },
})
const mostAttempts = 150

const { pid } = process
const print = process.stdout.write.bind(process.stdout)
const clock = performance.now.bind(performance)
// DuckDB syncs its files: in memory that takes no time.
const root = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `waymark-sim-${pid}`)
const cases = positionals.map((path) => ({
  name: path,
  ...(JSON.parse(readFileSync(path, 'utf8')) as { seed: number; steps: readonly Step[] }),
}))

const machine = { schedule: new Schedule(), files: null, random: () => 0 }
replaceBuiltins(machine)
const { simulate } = await import('./simulate.ts')
const log = values.trace ? (line: string) => void print(`${line}\n`) : undefined
// What is loaded by its first use is loaded now: it takes calls that a later run does not make.
await simulate(2 ** 31, machine, { root })

async function run(seed: number, planned?: readonly Step[], name?: string): Promise<boolean> {
  const began = clock()
  const { steps, ...summary } = await simulate(seed, machine, { root, ...(log && { log }), ...(planned && { steps: planned }) })
  const ms = Math.round(clock() - began)
  const again = values.twice && !planned ? (await simulate(seed, machine, { root, steps })).hash : undefined
  const { failure } = summary
  const fails = async (smaller: readonly Step[]) => {
    const found = (await simulate(seed, machine, { root, steps: smaller })).failure
    return found !== null && failure !== null && kindOf(found) === kindOf(failure)
  }
  const smallest = failure !== null && values.minimise ? await minimise(steps, fails, mostAttempts) : undefined
  print(`${JSON.stringify({ ...summary, ...(name && { name }), steps: steps.length, ms, again, smallest })}\n`)
  return failure === null
}

for (const { seed, steps, name } of cases) await run(seed, steps, name)
for (let seed = Number(values.from); seed <= Number(values.to); seed++) if (!(await run(seed)) && values['until-failure']) break
process.exit(0)
