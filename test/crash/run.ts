import { parseArgs } from 'node:util'
import { crashRounds } from './harness.ts'

// npm run test:crash -- --rounds 500 [--seed N]

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '500' }, seed: { type: 'string' } } })
const seed = Number(values.seed ?? Date.now() % 1_000_000)
console.log(`seed ${seed}`)
const start = performance.now()
const result = await crashRounds(Number(values.rounds), seed, console.log)
console.log(JSON.stringify({ seed, ...result, seconds: Math.round((performance.now() - start) / 1000) }))
