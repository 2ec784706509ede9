import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { extentOf, type Fold } from '../../../src/core/folds/fold.ts'
import { ThreadLost } from '../../../src/core/folds/thread-pool.ts'
import type { Listed } from '../../../src/core/lists/project-lists.ts'
import { isLongRequest, unlessLong } from '../../../src/engine/backend/long-queries.ts'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { QueryProject } from '../../../src/engine/execution/query-context.ts'
import { AnswerThread } from '../../../src/engine/isolation/answer-thread.ts'
import { QueryError, WaymarkError } from '../../../src/errors/errors.ts'
import { PlanningBudget } from '../../../src/language/ast/planning-budget.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { threadHeapBytes } from '../../../src/lib/memory/thread-heaps.ts'
import { jsonText } from '../../../src/lib/text/json-text.ts'
import { detailed, questions, trend, visits } from '../../core/lists/list-questions.ts'
import { openTestProject, type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { program } from '../../harness/programs.ts'

// Long queries in a thread of their own: the answers are those of the main thread, errors included, and the main thread does not plan.

const launch = (heap: Float64Array) => new Worker(program('answer-worker'), { execArgv: [], workerData: { heap } })
const problems: unknown[] = []
const thread = new AnswerThread((error) => problems.push(error), launch)

let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2026-03-10T12:00:00Z') })
  let drawn = 7
  const draw = (most: number) => {
    drawn = (drawn * 48271) % 2147483647
    return drawn % most
  }
  await project.project.ingest({
    batch: Array.from({ length: 400 }, (_, i) => ({
      event: ['visit', 'visit', 'sign up', 'buy', 'other'][draw(5)]!,
      distinct_id: `u${draw(20)}`,
      uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      timestamp: new Date(Date.UTC(2026, 2, 1 + draw(9), draw(24), draw(60))).toISOString(),
      properties: {
        ...(draw(4) ? { plan: ['free', 'pro', 'team'][draw(3)]! } : {}),
        ...(draw(4) ? { amount: draw(100) / 4 } : {}),
        ...(draw(3) ? { $groups: { company: `company ${draw(5)}` }, $session_id: `session ${draw(20)}` } : {}),
        ...(draw(3) ? {} : { $set: { vip: draw(2) === 1 } }),
      },
    })),
  })
})
afterAll(async () => {
  await thread.close()
  await project.close()
  expect(problems).toEqual([])
})

const sql = (query: string) => ({ kind: 'SqlLikeQuery', query })
const plain = (answer: unknown) => {
  const strip = (key: string, value: unknown) => (['timings', 'seconds'].includes(key) ? undefined : value)
  return JSON.parse(jsonText(answer), strip) as unknown
}
const outcome = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return plain(await work())
  } catch (error) {
    const { name, code, message, data, span, source, attr, others } = error as QueryError
    return { name, code, message, data, span, source, attr, others: others?.map((one) => one.message) }
  }
}
const inThread = async (query: object, where: QueryProject = project, options: Parameters<AnswerThread['answer']>[2] = {}) => {
  const answer = await thread.answer(query, where, options)
  return JSON.parse(answer!.text) as unknown
}

const cases: readonly (readonly [string, object])[] = [
  ...Object.entries(questions),
  ...Object.entries(detailed),
  [
    'a list of events',
    { kind: 'EventsQuery', select: ['uuid', 'event', 'properties.amount', 'person'], orderBy: ['uuid'], after: '2026-03-01' },
  ],
  [
    'actors',
    {
      kind: 'ActorsQuery',
      select: ['id'],
      source: { kind: 'FunnelsActorsQuery', source: questions.ordered, funnelStep: 1 },
    },
  ],
  [
    'a statement',
    sql('select event, count(), sum(properties.amount), groupArray(properties.plan) from events group by event order by event'),
  ],
  [
    'values of many types',
    sql("select 1, 2.5, 'x', true, null, [1, 2], (1, 'a'), toDateTime('2026-03-01 00:00:00'), toInt64(9007199254740993)"),
  ],
  ['many rows', sql('select number, toString(number) from numbers(5000) limit 5000')],
  ['no rows', sql('select event from events where false')],
  ['a warning', trend({ kind: 'EventsNode', event: 'vist' })],
  ['a mistake', sql('select evnt, nothing(1) from events')],
  ['invalid text', sql('select from where')],
  ['a mistake of the engine', sql("select toDate('x') from events")],
  [
    'a mistake of the engine in an expression',
    { ...trend(visits('total')), properties: [{ type: 'hogql', key: "toDate(event) = '2026-03-01'" }] },
  ],
  ['a mistake in a column', trend(visits('sum', { math_property: 'amount', properties: [{ type: 'hogql', key: 'nothing(1)' }] }))],
  ['an unknown cohort', { ...trend(visits('total')), properties: [{ type: 'cohort', key: 'id', value: 9 }] }],
  ['a road that is not there', { ...trend(visits('unique_session')), modifiers: { road: 'core' } }],
  ['an unknown kind', { kind: 'Tends' }],
]
test.each(cases)('the answer is that of the main thread: %s', async (_, query) => {
  const explained = 'query' in query ? query : { ...query, explain: true }
  expect(await outcome(() => inThread(explained))).toEqual(await outcome(() => answerQuery(explained, project)))
  const stated = withoutLists(project)
  expect(await outcome(() => inThread(explained, stated))).toEqual(await outcome(() => answerQuery(explained, stated)))
})

test('limits of rows and failed cohorts go with the query', async () => {
  const limited = { ...project, rowLimits: { defaultRows: 2, mostRows: 3 } }
  const rows = sql('select number from numbers(10)')
  expect(await outcome(() => inThread(rows, limited))).toEqual(await outcome(() => answerQuery(rows, limited)))
  const cohorts = new Map([[9, JSON.stringify({ name: 'Failed' })]])
  const failing: QueryProject = {
    ...project,
    facts: async () => ({ ...(await project.facts()), cohorts }),
    failedCohorts: new Map([[9, new QueryError('query-memory', { message: '' })]]),
  }
  const named = { ...trend(visits('total')), properties: [{ type: 'cohort', key: 'id', value: 9 }] }
  const failed = await outcome(() => answerQuery(named, failing))
  expect(failed).toMatchObject({ code: 'query-memory' })
  expect(await outcome(() => inThread(named, failing))).toEqual(failed)
})

test('events that arrive between two queries are in the next answer', async () => {
  const query = sql("select count() from events where event = 'later'")
  expect(await inThread(query)).toMatchObject({ results: [[0]] })
  await project.project.ingest({ batch: [{ event: 'later', distinct_id: 'u1', timestamp: '2026-03-02T00:00:00Z' }] })
  expect(await inThread(query)).toMatchObject({ results: [[1]] })
})

/** Without the methods of the lists. */
const pickLists = ({ lists: { start, end, time, event, seq, persons, events, used } }: Listed): Listed['lists'] => ({
  start,
  end,
  time,
  event,
  seq,
  persons,
  events,
  used,
})

test('large lists are folded in the threads of the main thread, and here if one is lost', async () => {
  let [calls, losses] = [0, 0]
  const folding = (isLost: boolean): QueryProject => ({
    ...project,
    fold: (seq, columns, loop) =>
      project.fold!(seq, columns, (listed) => loop({ ...listed, lists: { ...pickLists(listed), events: 1_000_000 } })),
    threads: {
      isUsable: true,
      async run<P, R>(fold: Fold<P, R>, lists: Parameters<Fold<P, R>['run']>[0], params: P): Promise<R> {
        calls++
        if (isLost) losses++
        if (isLost) throw new ThreadLost('lost')
        const steps = fold.run(lists, params, 0, extentOf(fold, lists))
        for (;;) {
          const step = steps.next()
          if (step.done) return fold.join([step.value], params)
        }
      },
    },
  })
  const expected = await outcome(() => answerQuery(questions.ordered, project))
  expect(await outcome(() => inThread(questions.ordered, folding(false)))).toEqual(expected)
  expect(await outcome(() => inThread(questions.ordered, folding(true)))).toEqual(expected)
  expect([calls, losses]).toEqual([2, 1])
})

test('if the thread ends, the lists are in use until nobody folds them', async () => {
  const [begun, read, given] = [deferred<void>(), deferred<void>(), deferred<void>()]
  let isGiven = false
  const folding: QueryProject = {
    ...project,
    fold: (seq, columns, loop) =>
      project.fold!(seq, columns, (listed) =>
        loop({ ...listed, lists: { ...pickLists(listed), events: 1_000_000 } }).finally(() => {
          isGiven = true
          given.resolve()
        }),
      ),
    threads: {
      isUsable: true,
      async run() {
        begun.resolve()
        await read.promise
        return null
      },
    },
  }
  let worker: Worker | null = null
  const ending = new AnswerThread(
    () => {},
    (heap) => (worker = launch(heap)),
  )
  const asked = ending.answer(questions.ordered, folding, {})
  await begun.promise
  await worker!.terminate()
  expect(await asked).toBeNull()
  expect(isGiven).toBe(false)
  read.resolve()
  await given.promise
  await ending.close()
})

const manyValues = {
  ...trend(visits('total')),
  properties: [{ type: 'event', key: 'plan', operator: 'icontains', value: Array.from({ length: 3000 }, (_, i) => `v${i}`) }],
}

test('the main thread does not plan what the other one answers', async () => {
  const spent = vi.spyOn(PlanningBudget.prototype, 'spend')
  try {
    await inThread(manyValues)
    expect(spent).not.toHaveBeenCalled()
    expect(threadHeapBytes()).toBeGreaterThan(0) // known to those who measure the memory of the process
    await answerQuery(sql('select 1'), project)
    expect(spent).toHaveBeenCalled()
  } finally {
    spent.mockRestore()
  }
})

test('a query that is cancelled ends with its reason, and the thread answers the next one', async () => {
  const stop = new AbortController()
  const runs = deferred<void>()
  const stuck: QueryProject = {
    ...withoutLists(project),
    run: (_, options) => {
      runs.resolve()
      return new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(options.signal!.reason)))
    },
  }
  const asked = outcome(() => inThread(sql('select 1'), stuck, { signal: stop.signal }))
  await runs.promise
  expect(await inThread(sql('select 2'))).toMatchObject({ results: [[2]] })
  const reason = new WaymarkError('query-timeout', { seconds: 1, waited: 0, ran: 1 })
  stop.abort(reason)
  expect(await asked).toMatchObject({ code: 'query-timeout', message: reason.message })
})

test('without a thread there is no answer from it', async () => {
  const errors: unknown[] = []
  let starts = 0
  const broken = new AnswerThread(
    (error) => errors.push(error),
    () => {
      starts++
      return new Worker('throw new Error("broken")', { eval: true })
    },
  )
  for (let i = 0; i < 5; i++) expect(await broken.answer(sql('select 1'), project, {})).toBeNull()
  expect(starts).toBe(3)
  expect(errors.map(String)).toEqual(Array.from({ length: 3 }, () => 'Error: broken'))
  expect(threadHeapBytes()).toBeGreaterThan(0) // of the thread that works
  await broken.close()
})

/** Its request is not long yet. */
const manyItems = sql(`select length([${'1,'.repeat(7000)}1])`)

test('what is long goes to the other thread: a large request, or a large statement, but not once it runs', async () => {
  expect(isLongRequest(manyValues)).toBe(true)
  for (const [, query] of cases) expect(isLongRequest(query)).toBe(false)
  const here = (query: object) => (watched: QueryProject) => answerQuery(query, watched)
  for (const [name, query] of cases) expect([name, await outcome(() => unlessLong(project, here(query)))]).not.toEqual([name, null])
  expect(isLongRequest(manyItems)).toBe(false)
  expect(await unlessLong(project, here(manyItems))).toBeNull()
  const asColumn = {
    ...trend(visits('total')),
    properties: [{ type: 'hogql', key: `length([${'1,'.repeat(6000)}1]) > properties.amount` }],
  }
  expect(isLongRequest(asColumn)).toBe(false)
  expect(await unlessLong(project, here({ ...asColumn, modifiers: { road: 'core' } }))).toBeNull()
  const runsFirst = async (watched: QueryProject) => {
    await answerQuery(sql('select 1'), watched)
    return answerQuery(manyItems, watched)
  }
  expect(await unlessLong(project, runsFirst)).toMatchObject({ results: [[7001]] })
})
