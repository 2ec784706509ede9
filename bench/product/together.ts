import { disagreement } from './agreement.ts'
import { contenders } from './contenders.ts'
import type { Figures } from './figures.ts'
import { UsageError } from './options.ts'
import { questions } from './questions.ts'

/** What makes two runs comparable: the same events on the same machine. */
const conditionsOf = ({ events, seed, threads, memory, machine, questions: asked }: Figures): string =>
  JSON.stringify([events, seed, threads, memory, machine.cpu, machine.cores, machine.memory_gb, asked])

/** Runs of some contenders each as one. Their answers are compared as those of one run are. */
export function together(runs: readonly Figures[]): Figures {
  const [first, ...others] = runs
  if (!first) throw new UsageError('--from needs at least one file.')
  if (others.length === 0) return first
  for (const other of others)
    if (conditionsOf(other) !== conditionsOf(first))
      throw new UsageError(
        `Only runs of the same events, threads, memory and questions on the same machine can be put together: ${conditionsOf(first)} and ${conditionsOf(other)}.`,
      )
  const measured = runs.flatMap((run) => run.contenders)
  const twice = measured.find(({ key }, i) => measured.findIndex((one) => one.key === key) !== i)
  if (twice) throw new UsageError(`${twice.name} is in more than one of the files.`)
  const asked = first.questions.map((name) => questions.find((one) => one.name === name)!)
  const difference = disagreement(
    measured.flatMap(({ name, answers }) => (answers ? [{ name, answers }] : [])),
    asked,
  )
  if (difference) throw new Error(difference)
  const order = Object.keys(contenders)
  return {
    ...first,
    command: runs.map(({ command }) => command).join(', then '),
    contenders: measured.toSorted((a, b) => order.indexOf(a.key) - order.indexOf(b.key)),
    missing: runs.flatMap(({ missing }) => missing).filter(({ name }) => !measured.some((one) => one.name === name)),
  }
}
