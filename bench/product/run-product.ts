import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackage } from '../build-package.ts'
import { bundled, machine } from '../measure.ts'
import { type Answered, disagreement } from './agreement.ts'
import { answersOf, askedOf, firstLine, type Loaded, loadContender, type Run, timeContender } from './contender-runs.ts'
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

const eventsIn = (options: Options, directory: string) => {
  const data = { events: options.events, seed: options.seed }
  return writeEventFiles(data, directory, progress('making the events', options.events))
}

interface Measured {
  readonly contenders: readonly ContenderFigures[]
  /** Those that could not load the events. */
  readonly failed: readonly Missing[]
}

async function measure(run: Run, keys: readonly ContenderKey[]): Promise<Measured> {
  const loaded = new Map<ContenderKey, Loaded>()
  const failed: Missing[] = []
  for (const key of keys)
    try {
      loaded.set(key, await loadContender(run, key))
    } catch (error) {
      const { name } = contenders[key]
      const reason = `it could not load the events: ${firstLine((error as Error).message)}.`
      console.error(`Goes on without ${name}: ${reason}`)
      failed.push({ name, reason, isFailure: true })
    }
  if (loaded.size === 0) throw new Error('There is nothing to measure: no contender has the events.')
  const answered: Answered[] = []
  for (const key of loaded.keys()) answered.push({ name: contenders[key].name, answers: await answersOf(run, key) })
  const difference = disagreement(answered, askedOf(run))
  if (difference) throw new Error(difference)
  console.error('All answers agree.')
  const figures: ContenderFigures[] = []
  for (const [key, about] of loaded) {
    const { name, layout } = contenders[key]
    figures.push({ key, name, layout, ...about, ...(await timeContender(run, key)) })
  }
  return { contenders: figures, failed }
}

/** Where files are written changes no figure, and says something about the machine only. */
const withoutPlaces = (args: readonly string[]): readonly string[] =>
  args.filter((arg, i) => !/^--(out|directory)(=|$)/.test(arg) && !/^--(out|directory)$/.test(args[i - 1] ?? ''))

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
    const { threads, memory, asked, runs, seed } = options
    if (waymark === 'package') buildPackage()
    const program = await bundled(join(import.meta.dirname, 'contender-process.ts'), waymark)
    const events = await eventsIn(options, directory)
    const run: Run = { events, directory, threads, memory, program, asked, runs }
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
