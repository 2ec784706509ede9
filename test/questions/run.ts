import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { store, wrongAnswers } from './ask.ts'
import { countedAnswers, manyEvents } from './events.ts'
import { questions } from './questions.ts'

// The questions of docs/first-questions.md over many events, by each way there is.   npm run test:questions -- --events 3000000

const { values } = parseArgs({ options: { events: { type: 'string', default: '3000000' } } })
const events = Number(values.events)
const dataDir = mkdtempSync(join(tmpdir(), 'waymark-questions-'))
const since = (start: number) => `${((performance.now() - start) / 1000).toFixed(1)} s`
try {
  let start = performance.now()
  await store(dataDir, manyEvents(events))
  console.log(`stored ${events.toLocaleString('en')} events in ${since(start)}`)
  start = performance.now()
  const answers = countedAnswers(manyEvents(events))
  const wrong = await wrongAnswers(dataDir, answers)
  for (const { way, question, as, wanted, got } of wrong)
    console.log(`WRONG  ${way}, ${question} (${as}): want ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`)
  console.log(`${questions().length} questions, twice each, by three ways in ${since(start)}: ${wrong.length} wrong`)
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
