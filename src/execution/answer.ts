import { type RecordBatch, Table } from 'apache-arrow'
import type { Query } from '../ast/nodes.ts'
import { type Checkpoint, PlanningBudget } from '../ast/planning-budget.ts'
import { countAll, numbersOf } from '../catalog/property-counts.ts'
import { duckdb } from '../dialects/duckdb/dialect.ts'
import { QueryError, WaymarkError } from '../errors/errors.ts'
import type { Progress } from '../lib/progress.ts'
import type { StoreSnapshot } from '../plan/context.ts'
import type { Budget } from '../plan/footprint.ts'
import { asTypeMismatch } from '../plan/type-mismatch.ts'
import { misfitOf } from '../queries/fields.ts'
import type { Answer, Ask, ProjectSettings, QueryEnv, QueryKind, QueryRun, StatementAsk } from '../queries/kind.ts'
import { actionCondition } from '../queries/property-filters.ts'
import type { AnswerWarning } from '../queries/query-types.ts'
import { queryKinds } from '../queries/registry.ts'
import { answerTable } from '../queries/rows.ts'
import { hogQl, sqlLike, sqlStatement } from '../queries/sql/index.ts'
import type { SqlQuery } from '../queries/sql/schema.ts'
import type { ResolveContext } from '../resolver/context.ts'
import type { JsonRead, Slot } from '../resolver/typed.ts'
import { type PropertyKey, propertyKey, type StoreFacts } from '../storage/duckdb/facts.ts'
import type { RunOptions, Statement, StreamOptions, TakePart } from '../storage/duckdb/run.ts'
import { shownTypeName } from '../types/types.ts'
import { misspelledIn, warningsOf } from './answer-warnings.ts'
import { blamed } from './blame.ts'
import { type Compiled, compile } from './compile.ts'
import { type Explainable, explain } from './explain.ts'

// The driver of query kinds: picks the kind, checks the request, runs what its generator asks, and hands back what it answers.

/** A project as far as its queries need it. */
export interface QueryProject {
  readonly settings: ProjectSettings
  /** Read once for each query, after everything acknowledged has been applied. */
  facts(): Promise<StoreFacts>
  env(facts: StoreFacts): QueryEnv
  /** Bytes for the statements that run, and for what queries do with their rows. */
  readonly memoryLimit?: number
  readonly threads?: number
  /** Bytes of the rows of an answer that is sent as JSON. */
  readonly answerBytes?: number
  run(statement: Statement, options: RunOptions): Promise<Table>
  runInParts(statement: Statement, take: TakePart, options: RunOptions): Promise<void>
  gather(statement: Statement, options: RunOptions): Promise<Table>
  stream(statement: Statement, options: StreamOptions): AsyncGenerator<RecordBatch, void, undefined>
}

export interface AnswerOptions {
  /** Aborts when nobody wants the answer any more or its time is over. */
  readonly signal?: AbortSignal
  /** Throws in the same cases. Planning keeps the thread, so that no timer can abort the signal meanwhile. */
  readonly checkpoint?: Checkpoint
  readonly progress?: Progress
}

const checkpointOf = ({ checkpoint, signal }: AnswerOptions): Checkpoint =>
  checkpoint ??
  (() => {
    if (signal?.aborted) throw signal.reason instanceof WaymarkError ? signal.reason : new QueryError('query-cancelled', {})
  })

/** Choices of one request that change how statements are understood. */
export interface StatementSettings {
  /** Leave times in UTC. */
  readonly isUtc?: boolean
  /** As in `CompileContext`. */
  readonly showsJson?: boolean
  readonly bounceSeconds?: number
}

interface AskedStatement extends Explainable {
  seconds: number
}

/** Runs one statement of the language and answers an Arrow table. */
export async function runStatement(query: Query, project: QueryProject, options: AnswerOptions & StatementSettings = {}): Promise<Table> {
  const checkpoint = checkpointOf(options)
  const facts = await project.facts()
  const env = envFor(project, facts, options)
  const { printed } = compileFor(query, project, facts, env, options, checkpoint)
  return project.run(statementOf(printed, env.project.timezone), { ...options, mostBytes: bytesBetween(project) })
}

/** Of rows that a query reads on the way to its answer. */
const bytesBetween = ({ memoryLimit }: QueryProject) => memoryLimit && Math.floor(memoryLimit / 4)

export function compileFor(
  query: Query,
  project: QueryProject,
  facts: StoreFacts,
  env: QueryEnv,
  settings: StatementSettings = {},
  checkpoint?: Checkpoint,
): Compiled {
  return compile(query, {
    resolve: resolveContext(env, settings),
    store: snapshotOf(project.settings.id, facts),
    dialect: duckdb,
    budget: budgetOf(project),
    planningBudget: new PlanningBudget(checkpoint),
    showsJson: settings.showsJson,
  })
}

/** Half as much as the engine may hold: what a statement makes at once comes on top of that. */
const budgetOf = ({ memoryLimit, threads }: QueryProject): Budget | undefined =>
  memoryLimit === undefined || threads === undefined ? undefined : { bytes: memoryLimit / 2, threads }

export const statementOf = ({ sql, params, columns }: Compiled['printed'], timezone: string): Statement => ({
  sql,
  params,
  columns: columns.map(({ name, type }) => ({ name, typeName: shownTypeName(type, timezone) })),
})

export function envFor(project: QueryProject, facts: StoreFacts, { isUtc }: StatementSettings, checkpoint?: Checkpoint): QueryEnv {
  const env = {
    ...project.env(facts),
    foldsInEngine: duckdb.capabilities.foldsInEngine,
    memoryLimit: project.memoryLimit,
    checkpoint,
  }
  return isUtc ? { ...env, project: { ...env.project, timezone: 'UTC' } } : env
}

export function resolveContext(env: QueryEnv, { bounceSeconds }: StatementSettings): ResolveContext {
  return {
    project: env.project,
    now: env.now,
    propertyType: (scope, name) => env.propertyType(scope, name),
    propertyNumbers: (scope, name) => env.propertyNumbers?.(scope, name) ?? 'marked',
    groupTypes: env.groupTypes,
    cohort: (which) => env.cohort(which),
    action(which) {
      const action = env.action(which)
      return action && actionCondition(action, env)
    },
    bounceSeconds,
  }
}

const scopeOfTable: Readonly<Record<string, string>> = { events: 'event', persons: 'person', '@people': 'person' }

export function snapshotOf(projectId: number, facts: StoreFacts): StoreSnapshot {
  return {
    projectId,
    hasMerges: facts.hasMerges,
    eventId: (name) => facts.eventIds.get(name),
    slot(table, field, key, as) {
      const scope = field === 'properties' ? scopeOfTable[table] : undefined
      const known = scope === undefined ? undefined : facts.propertyKeys.get(propertyKey(scope, key))
      return known && slotFor(known, as)
    },
  }
}

/** By their first letters. */
const prefixes = { text: 's', number: 'n', boolean: 'b' } as const

/** A column that holds the read, or all that it can be made of. */
function slotFor({ slots, counts }: PropertyKey, as: JsonRead): Slot | undefined {
  const holding = (holds: Slot['holds']): Slot | undefined => {
    const column = slots.find((name) => name.startsWith(prefixes[holds]))
    return column === undefined ? undefined : { column, holds }
  }
  if (as === 'value') return undefined
  const own = holding(as)
  if (own || as !== 'text') return own ?? holding('text')
  if (numbersOf(counts) === 'all') return holding('number')
  return counts.Boolean === countAll(counts) ? holding('boolean') : undefined
}

/** Answers a query of any kind: the JSON of the HTTP endpoint. */
export async function answerQuery(query: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<object> {
  const started = performance.now()
  const { kind, parsed } = check(query)
  const facts = await project.facts()
  const mostBytes = kind.rows ? project.answerBytes : bytesBetween(project)
  const settings = { ...settingsOf(query), showsJson: true }
  const { env, asked, complete } = driverOf(project, facts, { ...options, mostBytes }, query, settings)
  const answer = await complete(kind.run(parsed, env))
  const seconds = (since: number) => (performance.now() - since) / 1000
  const warnings = warningsAbout(
    kind,
    asked.map(({ compiled }) => compiled),
    facts,
  )
  return {
    ...answer,
    ...(warnings.length ? { warnings } : {}),
    timings: [...asked.map(({ label, seconds: t }) => ({ k: `./${label}`, t })), { k: '.', t: seconds(started) }],
    ...((query as { explain?: unknown }).explain === true ? { explain: asked.map(explain) } : {}),
  }
}

const isStatement = ({ kind }: QueryKind<unknown, object>) => kind === sqlLike.kind || kind === hogQl.kind

const warningsAbout = (kind: QueryKind<unknown, object>, asked: readonly Compiled[], facts: StoreFacts): readonly AnswerWarning[] => [
  ...warningsOf(
    asked.flatMap(({ uses }) => uses),
    facts,
  ),
  ...(isStatement(kind) ? asked.flatMap(({ planned }) => misspelledIn(planned, facts)) : []),
]

/** The rows of a query as Arrow: of a statement all it asks for, of any other kind those of its answer. */
export async function queryArrow(query: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<Table> {
  const work = await arrowOf(query, project, options)
  if ('table' in work) return work.table
  if ('statement' in work)
    return project.gather(work.statement, options).catch((error: unknown) => {
      throw work.explained(error)
    })
  const batches: RecordBatch[] = []
  for await (const batch of work.batches) batches.push(batch)
  return new Table(batches)
}

/** The same batch by batch, as the engine makes them. */
export async function* queryArrowBatches(
  query: unknown,
  project: QueryProject,
  options: AnswerOptions = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  const work = await arrowOf(query, project, options)
  if ('table' in work) return yield* work.table.batches
  if ('batches' in work) return void (yield* work.batches)
  try {
    yield* project.stream(work.statement, options)
  } catch (error) {
    throw work.explained(error)
  }
}

/** Says what the engine refused of the statement that was asked for. */
const inWords = (error: unknown, { resolved }: Compiled, request: unknown, statement: Query): unknown => {
  const text = (request as { query?: unknown }).query
  return blamed(asTypeMismatch(error, resolved, typeof text === 'string' ? text : null), request, statement)
}

type ArrowWork =
  | { readonly statement: Statement; explained(error: unknown): unknown }
  | Pick<RowsAnswer, 'batches'>
  /** A chart. */
  | { readonly table: Table }

async function arrowOf(query: unknown, project: QueryProject, options: AnswerOptions): Promise<ArrowWork> {
  const { kind, parsed } = check(query)
  if (!isStatement(kind)) {
    const rows = await answerRows(query, project, options)
    if (rows) return rows
    const { env, complete } = driverOf(project, await project.facts(), options, query)
    return { table: answerTable(await complete(kind.run(parsed, env))) }
  }
  const facts = await project.facts()
  const settings = settingsOf(query)
  const checkpoint = checkpointOf(options)
  const env = envFor(project, facts, settings, checkpoint)
  try {
    const asked = sqlStatement(parsed as SqlQuery, env)
    const compiled = compileFor(asked, project, facts, env, settings, checkpoint)
    return { statement: statementOf(compiled.printed, env.project.timezone), explained: (error) => inWords(error, compiled, query, asked) }
  } catch (error) {
    throw blamed(error, query)
  }
}

/** An answer that is a list of rows, taken as the engine makes them. */
export interface RowsAnswer {
  /** At most so many rows come, less the totals. */
  readonly limit: number
  readonly timezone: string
  readonly warnings: readonly AnswerWarning[]
  /** All with one schema, and one at least. What it returns at its end: whether there are more rows than these. */
  readonly batches: AsyncGenerator<RecordBatch, boolean, undefined>
}

const rowsOfBatch = 2048

/** The rows of the answer, with its limits, without ever holding all of them; null where an answer is no list of rows. */
export async function answerRows(query: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<RowsAnswer | null> {
  const { kind, parsed } = check(query)
  if (!kind.rows) return null
  const facts = await project.facts()
  const driver = driverOf(project, facts, options, query)
  const plan = await driver.complete(kind.rows(parsed, driver.env))
  if (!plan) return null
  const { statement: asked, rows, show: shown, last, limit, hasMore } = plan
  const { compiled, statement } = driver.statementFor(asked)
  const show = async (page: RecordBatch): Promise<readonly RecordBatch[]> =>
    shown ? (await driver.complete(shown(new Table(page.schema, [page])))).batches : [page]
  async function* batches(): AsyncGenerator<RecordBatch, boolean, undefined> {
    let left = rows
    let isFirst = true
    try {
      for await (const batch of project.stream(statement, { ...options, batchRows: rowsOfBatch })) {
        const page = batch.numRows > left ? batch.slice(0, left) : batch
        left -= page.numRows
        if (isFirst || page.numRows > 0) yield* await show(page)
        if (batch.numRows > page.numRows) return true
        isFirst = false
      }
      const behind = last?.()
      if (behind) yield* behind.batches
    } catch (error) {
      throw inWords(error, compiled, query, asked.query)
    }
    return hasMore?.() ?? false
  }
  const warnings = warningsAbout(kind, [...driver.asked.map((one) => one.compiled), compiled], facts)
  return { limit: limit ?? rows, timezone: driver.env.project.timezone, warnings, batches: batches() }
}

function check(query: unknown): { kind: QueryKind<unknown, object>; parsed: unknown } {
  const kind = kindOf(query)
  const parsed = kind.schema.safeParse(query)
  if (parsed.success) return { kind, parsed: parsed.data }
  const { path, message } = misfitOf(parsed.error)
  throw new WaymarkError('validation-failed', { message, attr: path.join('__') || null }, { cause: parsed.error })
}

function kindOf(query: unknown): QueryKind<unknown, object> {
  const known = Object.keys(queryKinds)
  const name = typeof query === 'object' && query !== null && 'kind' in query ? (query as { kind: unknown }).kind : undefined
  if (typeof name !== 'string') {
    const message = `A query needs a kind, as in { kind: 'SqlLikeQuery', query: 'select 1' }. Known kinds: ${known.join(', ')}.`
    throw new WaymarkError('validation-failed', { message, attr: 'kind' })
  }
  const kind = Object.hasOwn(queryKinds, name) ? queryKinds[name] : undefined
  if (!kind) throw new WaymarkError('unknown-query-kind', { kind: name, known }, { attr: 'kind' })
  return kind
}

function settingsOf(query: unknown): StatementSettings {
  const modifiers = (query as { modifiers?: unknown }).modifiers
  if (typeof modifiers !== 'object' || modifiers === null) return {}
  const { convertToProjectTimezone, bounceRateDurationSeconds } = modifiers as Record<string, unknown>
  return {
    isUtc: convertToProjectTimezone === false,
    bounceSeconds: typeof bounceRateDurationSeconds === 'number' ? bounceRateDurationSeconds : undefined,
  }
}

/** Statements of one request are planned for so long before others have the thread. */
const longestPlanningMs = 20

/** Runs what a kind's generators ask. */
function driverOf(
  project: QueryProject,
  facts: StoreFacts,
  options: AnswerOptions & Pick<RunOptions, 'mostBytes'>,
  request: unknown,
  settings: StatementSettings = settingsOf(request),
) {
  const checkpoint = checkpointOf(options)
  const env = envFor(project, facts, settings, checkpoint)
  const asked: AskedStatement[] = []
  const statementFor = ({ query }: StatementAsk): { compiled: Compiled; statement: Statement } => {
    try {
      const compiled = compileFor(query, project, facts, env, settings, checkpoint)
      return { compiled, statement: statementOf(compiled.printed, env.project.timezone) }
    } catch (error) {
      throw blamed(error, request, query)
    }
  }
  const run = async (ask: StatementAsk): Promise<Table> => {
    const { compiled, statement } = statementFor(ask)
    const started = performance.now()
    const entry = { label: ask.label, query: ask.query, compiled, seconds: 0 }
    asked.push(entry)
    const { take } = ask
    const work = take ? project.runInParts(statement, take, options).then(() => new Table()) : project.run(statement, options)
    const table = await work.catch((error: unknown) => {
      throw inWords(error, compiled, request, ask.query)
    })
    entry.seconds = (performance.now() - started) / 1000
    return table
  }
  /** Lets others have the thread. */
  const pause = async () => {
    await new Promise((resume) => setImmediate(resume))
    checkpoint()
  }
  const answerTo = async (ask: Ask): Promise<Answer> => {
    if ('query' in ask) return run(ask)
    if ('kind' in ask) {
      await pause()
      return undefined
    }
    const running: Promise<Table>[] = []
    let kept = performance.now()
    for (const one of ask) {
      const table = run(one)
      table.catch(() => undefined) // read below
      running.push(table)
      if (performance.now() - kept < longestPlanningMs) continue
      await pause()
      kept = performance.now()
    }
    return Promise.all(running)
  }
  return {
    env,
    asked,
    statementFor,
    /** One generator to its end. */
    async complete<R>(generator: QueryRun<R>): Promise<R> {
      try {
        let step = generator.next()
        while (!step.done) step = generator.next(await answerTo(step.value))
        return step.value
      } catch (error) {
        throw blamed(error, request)
      }
    },
  }
}
