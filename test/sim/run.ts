import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bundleSimulator, repository } from './bundle.ts'

// npm run sim -- --seed 7 [--twice] [--trace]     one seed
// npm run sim -- --seeds 1-500                    many; the first line of each failing plan says how, and its smallest form is saved as a case
// npm run sim -- --case test/sim/cases/NAME.json  a case again

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    case: { type: 'string' },
    twice: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})
const [from, to = from] = (values.seeds ?? values.seed ?? (values.case ? '1-0' : '1-20')).split('-')
const program = await bundleSimulator('sim')
const given = values.case ? [values.case] : []
const args = [
  ...given,
  '--from',
  from!,
  '--to',
  to!,
  '--minimise',
  ...(values.twice ? ['--twice'] : []),
  ...(values.trace ? ['--trace'] : []),
]
const child = spawn(process.execPath, [program, ...args], { cwd: repository, stdio: ['ignore', 'pipe', 'inherit'] })
const counts = { seeds: 0, failed: 0, ms: 0 }
for await (const line of createInterface({ input: child.stdout })) {
  if (!line.startsWith('{"seed"')) {
    console.log(line)
    continue
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
  if (result.failure === null) continue
  counts.failed++
  if (!smallest) continue
  const path = join(repository, 'test/sim/cases', `seed-${result.seed}.json`)
  writeFileSync(path, `${JSON.stringify({ seed: result.seed, failure: result.failure, steps: smallest }, null, 1)}\n`)
  console.error(`The smallest plan that fails like this has ${smallest.length} steps: ${path}`)
}
console.log(`${counts.seeds} seeds, ${counts.failed} failed, ${Math.round(counts.ms / Math.max(counts.seeds, 1))} ms each`)
process.exitCode = counts.failed > 0 || counts.seeds === 0 ? 1 : 0
