import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { cli } from './server.ts'
import { soak } from './soak.ts'

// `npm run build && npm run test:soak -- --minutes 30`: a built server under a small team's traffic, sixteen times as fast, with kills in the first half. A table
// with a row for each minute, then what holds. A run of less than ten minutes is too short to judge growth: then only what is wrong counts.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'kill-minutes': { type: 'string' },
    filled: { type: 'string', default: '300000' },
    memory: { type: 'string', default: '512MB' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
if (!existsSync(cli)) {
  console.error('There is no built package: run `npm run build` first.')
  process.exit(1)
}
const numberOf = (name: string, text: string): number => {
  const number = Number(text)
  if (Number.isFinite(number) && number > 0) return number
  console.error(`--${name} must be a number above 0, got ${text}.`)
  process.exit(2)
}
const minutes = numberOf('minutes', values.minutes)
const leastToJudge = 10
const { verdicts, counts, wrong } = await soak({
  minutes,
  killMinutes: numberOf('kill-minutes', values['kill-minutes'] ?? String(Math.min(3, minutes / 5))),
  filled: numberOf('filled', values.filled),
  memory: values.memory,
  seed: numberOf('seed', values.seed ?? String(1 + (Date.now() % 1_000_000))),
  keeps: values.keep,
  log: console.log,
})
console.log('')
for (const { name, holds, figures } of verdicts) console.log(`${holds ? 'holds ' : 'MISSED'}  ${name}: ${figures}`)
for (const one of wrong) console.log(`WRONG   ${one}`)
console.log(JSON.stringify({ minutes, ...counts, wrong: wrong.length, missed: verdicts.filter(({ holds }) => !holds).length }))
const isJudged = minutes >= leastToJudge
if (!isJudged) console.log(`Less than ${leastToJudge} minutes: what was missed does not count.`)
if (wrong.length > 0 || (isJudged && verdicts.some(({ holds }) => !holds))) process.exitCode = 1
