import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type LineProcess, startLineProcess } from '../line-process.ts'
import { median } from '../measure.ts'
import { firstDifference } from './agreement.ts'
import type { EventFiles, Place, Rows } from './contender.ts'
import type { Done, Order } from './contender-process.ts'
import { type ContenderKey, contenders } from './contenders.ts'
import type { ContenderFigures, Outcome } from './figures.ts'
import { progress } from './progress.ts'
import type { Question } from './question.ts'
import { questions } from './questions.ts'

// The steps of a run: every contender loads, then all answers are compared, then each is timed. Each step of each contender has a process of its own, so that
// its peak memory is its own and what it knows from the step before is forgotten.

export interface Run {
  readonly events: EventFiles
  /** Contenders keep their events in folders of it. */
  readonly directory: string
  readonly threads: number
  readonly memory: string
  /** The built contender-process.ts. */
  readonly program: string
  /** Those that are asked, by their place in the table of questions. */
  readonly asked: readonly number[]
  readonly runs: number
}

const notBuilt = 'not built'
const secondsPerQuestion = 60

type ContenderProcess = LineProcess<Order, Done>

const placeOf = ({ directory, threads, memory }: Run, key: ContenderKey): Place => ({ directory: join(directory, key), threads, memory })
const start = (run: Run, key: ContenderKey): Promise<ContenderProcess> =>
  startLineProcess({ name: contenders[key].name, file: run.program, args: [key, JSON.stringify(placeOf(run, key))] })

async function done(contender: ContenderProcess, key: ContenderKey, order: Order): Promise<Done> {
  const answer = await contender.ask(order)
  if (answer.failed === undefined) return answer
  const question = 'question' in order ? `, ${questions[order.question]!.name}` : ''
  throw new Error(`${contenders[key].name}${question}: ${answer.failed}`)
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    return sum + (entry.isDirectory() ? bytesIn(path) : statSync(path).size)
  }, 0)

type Loaded = Pick<ContenderFigures, 'loadSeconds' | 'eventsPerSecond' | 'loadPeakMb' | 'diskMb'>

export async function loadContender(run: Run, key: ContenderKey): Promise<Loaded> {
  mkdirSync(placeOf(run, key).directory, { recursive: true })
  const contender = await start(run, key)
  try {
    const { ms, peakMb } = await done(contender, key, { do: 'load', events: run.events })
    const loadSeconds = ms![0]! / 1000
    const eventsPerSecond = run.events.data.events / loadSeconds
    return { loadSeconds, eventsPerSecond, loadPeakMb: peakMb, diskMb: bytesIn(placeOf(run, key).directory) / 1e6 }
  } finally {
    await contender.stop()
  }
}

/** The rows of each question that is asked; null where the contender cannot answer it yet. */
async function answersOf(run: Run, key: ContenderKey): Promise<readonly (Rows | null)[]> {
  const contender = await start(run, key)
  try {
    await done(contender, key, { do: 'open', data: run.events.data })
    const onProgress = progress(`${contenders[key].name}: checking the answers`, run.asked.length)
    const answers: (Rows | null)[] = []
    for (const question of run.asked) {
      const { rows, isMissing } = await done(contender, key, { do: 'rows', question })
      answers.push(isMissing ? null : rows!)
      onProgress(answers.length)
    }
    return answers
  } finally {
    await contender.stop()
  }
}

/** Two contenders answered a question differently: nothing is timed. */
export class DisagreementError extends Error {}

const named = (question: Question, [a, b]: readonly [string, string], one: ContenderKey, other: ContenderKey) =>
  `The contenders disagree about "${question.name}": ${contenders[one].name} answers ${a}, ${contenders[other].name} answers ${b}.`

/** Asks every contender every question once. Throws at the first question that two of them answer differently. */
export async function mustAgree(run: Run, keys: readonly ContenderKey[]): Promise<void> {
  const first: (readonly [ContenderKey, Rows] | undefined)[] = run.asked.map(() => undefined)
  for (const key of keys) {
    const answers = await answersOf(run, key)
    for (const [i, rows] of answers.entries()) {
      if (rows === null) continue
      const known = first[i]
      if (known === undefined) {
        first[i] = [key, rows]
        continue
      }
      const question = questions[run.asked[i]!]!
      const difference = firstDifference(known[1], rows, question)
      if (difference) throw new DisagreementError(named(question, difference, known[0], key))
    }
  }
}

const outcomeOf = ({ isMissing, failed, ms = [] }: Done): Outcome => {
  if (isMissing) return notBuilt
  if (failed !== undefined) return `failed: ${failed.split('\n')[0]}`
  return { median: median(ms), min: Math.min(...ms), max: Math.max(...ms), runs: ms.length }
}

type Timed = Pick<ContenderFigures, 'version' | 'firstAnswerMs' | 'queryPeakMb' | 'outcomes'>

/** The first question right after opening; then each question warm, after a time that does not count. */
export async function timeContender(run: Run, key: ContenderKey): Promise<Timed> {
  const contender = await start(run, key)
  try {
    const opened = await done(contender, key, { do: 'open', data: run.events.data })
    const first = await done(contender, key, { do: 'time', question: run.asked[0]!, times: 1, seconds: 0 })
    const onProgress = progress(`${contenders[key].name}: timing`, run.asked.length)
    const outcomes: Outcome[] = []
    let queryPeakMb = first.peakMb
    for (const question of run.asked) {
      await contender.ask({ do: 'time', question, times: 1, seconds: 0 })
      const timed = await contender.ask({ do: 'time', question, times: run.runs, seconds: secondsPerQuestion })
      queryPeakMb = timed.peakMb
      outcomes.push(outcomeOf(timed))
      onProgress(outcomes.length)
    }
    const firstAnswerMs = opened.ms![0]! + (first.ms?.[0] ?? Number.NaN)
    return { version: opened.version!, firstAnswerMs, queryPeakMb, outcomes }
  } finally {
    await contender.stop()
  }
}
