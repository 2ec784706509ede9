import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { QueryProject } from '../../../src/engine/execution/query-context.ts'
import { alongRoads, type PlainAsk } from '../../../src/engine/execution/roads.ts'
import { compileFor, statementOf } from '../../../src/engine/execution/statements.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import type { Answer } from '../../../src/queries/kind.ts'
import { refuse } from '../../../src/queries/refusals.ts'
import { queryKinds } from '../../../src/queries/registry.ts'
import { type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { firstAt, openManyEvents } from './many-events.ts'

// A cancelled funnel stops at its next pause, and there are few events between two pauses.

const events = 1_200_000
let project: TestProject
beforeAll(async () => {
  project = withoutLists(
    await openManyEvents(events, {
      uuid: 'uuid()',
      event_id: '1 + i % 2',
      timestamp: `make_timestamp(${firstAt} + i * 1000)`,
      person_no: '1 + (i * 7919) % 5000',
      properties: `'{"v":"' || (i % 7) || '"}'`,
    }),
  )
})
afterAll(() => project.close())

const node = (event: string) => ({ kind: 'EventsNode', event, name: event })
const query = (parts: object) => ({
  kind: 'FunnelsQuery',
  series: [node('a'), node('b'), node('a')],
  dateRange: { date_from: '2024-01-02', date_to: '2024-01-03' },
  ...parts,
})
const cases = [
  ['ordered', query({})],
  ['unordered', query({ funnelsFilter: { funnelOrderType: 'unordered' } })],
  ['by day', query({ interval: 'day', funnelsFilter: { funnelVizType: 'trends' } })],
  ['by a property', query({ breakdownFilter: { breakdown: 'v', breakdown_type: 'event' } })],
] as const

test.each(cases)('a funnel pauses at least once in every few hundred thousand events: %s', async (_, asked) => {
  const env = await project.context()
  const kind = queryKinds.FunnelsQuery!
  const run = alongRoads(kind.run(kind.schema.parse(asked), env), { foldsInEngine: false, events: 0, notes: [] })
  const answerTo = async (ask: PlainAsk): Promise<Answer> => {
    const table = async ({ query: tree, take }: Extract<PlainAsk, { query: unknown }>) => {
      const rows = await project.run(statementOf((await compileFor(tree, project, env)).printed, 'UTC'), {})
      take?.(rows)
      return rows
    }
    if ('query' in ask) return table(ask)
    if ('kind' in ask) return ask.kind === 'fold' ? refuse('no-lists') : undefined
    return Promise.all(ask.map(table))
  }
  let pauses = 0
  for (let step = run.next(); !step.done; ) {
    if ('kind' in step.value && step.value.kind === 'pause') pauses++
    step = run.next(await answerTo(step.value))
  }
  // Once for every 131,072 events and those of the bucket they end in.
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(events / 155_000))
})

interface Seen {
  readonly project: QueryProject
  readonly signal: AbortSignal
  readonly seen: string[]
}
/** The project, cancelling when its events are asked for, when their first part has come, or when all have. */
function cancelling(when: 'asked' | 'part' | 'answered'): Seen {
  const controller = new AbortController()
  const seen: string[] = []
  const see = (what: string, cancels: boolean) => {
    seen.push(what)
    if (cancels) controller.abort()
  }
  return {
    seen,
    signal: controller.signal,
    project: {
      ...project,
      async runInParts(statement, take, options) {
        let parts = 0
        const running = project.runInParts(
          statement,
          (part) => {
            see('part', when === 'part' && ++parts === 1)
            take(part)
          },
          options,
        )
        see('asked', when === 'asked')
        await running
        see('answered', when === 'answered')
      },
    },
  }
}

test.each([
  ['asked', ['asked']],
  ['part', ['asked', 'part']],
  ['answered', ['asked', ...Array.from({ length: Math.ceil(events / 65_536) }, () => 'part'), 'answered']],
] as const)('a funnel cancelled when its events are %s goes no further', async (when, expected) => {
  const { project: target, signal, seen } = cancelling(when)
  await expect(answerQuery(query({}), target, { signal })).rejects.toMatchObject({ code: 'query-cancelled' })
  expect(seen).toEqual(expected)
  // The engine is idle: everything it can run at once runs.
  const { instance } = project
  const connections = await Promise.all([instance.acquire(), instance.acquire()])
  for (const connection of connections) {
    const progress = connection.progress
    expect(progress.percentage).toBe(-1)
    expect((await connection.runAndReadAll('SELECT 1')).getRows()).toEqual([[1]])
    instance.release(connection)
  }
})

test('between two parts of the rows everybody has a turn', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const at: number[] = []
  const target: QueryProject = {
    ...project,
    runInParts: (statement, take, options) =>
      project.runInParts(
        statement,
        (part) => {
          at.push(turns)
          take(part)
        },
        options,
      ),
  }
  await answerQuery(query({}), target)
  isOver = true
  expect(at.length).toBe(Math.ceil(events / 65_536))
  for (let i = 1; i < at.length; i++) expect(at[i]! - at[i - 1]!).toBeGreaterThan(0)
})

test('a funnel that has no time left stops while it is folded', async () => {
  const limit = new AbortController()
  const target: QueryProject = {
    ...project,
    async runInParts(statement, take, options) {
      await project.runInParts(statement, take, options)
      limit.abort(new WaymarkError('query-timeout', { seconds: 60, waited: 0, ran: 60 }))
    },
  }
  await expect(answerQuery(query({}), target, { signal: limit.signal })).rejects.toMatchObject({ code: 'query-timeout' })
})
