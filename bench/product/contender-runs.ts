import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type LineProcess, startLineProcess } from '../line-process.ts'
import { median } from '../measure.ts'
import type { EventFiles, Resources, Rows } from './contender.ts'
import type { Done, Order } from './contender-process.ts'
import { type ContenderKey, contenders } from './contenders.ts'
import { arrivingPerSecond, type ContenderFigures, failedWith, type Outcome } from './figures.ts'
import { forgetLoad, keepLoad, keptLoad } from './kept-loads.ts'
import { progress } from './progress.ts'
import type { Question } from './question.ts'
import { questions } from './questions.ts'

// The steps of a run: every contender loads, then all answers are compared, then each is timed. Each step of each contender has a process of its own, so that
// its peak memory is its own and what it knows from the step before is forgotten.

export interface Run {
  readonly events: EventFiles
  /** Contenders keep their events in folders of it. */
  readonly directory: string
  /** The folders stay, and are asked again by a later run. */
  readonly isKept: boolean
  readonly threads: number
  readonly memory: string
  /** The built contender-process.ts. */
  readonly program: string
  /** Those that are asked, by their index in the table of questions. */
  readonly asked: readonly number[]
  readonly runs: number
  /** No other conditions are measured. */
  readonly atRest: boolean
}

const notBuilt = 'not built'
const secondsPerQuestion = 60

type ContenderProcess = LineProcess<Order, Done>

const resourcesOf = ({ directory, threads, memory }: Run, key: ContenderKey): Resources => ({
  directory: join(directory, key),
  threads,
  memory,
})
const start = (run: Run, key: ContenderKey): Promise<ContenderProcess> =>
  startLineProcess({ name: contenders[key].name, file: run.program, args: [key, JSON.stringify(resourcesOf(run, key))] })

async function done(contender: ContenderProcess, order: Order): Promise<Done> {
  const answer = await contender.ask(order)
  if (answer.failed !== undefined) throw new Error(answer.failed)
  return answer
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    return sum + (entry.isDirectory() ? bytesIn(path) : statSync(path).size)
  }, 0)

export type Loaded = Pick<ContenderFigures, 'loadSeconds' | 'eventsPerSecond' | 'loadPeakMb' | 'diskMb'>

export async function loadContender(run: Run, key: ContenderKey): Promise<Loaded> {
  const { directory } = resourcesOf(run, key)
  const { data } = run.events
  const earlier = run.isKept ? keptLoad<Loaded>(directory, data) : null
  if (earlier) return earlier
  rmSync(directory, { recursive: true, force: true }) // a load that was stopped
  mkdirSync(directory, { recursive: true })
  const loaded = await load(run, key)
  if (run.isKept) keepLoad(directory, data, loaded)
  return loaded
}

async function load(run: Run, key: ContenderKey): Promise<Loaded> {
  const contender = await start(run, key)
  try {
    const { ms, peakMb } = await done(contender, { do: 'load', events: run.events })
    const loadSeconds = ms![0]! / 1000
    const eventsPerSecond = run.events.data.events / loadSeconds
    return { loadSeconds, eventsPerSecond, loadPeakMb: peakMb, diskMb: bytesIn(resourcesOf(run, key).directory) / 1e6 }
  } finally {
    await contender.stop()
  }
}

/** What it has on the disk goes: the next one needs the room. */
export function removeContender(run: Run, key: ContenderKey): void {
  if (!run.isKept) rmSync(resourcesOf(run, key).directory, { recursive: true, force: true })
}

interface Opened extends ContenderProcess {
  /** What opening answered the first time. */
  readonly opening: Done
}

/** The loaded contender in a process. One that ends is a failure of the question that it was asked, and is started again for the next one. */
async function openContender(run: Run, key: ContenderKey): Promise<Opened> {
  let current: ContenderProcess | null = await start(run, key)
  const open: Order = { do: 'open', data: run.events.data }
  const opening = await done(current, open)
  const again = async () => {
    const process = await start(run, key)
    await done(process, open)
    return process
  }
  return {
    opening,
    async ask(order) {
      try {
        current ??= await again()
        return await current.ask(order)
      } catch (error) {
        current = null
        return { failed: (error as Error).message, peakMb: 0 }
      }
    },
    stop: async () => current?.stop(),
  }
}

/** The rows of each question that is asked; null where the contender cannot answer it yet, or failed. */
export async function answersOf(run: Run, key: ContenderKey): Promise<readonly (Rows | null)[]> {
  const { name } = contenders[key]
  const contender = await openContender(run, key)
  const onProgress = progress(`${name}: checking the answers`, run.asked.length)
  const answers: (Rows | null)[] = []
  for (const question of run.asked) {
    const { rows, failed } = await contender.ask({ do: 'rows', question })
    if (failed !== undefined) console.error(`${name} cannot answer "${questions[question]!.name}": ${firstLine(failed)}`)
    answers.push(rows ?? null)
    onProgress(answers.length)
  }
  await contender.stop()
  return answers
}

/** The order of the questions is that of the answers. */
export const askedOf = ({ asked }: Run): readonly Question[] => asked.map((question) => questions[question]!)

/** Engines add advice about their settings. */
export const firstLine = (message: string): string => message.split('\n', 1)[0]!

const outcomeOf = ({ isMissing, failed, ms = [] }: Done): Outcome => {
  if (isMissing) return notBuilt
  if (failed !== undefined) return `${failedWith}${firstLine(failed)}`
  return { median: median(ms), min: Math.min(...ms), max: Math.max(...ms), runs: ms.length }
}

type Timed = Pick<ContenderFigures, 'version' | 'firstAnswerMs' | 'queryPeakMb' | 'outcomes' | 'conditions'>

/** The first question right after opening; then each question for the first time, and warm. */
export async function timeContender(run: Run, key: ContenderKey): Promise<Timed> {
  const contender = await openContender(run, key)
  const { opening } = contender
  const first = await contender.ask({ do: 'time', question: run.asked[0]!, times: 1, seconds: 0 })
  const { outcomes, firsts, peakMb } = await timesOf(contender, run, `${contenders[key].name}: timing`)
  if (run.isKept && !run.atRest) forgetLoad(resourcesOf(run, key).directory)
  const live = run.atRest ? null : await whileEventsArrive(contender, run, `${contenders[key].name}: timing while events arrive`)
  await contender.stop()
  const firstAnswerMs = first.ms ? opening.ms![0]! + first.ms[0]! : null
  const timed = { version: opening.version!, firstAnswerMs, queryPeakMb: Math.max(first.peakMb, peakMb), outcomes }
  if (run.atRest) return timed
  return { ...timed, conditions: { first: firsts, opened: await rightAfterOpening(run, key), ...(live && { live }) } }
}

/** Of each question, the first time, and then the times of what is warm: also of one that was stopped at first, as people ask it again. */
async function timesOf(contender: Opened, run: Run, what: string) {
  const onProgress = progress(what, run.asked.length)
  const outcomes: Outcome[] = []
  const firsts: Outcome[] = []
  let peakMb = 0
  for (const question of run.asked) {
    const warmUp = await contender.ask({ do: 'time', question, times: 1, seconds: 0 })
    firsts.push(outcomeOf(warmUp))
    await contender.ask({ do: 'settle', question })
    const timed = await contender.ask({ do: 'time', question, times: run.runs, seconds: secondsPerQuestion })
    peakMb = Math.max(peakMb, timed.peakMb)
    outcomes.push(outcomeOf(timed))
    onProgress(outcomes.length)
  }
  return { outcomes, firsts, peakMb }
}

/** Null: the contender takes no events meanwhile. */
async function whileEventsArrive(contender: Opened, run: Run, what: string): Promise<readonly Outcome[] | null> {
  const { isMissing, failed } = await contender.ask({ do: 'feed', perSecond: arrivingPerSecond })
  if (isMissing || failed) return null
  const { outcomes } = await timesOf(contender, run, what)
  await contender.ask({ do: 'feed', perSecond: 0 })
  return outcomes
}

/** Each question in a new process. */
async function rightAfterOpening(run: Run, key: ContenderKey): Promise<readonly Outcome[]> {
  const onProgress = progress(`${contenders[key].name}: asking right after opening`, run.asked.length)
  const outcomes: Outcome[] = []
  for (const question of run.asked) {
    const contender = await openContender(run, key)
    const answered = await contender.ask({ do: 'time', question, times: 1, seconds: 0 })
    await contender.stop()
    const opening = contender.opening.ms![0]!
    outcomes.push(outcomeOf({ ...answered, ...(answered.ms && { ms: answered.ms.map((ms) => opening + ms) }) }))
    onProgress(outcomes.length)
  }
  return outcomes
}
