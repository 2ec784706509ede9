import { rounded } from '../measure.ts'
import { checkout } from './checkout.ts'
import { questions } from './questions.ts'
import { type RevisionProcess, startRevision } from './revision-process.ts'
import { type Pair, tolerated, verdictOf } from './verdict.ts'

export interface CompareOptions {
  readonly root: string
  readonly commit: string
  readonly events: number
  readonly runs: number
  /** How many times as long the working tree is made to take, to see that it is found. */
  readonly slowDown?: number
}

/** A sample of less would be the noise of the clock and of the scheduler. */
const shortestSampleMs = 30
const mostTimes = 50
/** Pairs that do not count: the code is compiled by use. */
const warmUps = 2

interface Sides {
  readonly revision: RevisionProcess
  readonly working: RevisionProcess
}

/** Asks both by turns, and each first every other time. */
async function pairsOf(sides: Sides, question: number, times: number, runs: number): Promise<Pair[]> {
  const msOf = async (side: RevisionProcess): Promise<number> => {
    const told = await side.ask({ question, times })
    if ('refused' in told) throw new Error(`${questions[question]!.what}: ${told.refused}`)
    return told.ms
  }
  const pairs: Pair[] = []
  for (let run = 0; run < runs; run++)
    if (run % 2 === 0) {
      const revision = await msOf(sides.revision)
      pairs.push({ revision, working: await msOf(sides.working) })
    } else {
      const working = await msOf(sides.working)
      pairs.push({ revision: await msOf(sides.revision), working })
    }
  return pairs
}

/** One question: what is printed of it, and whether it is slower. One that seems to be is asked again, twice as often, and the second time counts. */
async function compareQuestion(sides: Sides, question: number, runs: number): Promise<{ line: object; isSlower: boolean }> {
  const { what, when } = questions[question]!
  const [before, now] = [await sides.revision.ask({ question, times: 1 }), await sides.working.ask({ question, times: 1 })]
  if ('refused' in now) return { line: { what, refused: now.refused }, isSlower: !('refused' in before) }
  if ('refused' in before) return { line: { what, new: true }, isSlower: false }
  const times = when === 'first' ? 1 : Math.max(1, Math.min(mostTimes, Math.ceil(shortestSampleMs / before.ms)))
  await pairsOf(sides, question, times, warmUps)
  let pairs = await pairsOf(sides, question, times, runs)
  if (verdictOf(pairs).isSlower) pairs = await pairsOf(sides, question, times, 2 * runs)
  const { ratio, middle, isSlower } = verdictOf(pairs)
  const line = {
    what,
    ratio: rounded(ratio),
    middle_half: middle.map((value) => rounded(value)),
    runs: pairs.length,
    ...(before.answer === now.answer ? {} : { other_answer: true }),
    ...(isSlower ? { slower: true } : {}),
  }
  return { line, isSlower }
}

/** Asks the questions of a commit and of the working tree, prints a line for each, and answers which are slower. */
export async function compareRevisions({ root, commit, events, runs, slowDown }: CompareOptions): Promise<readonly string[]> {
  const name = commit.slice(0, 12)
  const other = checkout(root, commit)
  const processes: RevisionProcess[] = []
  const stopped = () => {
    other.remove()
    process.exit(130)
  }
  process.once('SIGINT', stopped).once('SIGTERM', stopped)
  try {
    const sides: Sides = { revision: await startRevision(other.folder, events), working: await startRevision(root, events, slowDown) }
    processes.push(sides.revision, sides.working)
    const slower: string[] = []
    for (const [question, { what }] of questions.entries()) {
      const { line, isSlower } = await compareQuestion(sides, question, runs)
      console.log(JSON.stringify({ bench: 'compare', revision: name, events, ...line }))
      if (isSlower) slower.push(what)
    }
    console.log(
      slower.length
        ? `Slower than ${name} by more than ${Math.round((tolerated - 1) * 100)} percent: ${slower.join('; ')}`
        : `No question is slower than ${name} by more than ${Math.round((tolerated - 1) * 100)} percent.`,
    )
    return slower
  } finally {
    await Promise.all(processes.map((one) => one.stop()))
    other.remove()
    process.off('SIGINT', stopped).off('SIGTERM', stopped)
  }
}
