import { constants, cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { checkout } from '../compare/checkout.ts'
import { bundleOf } from '../compare/revision-process.ts'
import { type LineProcess, startLineProcess } from '../line-process.ts'
import { median, rounded } from '../measure.ts'
import { readQuestions } from './question-file.ts'
import type { Answered, Asked, Told } from './worker.ts'

export interface OwnOptions {
  readonly root: string
  /** A copy of a directory of Waymark's, which nobody has open: opening it changes it. */
  readonly data: string
  readonly questions: string
  /** Its number or name; undefined: the only one. */
  readonly project: string | undefined
  readonly runs: number
  /** Asked as well; null: the working tree alone. */
  readonly commit: string | null
}

type Side = LineProcess<Asked, Told>

/** A copy for the other side, beside the directory: where the file system can share blocks, it takes no room. */
function copyOf(data: string): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(dirname(data), '.waymark-bench-'))
  cpSync(data, folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

async function startSide(root: string, dataDir: string, { questions, project }: OwnOptions): Promise<Side> {
  const file = await bundleOf(root, 'own', join(import.meta.dirname, 'worker.ts'))
  return startLineProcess({ name: root, file, args: [dataDir, resolve(questions), ...(project === undefined ? [] : [project])], cwd: root })
}

async function timesOf(side: Side, question: number, runs: number): Promise<{ first: Answered; times: number[]; last: Answered } | string> {
  const first = await side.ask({ question, isFirst: true })
  if ('refused' in first) return first.refused
  const times: number[] = []
  let last = first
  for (let run = 0; run < runs; run++) {
    const told = await side.ask({ question, isFirst: false })
    if ('refused' in told) return told.refused
    times.push(told.ms)
    last = told
  }
  return { first, times, last }
}

/** Asks a person's own questions of a copy of their directory, and prints a line for each: the first time after opening, the median of the times after it, and how it was found. */
export async function ownQuestions(options: OwnOptions): Promise<boolean> {
  const { root, data, commit, runs } = options
  const questions = readQuestions(options.questions)
  if (!existsSync(data) || !statSync(data).isDirectory()) throw new Error(`There is no directory ${data}`)
  const other = commit === null ? null : checkout(root, commit)
  const copy = other ? copyOf(resolve(data)) : null
  const sides: Side[] = []
  const remove = () => {
    copy?.remove()
    other?.remove()
  }
  const stopped = () => {
    remove()
    process.exit(130)
  }
  process.once('SIGINT', stopped).once('SIGTERM', stopped)
  let isWhole = true
  try {
    sides.push(await startSide(root, resolve(data), options))
    if (other && copy) sides.push(await startSide(other.folder, copy.folder, options))
    for (const [question, { what }] of questions.entries()) {
      const [now, before] = [await timesOf(sides[0]!, question, runs), other ? await timesOf(sides[1]!, question, runs) : null]
      if (typeof now === 'string') {
        isWhole = false
        console.log(JSON.stringify({ bench: 'own', what, refused: now }))
        continue
      }
      const ms = median(now.times)
      const line = {
        first_ms: rounded(now.first.ms),
        ms: rounded(ms),
        rows: now.last.rows,
        first_explain: now.first.explain,
        explain: now.last.explain,
      }
      const compared =
        before === null
          ? {}
          : typeof before === 'string'
            ? { revision: commit!.slice(0, 12), revision_refused: before }
            : {
                revision: commit!.slice(0, 12),
                first_ratio: rounded(now.first.ms / before.first.ms),
                ratio: rounded(ms / median(before.times)),
                ...(now.last.answer === before.last.answer ? {} : { other_answer: true }),
              }
      console.log(JSON.stringify({ bench: 'own', what, ...line, ...compared }))
    }
    return isWhole
  } finally {
    for (const side of sides) await side.stop()
    remove()
    process.off('SIGINT', stopped).off('SIGTERM', stopped)
  }
}
