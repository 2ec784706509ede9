import { parseArgs } from 'node:util'
import { type ContenderKey, contenders } from './contenders.ts'
import { questions } from './questions.ts'

export interface Options {
  /** How many, not how many million. */
  readonly events: number
  readonly seed: number
  readonly runs: number
  readonly threads: number
  readonly memory: string
  readonly keys: readonly ContenderKey[]
  readonly asked: readonly number[]
  readonly directory: string | null
  /** What is loaded stays in it, and is asked again by later runs. */
  readonly keep: string | null
  readonly out: string | null
  /** Files of earlier runs; empty: it is measured. */
  readonly from: readonly string[]
  readonly write: boolean
  /** Without the other conditions. */
  readonly atRest: boolean
}

/** What the caller got wrong, in one sentence. */
export class UsageError extends Error {}

const known = Object.keys(contenders) as ContenderKey[]

export const help = `npm run bench -- product [options]

Loads the same events into each contender, checks that all answers agree, and times the questions of product analytics.

--events N        millions of events, also fractions (default 1)
--runs N          times that each question is timed (default 5)
--only TEXT       only questions whose name contains the text
--contenders A,B  only these: ${known.join(', ')}
--threads N       threads of each engine (default 2)
--memory SIZE     memory limit of each engine, in MB or GB (default 2GB)
--seed N          other events (default 1)
--directory DIR   where the events are written and loaded (default: a temporary folder)
--keep DIR        keeps what is loaded in this folder, and asks what an earlier run has kept there instead of loading it again; only for the
                  contenders that are named, and after a run without --at-rest it is loaded again, because events have arrived
--out FILE        writes the figures as JSON
--at-rest         leaves out: for the first time, right after opening, while events arrive
--write           writes the table and the chart into docs/
--from A,B        reports the figures of earlier runs, without measuring: several are put together, and their answers compared

The questions: ${questions.map(({ name }) => name).join('; ')}.`

const positive = (name: string, text: string): number => {
  const value = Number(text)
  if (!(value > 0 && Number.isFinite(value))) throw new UsageError(`--${name} must be a number above 0, got ${text}.`)
  return value
}
const whole = (name: string, text: string): number => {
  const value = positive(name, text)
  if (!Number.isInteger(value)) throw new UsageError(`--${name} must be a whole number, got ${text}.`)
  return value
}

const keysOf = (text: string | undefined): readonly ContenderKey[] => {
  const names = text?.split(',') ?? known
  const unknown = names.find((name) => !(known as readonly string[]).includes(name))
  if (unknown !== undefined) throw new UsageError(`There is no contender ${unknown}. There are: ${known.join(', ')}.`)
  return known.filter((key) => names.includes(key))
}

const questionsNamed = (text = ''): readonly number[] => {
  const asked = questions.flatMap(({ name }, i) => (name.toLowerCase().includes(text.toLowerCase()) ? [i] : []))
  if (asked.length === 0)
    throw new UsageError(`No question has "${text}" in its name. There are: ${questions.map(({ name }) => name).join('; ')}.`)
  return asked
}

const memoryOf = (text: string): string => {
  if (!/^\d+(\.\d+)?(MB|GB)$/.test(text)) throw new UsageError(`--memory must be a size as 2GB or 800MB, got ${text}.`)
  return text
}

const parsed = (args: readonly string[]) => {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...args],
      options: {
        events: { ...text, default: '1' },
        runs: { ...text, default: '5' },
        threads: { ...text, default: '2' },
        memory: { ...text, default: '2GB' },
        seed: { ...text, default: '1' },
        only: text,
        contenders: text,
        directory: text,
        keep: text,
        out: text,
        from: text,
        write: { type: 'boolean', default: false },
        'at-rest': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export function readOptions(args: readonly string[]): Options {
  const values = parsed(args)
  return {
    events: Math.max(1, Math.round(positive('events', values.events) * 1e6)),
    seed: whole('seed', values.seed),
    runs: whole('runs', values.runs),
    threads: whole('threads', values.threads),
    memory: memoryOf(values.memory),
    keys: keysOf(values.contenders),
    asked: questionsNamed(values.only),
    directory: values.directory ?? null,
    keep: values.keep ?? null,
    out: values.out ?? null,
    from: values.from?.split(',') ?? [],
    write: values.write,
    atRest: values['at-rest'],
  }
}
