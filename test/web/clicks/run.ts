import { join } from 'node:path'
import { parseArgs } from 'node:util'
import buildPrograms from '../../harness/programs.ts'
import { type Checks, walk } from './walk.ts'

// `npm run test:clicks -- --seeds 20 --steps 500`: random clicks through the demo project. `--seed 7 --until 123` repeats one of them up to a step.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2' },
    steps: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    until: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})
const first = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
const steps = Number(values.until ?? values.steps)
const folder = join(import.meta.dirname, '../../../.tmp/clicks')

await buildPrograms()
const all: Partial<Checks> = {}
let found = 0
for (let seed = first; seed < first + count; seed++) {
  const begun = performance.now()
  const { findings, steps: taken, checks } = await walk({ seed, steps, folder, ...(values.verbose && { log: console.log }) })
  for (const { step, what, address } of findings) {
    console.log(`\nseed ${seed}, step ${step}: ${what}\n  at ${address}\n  npm run test:clicks -- --seed ${seed} --until ${step}`)
    found++
  }
  if (findings.length > 0) console.log(`\nsteps of seed ${seed}:\n${taken.join('\n')}\npictures: ${folder}\n`)
  for (const [name, times] of Object.entries(checks) as [keyof Checks, number][]) all[name] = (all[name] ?? 0) + times
  console.log(`seed ${seed}: ${taken.length} steps in ${Math.round((performance.now() - begun) / 1000)} s, ${findings.length} findings`)
}
console.log(`checked: ${JSON.stringify(all)}`)
if (found > 0) process.exitCode = 1
