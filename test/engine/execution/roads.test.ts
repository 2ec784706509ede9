import { Table } from 'apache-arrow'
import { expect, test } from 'vitest'
import { alongRoads, type Choice, type FoldNote, type PlainAsk } from '../../../src/engine/execution/roads.ts'
import { open } from '../../../src/engine.ts'
import { QueryError } from '../../../src/errors/errors.ts'
import type { Query } from '../../../src/index.ts'
import {
  along,
  alongAll,
  given,
  type ListedFold,
  type QueryRun,
  type Question,
  type Road,
  type RoadName,
} from '../../../src/queries/kind.ts'
import { Refusal, type RefusalCode, refuse } from '../../../src/queries/refusals.ts'

// Which road is taken, what is noted of the others, and in which order statements are asked.

const statement = (answer: string): Road<string> => {
  return function* (): QueryRun<string> {
    yield { kind: 'statement', label: answer, query: {} as never }
    return answer
  }
}
const fold = {} as ListedFold<string>['fold']
const listed = (): ListedFold<string> => ({ names: [], columns: [], fold })

/** Runs to the end: folds are answered by `folds`, in their order. */
function run<R>(asking: QueryRun<R>, { folds = [], ...choice }: Partial<Choice> & { folds?: readonly unknown[] } = {}) {
  const notes: FoldNote[] = []
  const asked: string[][] = []
  const answers = [...folds]
  const answerTo = (ask: PlainAsk): unknown => {
    if (!('kind' in ask)) {
      asked.push(ask.map(({ label }) => label))
      return ask.map(() => new Table())
    }
    if (ask.kind === 'fold') {
      const answer = answers.shift()
      if (answer === 'folded') notes.push({ label: ask.label, road: 'core', seconds: 0 })
      return answer instanceof Refusal ? answer : [answer]
    }
    if (ask.kind === 'statement') asked.push([ask.label])
    return new Table()
  }
  const steps = alongRoads(asking, { foldsInEngine: false, events: 1000, notes, ...choice })
  let step = steps.next()
  while (!step.done) step = steps.next(answerTo(step.value))
  return { answer: step.value, notes, asked }
}

const question = (roads: Partial<Record<RoadName, Road<string>>>): Question<string> => ({ label: 'it', ...roads })
const all = { lists: listed, engine: () => given('engine'), rows: () => given('rows'), statement: statement('statement') }
const closed = (code: RefusalCode) => () => refuse(code)

test.each<[string, Partial<Record<RoadName, Road<string>>>, Parameters<typeof run>[1], string, readonly string[]]>([
  ['lists before all others', all, { folds: ['folded'] }, 'folded', ['lists taken', 'engine', 'rows', 'statement']],
  [
    'a fold that gives up',
    all,
    { folds: [refuse('many-values')] },
    'rows',
    ['lists many-values', 'engine engine-without-lists', 'rows taken', 'statement'],
  ],
  [
    'an engine that folds, before rows',
    all,
    { folds: [refuse('no-lists')], foldsInEngine: true },
    'engine',
    ['lists no-lists', 'engine taken', 'rows', 'statement'],
  ],
  ['a request for statements', all, { road: 'sql' }, 'rows', ['lists sql-asked', 'engine engine-without-lists', 'rows taken', 'statement']],
  [
    'only a statement',
    { lists: closed('no-uuids'), statement: statement('statement') },
    {},
    'statement',
    ['lists no-uuids', 'statement taken'],
  ],
  [
    'a run that gives up',
    {
      rows: function* () {
        yield { kind: 'pause' }
        return refuse('many-texts')
      },
      statement: statement('statement'),
    },
    {},
    'statement',
    ['rows many-texts', 'statement taken'],
  ],
])('%s', (_, roads, choice, answer, notes) => {
  const found = run(along(question(roads)), choice)
  expect(found.answer).toBe(answer)
  expect(
    found.notes.map((note) => note.roads!.map(({ road, isTaken, code }) => [road, isTaken && 'taken', code].filter(Boolean).join(' '))),
  ).toEqual([notes])
})

test.each([
  [{ events: 999 }, 'statement'],
  [{ events: 1000 }, 'folded'],
  [{ events: 999, road: 'core' as const }, 'folded'],
])('lists of few events are not asked, unless they alone are: %o', (choice, expected) => {
  const planned: string[] = []
  const lists = () => {
    planned.push('lists')
    return listed()
  }
  const asked = { ...question({ lists, statement: statement('statement') }), leastEvents: 1000 }
  const { answer } = run(along(asked), { folds: ['folded'], ...choice })
  expect([answer, planned]).toEqual([expected, expected === 'folded' ? ['lists'] : []])
})

test('a refused road has the sentence of its code, and the note that of the lists', () => {
  const { notes } = run(along(question({ lists: closed('no-uuids'), statement: statement('statement') })))
  expect(notes).toEqual([
    {
      label: 'it',
      road: 'sql',
      reason: 'the lists have no uuids of events',
      roads: [
        { road: 'lists', code: 'no-uuids', reason: 'the lists have no uuids of events' },
        { road: 'statement', isTaken: true },
      ],
      seconds: 0,
    },
  ])
})

test('with the lists as the only road asked for, their refusal is the error, whatever question it is part of', () => {
  const inner = question({ lists: closed('no-uuids'), rows: () => given('rows') })
  const message = 'The lists of events cannot answer it: the lists have no uuids of events. Remove modifiers.road to answer it by SQL.'
  for (const asked of [inner, question({ rows: () => along(inner) })])
    expect(() => run(along(asked), { road: 'core' })).toThrowError(expect.objectContaining({ attr: 'modifiers__road', message }))
})

test('a question inside a road knows the roads that were refused around it', () => {
  const inner = question({ lists: closed('actors-by-expression'), rows: () => given('rows') })
  const { notes } = run(along(question({ engine: () => given('engine'), rows: () => along(inner) })))
  expect(notes.map(({ roads }) => roads!.map(({ road, code }) => [road, code]))).toEqual([
    [
      ['lists', 'actors-by-expression'],
      ['engine', 'engine-without-lists'],
      ['rows', undefined],
    ],
  ])
})

test('questions asked together: folds one after the other, the statements of the others side by side, step by step', () => {
  const twice = (name: string): Road<string> =>
    function* () {
      yield { kind: 'statement', label: `range of ${name}`, query: {} as never }
      return yield* statement(name)() as QueryRun<string>
    }
  const lists = listed
  const { answer, asked, notes } = run(
    alongAll([
      question({ lists, statement: twice('a') }),
      question({ lists, statement: twice('b') }),
      question({ lists, statement: statement('c') }),
    ]),
    { folds: [refuse('lists-loading'), 'folded', refuse('lists-loading')] },
  )
  expect(answer).toEqual(['a', 'folded', 'c'])
  expect(asked).toEqual([['range of a', 'c'], ['a']])
  expect(notes.map(({ road }) => road)).toEqual(['sql', 'core', 'sql'])
})

test('a question whose roads are all refused is an error that names them', () => {
  const asked = question({ lists: closed('no-uuids'), statement: closed('many-texts') })
  expect(() => run(along(asked))).toThrowError('No road can answer it: lists: no-uuids, statement: many-texts')
})

test('an error of a plan reaches the question, which may know its field', () => {
  function* asking(): QueryRun<string> {
    try {
      return yield* along(
        question({
          statement: () => {
            throw new QueryError('validation-failed', { message: 'no', attr: 'event' })
          },
        }),
      )
    } catch (error) {
      throw (error as QueryError).with({ attr: 'source__event' })
    }
  }
  expect(() => run(asking())).toThrowError(expect.objectContaining({ attr: 'source__event' }))
})

test('explain lists every road of each question, with what it had before', async () => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z') })
  try {
    const project = await waymark.createProject()
    await project.ingest({ batch: [{ event: 'visit', distinct_id: 'u', timestamp: '2026-03-02T00:00:00Z' }] })
    const visit = { kind: 'EventsNode', event: 'visit' } as const
    const dateRange = { date_from: '2026-03-01', date_to: '2026-03-09' }
    const explained = async (query: Query) => {
      const { explain } = await project.query({ ...query, explain: true } as Query)
      return (explain as readonly FoldNote[]).flatMap(({ road, reason, roads }) => (road ? [{ road, reason, roads }] : []))
    }
    const noFold = { code: 'no-fold', reason: 'the lists have no fold for the actors of paths' }
    const engine = { road: 'engine', code: 'engine-without-lists', reason: 'the engine does not fold lists of events' }
    const byPlan = { code: 'actors-by-expression', reason: 'the actors are values of an expression' }
    expect(await explained({ kind: 'TrendsQuery', series: [visit], dateRange })).toEqual([
      { road: 'core', reason: undefined, roads: [{ road: 'lists', isTaken: true }, { road: 'statement' }] },
    ])
    expect(
      await explained({
        kind: 'FunnelsQuery',
        series: [visit, visit],
        dateRange,
        funnelsFilter: { funnelAggregateByHogQL: 'properties.plan' },
      }),
    ).toEqual([{ road: 'sql', reason: byPlan.reason, roads: [{ road: 'lists', ...byPlan }, engine, { road: 'rows', isTaken: true }] }])
    const source = { kind: 'InsightActorsQuery', source: { kind: 'PathsQuery', dateRange } } as const
    expect(await explained({ kind: 'ActorsQuery', source })).toEqual([
      { road: 'sql', reason: noFold.reason, roads: [{ road: 'lists', ...noFold }, engine, { road: 'statement', isTaken: true }] },
    ])
  } finally {
    await waymark.close()
  }
})
