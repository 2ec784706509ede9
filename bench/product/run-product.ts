import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackage } from '../build-package.ts'
import { bundled, machine } from '../measure.ts'
import { loadContender, mustAgree, type Run, timeContender } from './contender-runs.ts'
import { type ContenderKey, contenders } from './contenders.ts'
import { writeEventFiles } from './event-files.ts'
import type { ContenderFigures, Figures } from './figures.ts'
import { peopleOf } from './generator.ts'
import type { Options } from './options.ts'
import { progress } from './progress.ts'
import { questions } from './questions.ts'

interface Choice {
  readonly keys: readonly ContenderKey[]
  readonly missing: Figures['missing']
}

/** Contenders that are not installed are left out, and the report says so. */
const chosen = (keys: readonly ContenderKey[]): Choice => {
  const missing = keys.flatMap((key) => {
    const { name, missing: reason } = contenders[key]
    return reason === undefined ? [] : [{ key, name, reason }]
  })
  for (const { name, reason } of missing) console.error(`Goes on without ${name}: ${reason}`)
  return {
    keys: keys.filter((key) => !missing.some((one) => one.key === key)),
    missing: missing.map(({ name, reason }) => ({ name, reason })),
  }
}

const eventsIn = (options: Options, directory: string) => {
  const data = { events: options.events, seed: options.seed }
  return writeEventFiles(data, directory, progress('making the events', options.events))
}

async function measure(run: Run, keys: readonly ContenderKey[]): Promise<readonly ContenderFigures[]> {
  const loaded = new Map<ContenderKey, Awaited<ReturnType<typeof loadContender>>>()
  for (const key of keys) loaded.set(key, await loadContender(run, key))
  await mustAgree(run, keys)
  console.error('All answers agree.')
  const figures: ContenderFigures[] = []
  for (const key of keys) {
    const { name, layout } = contenders[key]
    figures.push({ key, name, layout, ...loaded.get(key)!, ...(await timeContender(run, key)) })
  }
  return figures
}

/** Makes the events, loads, compares and times. What it wrote is removed at the end. */
export async function runProduct(options: Options, args: readonly string[], waymark: 'package' | 'sources' = 'package'): Promise<Figures> {
  const { keys, missing } = chosen(options.keys)
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
    return {
      events: options.events,
      seed,
      persons: peopleOf(events.data),
      threads,
      memory,
      command: `npm run bench -- product ${args.join(' ')}`.trim(),
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      questions: asked.map((question) => questions[question]!.name),
      contenders: await measure(run, keys),
      missing,
    }
  } finally {
    remove()
    process.off('SIGINT', stopped).off('SIGTERM', stopped)
  }
}
