import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackage } from '../build-package.ts'
import { bundled, machine } from '../measure.ts'
import { type Answered, disagreement } from './agreement.ts'
import type { EventFiles } from './contender.ts'
import { answersOf, askedOf, firstLine, type Loaded, loadContender, type Run, removeContender, timeContender } from './contender-runs.ts'
import { type ContenderKey, contenders } from './contenders.ts'
import { writeEventFiles } from './event-files.ts'
import type { ContenderFigures, Figures, Missing } from './figures.ts'
import { peopleOf } from './generator.ts'
import type { Options } from './options.ts'
import { progress } from './progress.ts'
import { questions } from './questions.ts'

/** Contenders that are not installed are left out, and the report says so. */
const notInstalled = (keys: readonly ContenderKey[]): readonly (Missing & { readonly key: ContenderKey })[] =>
  keys.flatMap((key) => {
    const { name, missing: reason } = contenders[key]
    if (reason === undefined) return []
    console.error(`Goes on without ${name}: ${reason}`)
    return [{ key, name, reason }]
  })

/** Files are written where somebody reads them. */
const eventsIn = async (options: Options, keys: readonly ContenderKey[], directory: string): Promise<EventFiles> => {
  const data = { events: options.events, seed: options.seed }
  if (keys.every((key) => contenders[key].makesEvents)) return { data, files: [] }
  return writeEventFiles(data, directory, progress('making the events', options.events))
}

interface Measured {
  readonly contenders: readonly ContenderFigures[]
  /** Those that could not load the events. */
  readonly failed: readonly Missing[]
}

/** One contender after the other, so that no two of them are on the disk at a time: it loads, answers, is timed, and goes. Those that read the files of events come first. */
async function measure(run: Run, keys: readonly ContenderKey[]): Promise<Measured> {
  const measured = new Map<ContenderKey, ContenderFigures>()
  const answered = new Map<ContenderKey, Answered>()
  const failed: Missing[] = []
  const readers = keys.filter((key) => !contenders[key].makesEvents)
  for (const key of [...readers, ...keys.filter((key) => !readers.includes(key))]) {
    if (!readers.includes(key)) for (const file of run.events.files) rmSync(file, { force: true })
    const { name, layout } = contenders[key]
    let loaded: Loaded
    try {
      loaded = await loadContender(run, key)
    } catch (error) {
      const reason = `it could not load the events: ${firstLine((error as Error).message)}.`
      console.error(`Goes on without ${name}: ${reason}`)
      failed.push({ name, reason, isFailure: true })
      continue
    }
    const answers = await answersOf(run, key)
    answered.set(key, { name, answers })
    const difference = disagreement([...answered.values()], askedOf(run))
    if (difference) throw new Error(difference)
    measured.set(key, { key, name, layout, answers, ...loaded, ...(await timeContender(run, key)) })
    removeContender(run, key)
  }
  if (measured.size === 0) throw new Error('There is nothing to measure: no contender has the events.')
  console.error('All answers agree.')
  return { contenders: keys.flatMap((key) => measured.get(key) ?? []), failed }
}

/** Where files are written changes no figure, and says something about the machine only. */
const withoutPlaces = (args: readonly string[]): readonly string[] =>
  args.filter((arg, i) => !/^--(out|directory|keep)(=|$)/.test(arg) && !/^--(out|directory|keep)$/.test(args[i - 1] ?? ''))

/** Makes the events, loads, compares and times. What it wrote is removed at the end. */
export async function runProduct(options: Options, args: readonly string[], waymark: 'package' | 'sources' = 'package'): Promise<Figures> {
  const missing = notInstalled(options.keys)
  const keys = options.keys.filter((key) => !missing.some((one) => one.key === key))
  if (options.directory !== null) mkdirSync(options.directory, { recursive: true })
  const directory = mkdtempSync(join(options.directory ?? tmpdir(), 'waymark-product-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  const stopped = () => {
    remove()
    process.exit(130)
  }
  process.once('SIGINT', stopped).once('SIGTERM', stopped)
  try {
    const { threads, memory, asked, runs, seed, atRest } = options
    if (waymark === 'package') buildPackage()
    const program = await bundled(join(import.meta.dirname, 'contender-process.ts'), waymark)
    const events = await eventsIn(options, keys, directory)
    const run: Run = {
      events,
      directory: options.keep ?? directory,
      isKept: options.keep !== null,
      threads,
      memory,
      program,
      asked,
      runs,
      atRest,
    }
    const { contenders: measured, failed } = await measure(run, keys)
    return {
      events: options.events,
      seed,
      persons: peopleOf(events.data),
      threads,
      memory,
      command: `npm run bench -- product ${withoutPlaces(args).join(' ')}`.trim(),
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      questions: asked.map((question) => questions[question]!.name),
      contenders: measured,
      missing: [...missing.map(({ name, reason }) => ({ name, reason })), ...failed],
    }
  } finally {
    remove()
    process.off('SIGINT', stopped).off('SIGTERM', stopped)
  }
}
