import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { tableFromIPC } from 'apache-arrow'
import type { Fold } from '../../core/folds/fold.ts'
import { ThreadLost } from '../../core/folds/thread-pool.ts'
import type { ColumnSource, ColumnSpec, ReadSpec, TakeColumns } from '../../core/lists/ports.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import type { KernelName } from '../../core/simd/kernels.ts'
import { InternalError, QueryError, type WaymarkError } from '../../errors/errors.ts'
import type { StoreFacts } from '../../language/catalog/store-facts.ts'
import { dialects } from '../../language/dialects/registry.ts'
import { collectGarbage } from '../../lib/memory/collect-garbage.ts'
import { noteHeap } from '../../lib/memory/thread-heaps.ts'
import { Answer } from '../admission/answer.ts'
import { endOf } from '../backend/long-queries.ts'
import { answerQuery } from '../execution/answer.ts'
import type { TakePart } from '../execution/ports.ts'
import type { QueryProject } from '../execution/query-context.ts'
import type { AnswerArgs, AnswerSide, FoldArgs, MainSide, RunArgs, RunInPartsArgs, ThreadsArgs } from './answer-protocol.ts'
import { Channel } from './channel.ts'
import { threadPort } from './thread-port.ts'
import { readError } from './wire-error.ts'

// The program of the thread that answers long queries. It works as the main thread does, with a project whose store is on the other side of the channel.

/** Short queries, which the main thread answers, have priority. */
const furtherNiceness = 5
/** How often the main thread gets the size of the heap, besides each slice of planning. */
const heapMs = 50
/** Facts of so many projects are kept. */
const mostFacts = 8

/** Work of this thread that the main thread calls for. */
interface CalledBack {
  /** Its first error: the main thread returns a copy of it. */
  failure: { readonly error: unknown } | null
}
interface OpenFold extends CalledBack {
  readonly columns: ColumnSource
  readonly loop: (listed: Listed) => Promise<void>
}
interface Reading extends CalledBack {
  readonly take: TakePart
}

const { heap } = workerData as { readonly heap: Float64Array }
setInterval(() => noteHeap(heap), heapMs)

const open = new Map<number, OpenFold>()
let lastFold = 0
const readings = new Map<number, Reading>()
let lastReading = 0
const known = new Map<number, { readonly version: number; readonly facts: StoreFacts }>()
let queries = 0

async function within<T>(called: CalledBack, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    called.failure ??= { error }
    throw error
  }
}

/** The other way round: a call to the main thread that leads to this work. */
async function calling<T>(called: CalledBack, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw called.failure ? called.failure.error : error
  }
}

const channel: Channel<AnswerSide, MainSide> = new Channel(
  threadPort(parentPort!),
  {
    async answer(args, { signal }) {
      queries++
      try {
        const checkpoint = () => {
          if (Atomics.load(args.stop, 0) === 1) throw new QueryError('query-cancelled', {}) // the other side knows the reason
        }
        const answer = await answerQuery(args.query, projectOf(args, signal), { signal, checkpoint })
        return { text: await Answer.of(answer).text(), endsAt: endOf(answer) }
      } finally {
        queries--
      }
    },

    async part({ reading, part }) {
      const found = readings.get(reading)!
      await within(found, async () => found.take(tableFromIPC(part)))
    },

    async columns({ fold, reading, columns, after, last, keys }) {
      const found = open.get(fold)!
      const { columns: source } = found
      const specs = columns.map((index) => source.columns[index]!)
      const take: TakeColumns = (keys, parts) => channel.call('columnRows', { reading, keys, parts })
      const [first] = specs as [ColumnSpec]
      await within(found, () => {
        if (first.of === 'key') return source.ofKeys(first, keys, take)
        return first.of === 'person'
          ? source.ofPersons(first, after, take)
          : source.ofEvents(specs as readonly ReadSpec[], after, last, take)
      })
    },

    async loop({ fold, listed }) {
      const found = open.get(fold)!
      await within(found, () => found.loop(listed))
    },
  },
  { release: () => collectGarbage() },
)

function projectOf(args: AnswerArgs, signal: AbortSignal): QueryProject {
  const { id, settings, now, limits, rowLimits, failedCohorts, hasLists, hasThreads } = args
  const missing = (): never => {
    throw new InternalError('The worker thread for long queries does not have these rows')
  }
  return {
    settings,
    now,
    limits,
    dialect: dialects[args.dialect],
    ...(rowLimits ? { rowLimits } : {}),
    failedCohorts: new Map(failedCohorts.map(([cohort, failure]) => [cohort, readError(failure) as WaymarkError])),
    isAlone: () => queries <= 1,
    planned: () => noteHeap(heap),

    async facts() {
      const last = known.get(settings.id)
      const sent = await channel.call('facts', { id, known: last?.version ?? null })
      const current = sent ?? last!
      known.delete(settings.id)
      known.set(settings.id, current)
      if (known.size > mostFacts) known.delete(known.keys().next().value!)
      return current.facts
    },

    async run(statement, options = {}) {
      const args: RunArgs = { id, statement, mostBytes: options.mostBytes }
      return tableFromIPC(await channel.call('run', args, { signal: options.signal ?? signal }))
    },
    async runInParts(statement, take, options = {}) {
      const reading = ++lastReading
      const own: Reading = { take, failure: null }
      readings.set(reading, own)
      try {
        const args: RunInPartsArgs = { id, statement, mostBytes: options.mostBytes, reading }
        await calling(own, () => channel.call('runInParts', args, { signal: options.signal ?? signal }))
      } finally {
        readings.delete(reading)
      }
    },
    gather: missing,
    stream: missing,
    writeFile: missing,

    ...(hasLists
      ? {
          async fold(seq, columns, loop) {
            const fold = ++lastFold
            const own: OpenFold = { columns, loop, failure: null }
            open.set(fold, own)
            try {
              const args: FoldArgs = { id, fold, seq, columns: columns.columns.map(plainSpec), actors: placeOf(columns) }
              return await calling(own, () => channel.call('fold', args))
            } finally {
              open.delete(fold)
            }
          },
        }
      : {}),

    ...(hasThreads
      ? {
          threads: {
            isUsable: true,
            async run<P, R>(
              { name }: Fold<P, R>,
              lists: ThreadsArgs['lists'],
              params: P,
              stopped: AbortSignal,
              _: null = null,
              called: Set<KernelName> = new Set(),
            ): Promise<R | null> {
              const args: ThreadsArgs = { id, fold: name, lists, params }
              const done = await channel.call('threads', args, { signal: stopped })
              if (!done) throw new ThreadLost('A worker thread for lists of events exited')
              for (const kernel of done.kernels) called.add(kernel)
              return done.result as R | null
            },
          },
        }
      : {}),
  }
}

/** Without the expression that a specification may hold besides. */
const plainSpec = (spec: ColumnSpec): ColumnSpec => {
  if (spec.of === 'made') return { type: spec.type, of: spec.of, make: spec.make }
  const { key, type } = spec
  return spec.of === 'key' ? { key, type, of: spec.of, keys: spec.keys, isOfEvents: spec.isOfEvents } : { key, type, of: spec.of }
}

/** The column of the actors by its index. */
const placeOf = ({ columns, actors }: ColumnSource): FoldArgs['actors'] =>
  actors ? { ...actors, column: columns.indexOf(actors.column) } : null

/** Systems without priorities per thread are left alone. */
function giveWay(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    setPriority(thread, Math.min(19, getPriority(thread) + furtherNiceness))
  } catch {
    // not Linux
  }
}
giveWay()
