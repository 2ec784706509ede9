import { setTimeout } from 'node:timers/promises'
import { Table } from 'apache-arrow'
import { type Loops, resultFromDays } from '../../core/folds/days/from-days.ts'
import { type Fold, type ListView, listView } from '../../core/folds/fold.ts'
import { bytesRead, foldHere } from '../../core/folds/page-reader.ts'
import { isOfNames, reselected } from '../../core/folds/reselect.ts'
import { selectable, selectionFold, selectionKey } from '../../core/folds/selection.ts'
import { ThreadLost } from '../../core/folds/thread-pool.ts'
import { calendarDaysOf } from '../../core/lists/kept/calendar-days.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import { type KernelName, takeCalled } from '../../core/simd/kernels.ts'
import type { QueryError } from '../../errors/errors.ts'
import type { Query } from '../../language/ast/nodes.ts'
import type { StoreFacts } from '../../language/catalog/store-facts.ts'
import type { Answer, FoldAsk, QueryContext, QueryRun, StatementAsk } from '../../queries/kind.ts'
import { saidOf } from '../../queries/origin.ts'
import { Refusal, refuse } from '../../queries/refusals.ts'
import { blamed } from './blame.ts'
import { type AnswerOptions, checkpointOf } from './checkpoint.ts'
import type { Compiled } from './compile.ts'
import type { Explainable } from './explain.ts'
import { failingColumn } from './failing-column.ts'
import { columnSource } from './list-columns.ts'
import { letOthersRun, PlannedElsewhere, sliceMs } from './plan-in-slices.ts'
import type { RunOptions, Statement } from './ports.ts'
import { type Lacking, type QueryProject, queryContext, type StatementSettings } from './query-context.ts'
import { explainedRefusal } from './refused-call.ts'
import { settingsOf } from './request.ts'
import { alongRoads, type FoldNote, type PlainAsk } from './roads.ts'
import { compileFor, readsTables, statementOf } from './statements.ts'

/** Lists of fewer events are folded at once: to ask the threads takes longer. */
const fewEvents = 200_000
/** While threads work, this often it is checked whether the query was cancelled. */
const checkEveryMs = 20

type Threads = NonNullable<QueryProject['threads']>

interface AskedStatement extends Explainable {
  /** Index among the statements of the query. Long statements are planned later than short ones. */
  readonly order: number
  seconds: number
}

export interface Driver {
  readonly context: QueryContext
  /** The statements so far. */
  readonly asked: readonly AskedStatement[]
  /** What was folded from the lists of the core, and the reason for each fold that was not. */
  readonly folds: readonly FoldNote[]
  statementFor(ask: StatementAsk): Promise<{ readonly compiled: Compiled; readonly statement: Statement }>
  /** The engine's error, with the field that caused it. */
  explained(error: unknown, compiled: Compiled, query: Query): Promise<unknown>
  /** Runs one generator to its end. */
  complete<R>(generator: QueryRun<R>): Promise<R>
}

/** With a selection if one is kept; the second query with the same conditions makes one. `plain`: without one. */
async function inThreads(
  threads: Threads,
  fold: Fold<unknown, unknown>,
  plain: Fold<unknown, unknown>,
  { selections }: Listed,
  view: ListView,
  params: unknown,
  signal: AbortSignal,
  called: Set<KernelName>,
): Promise<unknown> {
  const conditions = fold.conditions ? selectable(fold.conditions(params)) : null
  if (!selections || !conditions) return threads.run(plain, view, params, signal, null, called)
  const key = selectionKey(conditions, view)
  const { persons, entry } = view
  const { selection, isWanted } = selections.find(
    key,
    entry === null && isOfNames(conditions) ? (old, lists, changed) => reselected(old, lists, changed, conditions, persons) : null,
  )
  if (selection) return threads.run(fold, view, params, signal, selection, called)
  if (!isWanted) return threads.run(plain, view, params, signal, null, called)
  const made = await threads.run(selectionFold, view, conditions, signal, null, called)
  if (!made) return null
  selections.keep(key, made)
  return threads.run(fold, view, params, signal, made, called)
}

/** Pauses of a query, between which it holds the main thread. */
function pausesOf(project: QueryProject, checkpoint: () => void) {
  const pause = async (heldMs: number) => {
    await letOthersRun(heldMs, project.isAlone)
    checkpoint()
  }
  /** Runs a loop with pauses. */
  const completed = async <R>(steps: Generator<void, R, void>): Promise<R> => {
    for (;;) {
      const since = performance.now()
      let step = steps.next()
      while (!step.done && performance.now() - since < sliceMs) step = steps.next()
      if (step.done) return step.value
      await pause(performance.now() - since)
    }
  }
  return { pause, completed }
}

/** The same steps. Other queries run between them, and their kernels are not of this one. */
function* notingCalled<R>(steps: Generator<void, R, void>, called: Set<KernelName>): Generator<void, R, void> {
  for (;;) {
    takeCalled()
    const step = steps.next()
    for (const name of takeCalled()) called.add(name)
    if (step.done) return step.value
    yield
  }
}

interface Folded {
  readonly result: unknown
  readonly isOfDays?: true
  readonly called: ReadonlySet<KernelName>
}

/** What a fold has read, and with which kernels, for `explain`. */
function sourceOfFold({ lists, pages }: Listed, { isOfDays, called }: Omit<Folded, 'result'>): Partial<FoldNote> {
  const from = isOfDays ? { days: true as const } : pages ? { files: bytesRead(pages) } : {}
  return { events: lists.events, ...from, ...(called.size > 0 && { kernels: [...called].sort() }) }
}

/** In worker threads, or here if the lists are small. */
async function foldedFrom(
  { threads }: QueryProject,
  checkpoint: () => void,
  completed: ReturnType<typeof pausesOf>['completed'],
  fold: Fold<unknown, unknown>,
  listed: Listed,
  params: unknown,
  timezone: string,
): Promise<Folded> {
  const view = listView(listed)
  const called = new Set<KernelName>()
  const noted = <R>(steps: Generator<void, R, void>) => completed(notingCalled(steps, called))
  const plain = fold.fasterFor?.(params) ?? fold
  const inThisThread = <P, R>(one: Fold<P, R>, its: P) => noted(foldHere(one, view, its))
  const here = async () => ({ result: await inThisThread(plain, params), called })
  const ofDays = async (foldAll: Loops['fold']) => {
    if (!listed.counts) return null
    const result = await resultFromDays(fold, params, view, listed.counts, calendarDaysOf(timezone), { fold: foldAll, completed: noted })
    return result === null ? null : ({ result, isOfDays: true, called } as const)
  }
  if (!threads?.isUsable || listed.lists.events < fewEvents) return (await ofDays(inThisThread)) ?? here()
  const stopping = new AbortController()
  const { signal } = stopping
  const inAll = async () =>
    (await ofDays((one, its) => threads.run(one, view, its, signal, null, called))) ?? {
      result: await inThreads(threads, fold, plain, listed, view, params, signal, called),
      called,
    }
  const work = inAll()
  try {
    for (;;) {
      const isDone = await Promise.race([work.then(() => true), setTimeout(checkEveryMs, false)])
      checkpoint()
      if (isDone) return await work
    }
  } catch (error) {
    stopping.abort()
    await work.catch(() => undefined) // the lists must not change while they are read
    if (error instanceof ThreadLost) return here()
    throw error
  }
}

type RunFold = (fold: Fold<unknown, unknown>, params: unknown) => ReturnType<typeof foldedFrom>

/** What all folds make of their results, one after the other, or the first refusal. */
async function allFolded(
  asked: FoldAsk['folds'],
  listed: Listed,
  completed: ReturnType<typeof pausesOf>['completed'],
  run: RunFold,
): Promise<Omit<Folded, 'result'> & { readonly answers: readonly unknown[] | Refusal }> {
  const answers: unknown[] = []
  const called = new Set<KernelName>()
  let areOfDays = true
  for (const { fold, params: paramsFor, take } of asked) {
    const params = paramsFor(listed)
    const found = await run(fold, params)
    areOfDays &&= found.isOfDays === true
    for (const name of found.called) called.add(name)
    const answer = await completed(take(found.result, listed, params))
    if (answer instanceof Refusal) return { answers: answer, called }
    answers.push(answer)
  }
  return { answers, called, ...(areOfDays && { isOfDays: true }) }
}

/** Runs statements side by side, with pauses between their starts. */
async function runAll(
  asks: readonly StatementAsk[],
  run: (ask: StatementAsk) => Promise<Table>,
  pause: (heldMs: number) => Promise<void>,
): Promise<Table[]> {
  const running: Promise<Table>[] = []
  let since = performance.now()
  for (const one of asks) {
    const table = run(one)
    table.catch(() => undefined) // read below
    running.push(table)
    if (performance.now() - since < sliceMs) continue
    await pause(performance.now() - since)
    since = performance.now()
  }
  return Promise.all(running)
}

/** What a query lacked in the lists is loaded when it has been answered without it: beside its statements each would take half of the speed of the other. */
function createLoads() {
  const waiting: ((isWhole: boolean) => void)[] = []
  return {
    wait(lacking: Lacking, again: Parameters<Lacking['load']>[1]): void {
      const since = performance.now()
      waiting.push((isWhole) => lacking.load({ seconds: (performance.now() - since) / 1000, isWhole }, again))
    },
    begin(isWhole: boolean): void {
      for (const begin of waiting.splice(0)) begin(isWhole)
    },
  }
}

type StatementFor = (ask: Pick<StatementAsk, 'query'>) => Promise<{ readonly compiled: Compiled; readonly statement: Statement }>

/** Says which column of a refused statement it was, and what else the reader needs. */
const explaining =
  (
    { project, context, request, options }: { project: QueryProject; context: QueryContext; request: unknown; options: AnswerOptions },
    statementFor: StatementFor,
  ) =>
  async (error: unknown, compiled: Compiled, query: Query): Promise<unknown> => {
    const culprit = await failingColumn(error, query, async (one) => project.run((await statementFor({ query: one })).statement, options))
    return explainedRefusal(
      culprit ? saidOf(error as QueryError, culprit) : error,
      { compiled, request, statement: query },
      context,
      project,
      options,
    )
  }

/** Runs the statements that the generators of a query kind request. */
export function driverOf(
  project: QueryProject,
  facts: StoreFacts,
  options: AnswerOptions & Pick<RunOptions, 'mostBytes'>,
  request: unknown,
  settings: StatementSettings = settingsOf(request),
): Driver {
  const checkpoint = checkpointOf(options)
  const context = queryContext(project, facts, settings, checkpoint)
  const { pause, completed } = pausesOf(project, checkpoint)
  const asked: AskedStatement[] = []
  const folds: FoldNote[] = []
  const loads = createLoads()
  const { foldsInEngine } = project.dialect.capabilities
  const choice = { road: settings.road, foldsInEngine, events: Number(facts.appliedSeq), notes: folds }
  let count = 0
  const statementFor = async ({ query }: Pick<StatementAsk, 'query'>): Promise<{ compiled: Compiled; statement: Statement }> => {
    try {
      const compiled = await compileFor(query, project, context, settings)
      return { compiled, statement: statementOf(compiled.printed, context.project.timezone) }
    } catch (error) {
      throw blamed(error, request, query)
    }
  }
  const explained = explaining({ project, context, request, options }, statementFor)
  const run = async (ask: StatementAsk): Promise<Table> => {
    const order = count++
    const { compiled, statement } = await statementFor(ask)
    const started = performance.now()
    const entry = { label: ask.label, query: ask.query, compiled, seconds: 0, order }
    asked.splice(asked.findLastIndex((one) => one.order < order) + 1, 0, entry)
    const { take } = ask
    const runs = project.runOfRows && !readsTables(compiled) ? project.runOfRows : project.run
    const work = take ? project.runInParts(statement, take, options).then(() => new Table()) : runs(statement, options)
    const table = await work.catch(async (error: unknown) => {
      throw await explained(error, compiled, ask.query)
    })
    entry.seconds = (performance.now() - started) / 1000
    return table
  }
  const foldLists = async ({ label, names, columns, actors = null, check, isRare = false, folds: asked }: FoldAsk) => {
    const started = performance.now()
    if (!project.fold || context.viewer) return refuse(context.viewer ? 'of-viewer' : 'no-lists')
    const seq = Number(facts.appliedSeq)
    const failures = new Set<unknown>()
    const compiled: Compiled[] = []
    const failing = (error: unknown) => {
      if (!(error instanceof PlannedElsewhere)) failures.add(error)
      throw error
    }
    try {
      const sourceOf = (of: QueryProject, { signal }: Pick<RunOptions, 'signal'> = options) =>
        columnSource(columns, actors, {
          async compile(query) {
            const one = await compileFor(query, of, context).catch(failing)
            compiled.push(one)
            return one
          },
          run: (query, take) =>
            compileFor(query, of, context, settings)
              .then(({ printed }) => of.runInParts(statementOf(printed, context.project.timezone), take, { ...options, signal }))
              .catch(failing),
        })
      if (check) await compileFor(check, project, context).catch(failing)
      const source = await sourceOf(project)
      if (source instanceof Refusal) return source
      const lacking = settings.road === 'core' ? null : project.lacks?.(seq, source, { label, isRare })
      if (lacking) {
        loads.wait(lacking, (later, signal) => sourceOf(later, { signal }))
        return refuse('lists-loading')
      }
      let answers: readonly unknown[] | Refusal = []
      const hasFolded = await project.fold(seq, source, async (listed) => {
        const run: RunFold = (fold, params) => foldedFrom(project, checkpoint, completed, fold, listed, params, context.project.timezone)
        const found = await allFolded(asked, listed, completed, run)
        answers = found.answers
        if (answers instanceof Refusal) return
        const seconds = (performance.now() - started) / 1000
        folds.push({ label, road: 'core', names, columns: compiled, ...sourceOfFold(listed, found), seconds })
      })
      return hasFolded ? answers : refuse('lists-too-large')
    } catch (error) {
      // The statement of the query reports it with its place, if it concerns the rows that the query asks for.
      if (!failures.has(error)) throw error
      return refuse('engine-refused')
    }
  }
  /** `begunAt`: when the generator began the work that led to this. */
  const answerTo = async (ask: PlainAsk, begunAt: number): Promise<Answer> => {
    if ('query' in ask) return run(ask)
    if ('kind' in ask && ask.kind === 'fold') return foldLists(ask)
    if ('kind' in ask) {
      await pause(performance.now() - begunAt)
      return undefined
    }
    return runAll(ask, run, pause)
  }
  return {
    context,
    asked,
    folds,
    statementFor,
    explained,
    async complete<R>(asking: QueryRun<R>): Promise<R> {
      let isWhole = false
      try {
        const generator = alongRoads(asking, choice)
        let begunAt = performance.now()
        let step = generator.next()
        while (!step.done) {
          const answer = await answerTo(step.value, begunAt)
          begunAt = performance.now()
          step = generator.next(answer)
        }
        isWhole = true
        return step.value
      } catch (error) {
        throw blamed(error, request)
      } finally {
        loads.begin(isWhole)
      }
    },
  }
}
