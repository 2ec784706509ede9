import type { KernelName } from '../../core/simd/kernels.ts'
import { InternalError, QueryError } from '../../errors/errors.ts'
import {
  type Answer,
  type Ask,
  folded,
  type Plan,
  type QueryRun,
  type Question,
  type RoadName,
  type RoadsAsk,
  roadNames,
  type StatementAsk,
} from '../../queries/kind.ts'
import { Refusal, type RefusalCode, refuse } from '../../queries/refusals.ts'
import type { Road } from '../../queries/schemas.ts'
import type { Compiled } from './compile.ts'

// The choice between the roads of a question. All that a kind knows is which roads it has; which of them are open is decided here.

/** A road of a question, for `explain`: taken, refused with a code, or left out because an earlier one was open. */
export interface RoadNote {
  readonly road: RoadName
  readonly isTaken?: true
  readonly code?: RefusalCode
  readonly reason?: string
}

export interface FoldNote {
  readonly label: string
  readonly road: Road
  /** Why the lists of the core were not used. */
  readonly reason?: string
  readonly roads?: readonly RoadNote[]
  /** Names of the events that it searched for. */
  readonly names?: readonly string[]
  /** The statements of its columns. */
  readonly columns?: readonly Compiled[]
  /** Number of events in the lists. */
  readonly events?: number
  /** It read what is kept of whole days. */
  readonly days?: true
  /** It read events from files, since they do not fit into memory: so many pages and bytes. */
  readonly files?: { readonly pages: number; readonly bytes: number }
  /** The kernels of WebAssembly that it called; absent: loops in JavaScript did everything. */
  readonly kernels?: readonly KernelName[]
  readonly seconds: number
}

export interface Choice {
  /** Only this road, or an error with the reason. */
  readonly road?: Road
  readonly foldsInEngine: boolean
  /** Of the project, approximately. */
  readonly events: number
  /** Folds leave their notes here, and so does every question that no fold answered. */
  readonly notes: FoldNote[]
}

const roadAttr = 'modifiers__road'
const notOnLists = (label: string, { reason }: Refusal) =>
  new QueryError('validation-failed', {
    message: `The lists of events cannot answer ${label}: ${reason}. Remove modifiers.road to answer it by SQL.`,
    attr: roadAttr,
  })
const isOfRoad = (error: unknown): boolean => error instanceof QueryError && error.attr === roadAttr

type Refused = ReadonlyMap<RoadName, Refusal>
export type PlainAsk = Exclude<Ask, RoadsAsk>
export type PlainRun<R> = Generator<PlainAsk, R, Answer>

/** The same run, with the roads of its questions chosen. `around`: the roads that were refused to a question whose plan this is. */
export function* alongRoads<R>(run: QueryRun<R>, choice: Choice, around: Refused = new Map()): PlainRun<R> {
  let step = run.next()
  while (!step.done) {
    const ask = step.value
    if (!('kind' in ask) || ask.kind !== 'roads') {
      step = run.next(yield ask)
      continue
    }
    let answers: readonly unknown[]
    try {
      answers = yield* answersTo(ask.questions, choice, around)
    } catch (error) {
      if (isOfRoad(error)) throw error
      step = run.throw(error) // it may know the field
      continue
    }
    step = run.next(answers)
  }
  return step.value
}

/** A question that has no answer yet. */
interface Open {
  readonly question: Question<unknown>
  readonly index: number
  readonly refused: Map<RoadName, Refusal>
  /** Index of its note, if it has one. */
  noted?: number
}

function* answersTo(questions: readonly Question<unknown>[], choice: Choice, around: Refused): PlainRun<readonly unknown[]> {
  const answers: unknown[] = new Array(questions.length)
  let open = questions.map((question, index): Open => ({ question, index, refused: new Map(around) }))
  for (const road of roadNames) {
    const runs: { readonly one: Open; readonly run: PlainRun<unknown> }[] = []
    const left: Open[] = []
    for (const one of open) {
      const { question, index, refused } = one
      if (!question[road]) {
        left.push(one)
        continue
      }
      const plan = closed(road, question, choice) ?? question[road]()
      const before = choice.notes.length
      const run = alongRoads(runOf(plan, question.label), choice, refused)
      if (road === 'statement') {
        runs.push({ one, run })
        continue
      }
      const found = yield* run
      if (found instanceof Refusal) {
        if (road === 'lists' && choice.road === 'core') throw notOnLists(question.label, found)
        refused.set(road, found)
        if (road === 'lists') one.noted = choice.notes.push(noteOf(question.label, found)) - 1
        left.push(one)
        continue
      }
      answers[index] = found
      note(one, road, choice.notes, before)
    }
    const found = yield* inStep(runs.map(({ run }) => run))
    for (const [i, { one }] of runs.entries()) {
      const answer = found[i]
      if (answer instanceof Refusal) {
        one.refused.set(road, answer)
        left.push(one)
        continue
      }
      answers[one.index] = answer
      note(one, road, choice.notes, choice.notes.length)
    }
    open = left
  }
  const [lost] = open
  if (lost)
    throw new InternalError(
      `No road can answer ${lost.question.label}: ${[...lost.refused].map(([road, { code }]) => `${road}: ${code}`).join(', ')}`,
    )
  return answers
}

function closed(
  road: RoadName,
  { leastEvents = 0 }: Pick<Question<unknown>, 'leastEvents'>,
  { road: asked, foldsInEngine, events }: Choice,
): Refusal | null {
  if (road === 'engine') return foldsInEngine ? null : refuse('engine-without-lists')
  if (road !== 'lists' || asked === 'core') return null
  return asked === 'sql' ? refuse('sql-asked') : events < leastEvents ? refuse('few-events') : null
}

function* runOf(plan: Plan<unknown> | Refusal, label: string): QueryRun<unknown> {
  if (plan instanceof Refusal) return plan
  if ('fold' in plan) return yield* folded(label, plan)
  if ('read' in plan) return plan.read((yield { kind: 'statement', label, query: plan.query }) as Parameters<typeof plan.read>[0])
  return yield* plan
}

const noteOf = (label: string, refusal?: Refusal): FoldNote => ({
  label,
  road: 'sql',
  ...(refusal && { reason: refusal.reason }),
  seconds: 0,
})

/** Adds the roads to the note of the question, or to those that its folds have left. */
function note({ question, refused, noted }: Open, taken: RoadName, notes: FoldNote[], before: number): void {
  const roads = roadNames
    .filter((road) => question[road] || refused.has(road))
    .map((road): RoadNote => {
      if (road === taken) return { road, isTaken: true }
      const refusal = refused.get(road)
      return { road, ...(refusal && { code: refusal.code, reason: refusal.reason }) }
    })
  if (noted === undefined && notes.length === before) notes.push(noteOf(question.label))
  for (let i = noted ?? before; i < (noted === undefined ? notes.length : noted + 1); i++) notes[i] = { roads, ...notes[i]! }
}

/** Runs side by side: the statements of one step are asked together. */
function* inStep(runs: readonly PlainRun<unknown>[]): PlainRun<readonly unknown[]> {
  const steps = runs.map((run) => run.next())
  for (;;) {
    const asks: StatementAsk[] = []
    const waiting: { readonly i: number; readonly from: number; readonly isList: boolean }[] = []
    for (const [i, run] of runs.entries()) {
      for (let step = steps[i]!; !step.done; step = steps[i]!) {
        const ask = step.value
        if ('kind' in ask && ask.kind !== 'statement') steps[i] = run.next(yield ask)
        else {
          const isList = Array.isArray(ask)
          waiting.push({ i, from: asks.length, isList })
          asks.push(...([ask].flat() as StatementAsk[]))
          break
        }
      }
    }
    if (waiting.length === 0) return steps.map(({ value }) => value)
    const tables = (yield asks) as readonly unknown[]
    for (const [w, { i, from, isList }] of waiting.entries())
      steps[i] = runs[i]!.next(isList ? tables.slice(from, waiting[w + 1]?.from ?? tables.length) : tables[from])
  }
}
