import { parseArgs } from 'node:util'
import { backupRounds, roundKind } from './rounds.ts'

// npm run test:backups -- --rounds 1000 [--seed N] [--only 'slow copy']

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
console.log(`seed ${seed}`)
const start = performance.now()
const result = await backupRounds(Number(values.rounds), seed, console.log, roundKind(values.only))
console.log(JSON.stringify({ seed, ...result, seconds: Math.round((performance.now() - start) / 1000) }))
