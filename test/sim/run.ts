import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bundleSimulator, repository } from './bundle.ts'

// npm run sim -- --seed 7 [--twice] [--trace]     one seed
// npm run sim -- --seeds 1-500                    many; the first line of each failing plan says how, and its smallest form is saved as a case
//   --processes N                                 at once; else one for each core, and for at least ten seeds
// npm run sim -- --case test/sim/cases/NAME.json  a case again

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    processes: { type: 'string' },
    case: { type: 'string' },
    twice: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})
const [from, to = from] = (values.seeds ?? values.seed ?? (values.case ? '1-0' : '1-20')).split('-')
const program = await bundleSimulator('sim')
const given = values.case ? [values.case] : []
const first = Number(from)
const last = Number(to)
const processes = Number(values.processes ?? Math.min(availableParallelism(), Math.ceil((last - first + 1) / 10))) || 1
const share = Math.ceil((last - first + 1) / processes)
const counts = { seeds: 0, failed: 0, ms: 0 }

async function runSeeds(from: number, to: number): Promise<void> {
  const args = [
    ...given,
    '--from',
    String(from),
    '--to',
    String(to),
    ...(given.length > 0 ? [] : ['--minimise']), // a case is as small as it gets
    ...(values.twice ? ['--twice'] : []),
    ...(values.trace ? ['--trace'] : []),
  ]
  const child = spawn(process.execPath, [program, ...args], { cwd: repository, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) note(line)
}

function note(line: string): void {
  if (!line.startsWith('{"seed"')) {
    console.log(line)
    return
  }
  const { smallest, ...result } = JSON.parse(line) as {
    seed: number
    failure: string | null
    hash: string
    again?: string
    ms: number
    smallest?: readonly object[]
  }
  console.log(JSON.stringify(result))
  counts.seeds++
  counts.ms += result.ms
  if (result.again !== undefined && result.again !== result.hash) {
    console.error(`Seed ${result.seed} had another trace the second time: something in it takes real time, or is random.`)
    counts.failed++
  }
  if (result.failure === null) return
  counts.failed++
  if (!smallest) return
  const path = join(repository, 'test/sim/cases', `seed-${result.seed}.json`)
  writeFileSync(path, `${JSON.stringify({ seed: result.seed, failure: result.failure, steps: smallest }, null, 1)}\n`)
  console.error(`The smallest plan that fails like this has ${smallest.length} steps: ${path}`)
}

const runs = Array.from({ length: processes }, (_, i) => runSeeds(first + i * share, Math.min(first + (i + 1) * share - 1, last)))
await Promise.all(runs)
const expected = given.length + Math.max(last - first + 1, 0)
if (counts.seeds < expected) console.error(`Only ${counts.seeds} of ${expected} ran to their end.`)
console.log(`${counts.seeds} seeds, ${counts.failed} failed, ${Math.round(counts.ms / Math.max(counts.seeds, 1))} ms each`)
process.exitCode = counts.failed > 0 || counts.seeds < Math.max(expected, 1) ? 1 : 0
