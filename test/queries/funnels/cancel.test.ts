import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery, compileFor, type QueryProject, statementOf } from '../../../src/answer.ts'
import type { Answer, Ask } from '../../../src/queries/kind.ts'
import { queryKinds } from '../../../src/queries/registry.ts'
import { projectDatabase } from '../../../src/storage/duckdb/instance.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { fillStore } from '../../harness/store.ts'

// A cancelled funnel stops at its next pause, and pauses are never many events apart.

const events = 1_200_000
let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
  const at = Date.parse('2024-01-02T00:00:00Z') * 1000
  await fillStore(project, {
    events: [
      { event: 'a', person: 1, at },
      { event: 'b', person: 1, at: at + 1 },
    ],
    isFresh: true,
  })
  const database = `"${projectDatabase(project.settings.id)}".main`
  await project.instance.use((connection) =>
    connection.run(`INSERT INTO ${database}.events (uuid, event_id, timestamp, person_no, distinct_id, session_id, created_at, log_seq, person_mode, properties)
      SELECT uuid(), 1 + i % 2, make_timestamp(${at} + i * 1000), 1 + (i * 7919) % 5000, 'd', '', make_timestamp(${at}), i + 3, 0, '{"v":"' || (i % 7) || '"}'
      FROM range(${events}) t(i)`),
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
  const facts = await project.facts()
  const env = project.env(facts)
  const kind = queryKinds.FunnelsQuery!
  const run = kind.run(kind.schema.parse(asked), env)
  const answerTo = async (ask: Ask): Promise<Answer> => {
    const table = ({ query: tree }: Extract<Ask, { query: unknown }>) =>
      project.run(statementOf(compileFor(tree, project, facts, env).printed, 'UTC'), {})
    if ('query' in ask) return table(ask)
    return 'kind' in ask ? undefined : Promise.all(ask.map(table))
  }
  let pauses = 0
  for (let step = run.next(); !step.done; ) {
    if ('kind' in step.value && step.value.kind === 'pause') pauses++
    step = run.next(await answerTo(step.value))
  }
  // Once for every half million while they are ordered, and once for every 131,072 while they are folded.
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(events / 524_288) + Math.floor(events / 131_072) - 1)
})

/** The project, cancelling when its second statement (the one that fetches the events) starts or has come back. */
function cancelling(when: 'asked' | 'answered'): { project: QueryProject; signal: AbortSignal; seen: string[] } {
  const controller = new AbortController()
  const seen: string[] = []
  const cancel = () => {
    seen.push('cancelled')
    controller.abort()
  }
  const run: QueryProject['run'] = async (statement, options) => {
    const isEvents = seen.push('asked') === 3
    const table = project.run(statement, options)
    if (isEvents && when === 'asked') queueMicrotask(cancel)
    const answer = await table
    seen.push('answered')
    if (seen.length === 4 && when === 'answered') cancel()
    return answer
  }
  return { project: { ...project, run }, signal: controller.signal, seen }
}

test.each([
  ['asked', ['asked', 'answered', 'asked', 'cancelled']],
  ['answered', ['asked', 'answered', 'asked', 'answered', 'cancelled']],
] as const)('a funnel cancelled when its events are %s asks and answers nothing more', async (when, expected) => {
  const { project: target, signal, seen } = cancelling(when)
  await expect(answerQuery(query({}), target, { signal })).rejects.toMatchObject({ code: 'query-cancelled' })
  expect(seen.slice(0, expected.length)).toEqual(expected)
  expect(seen.filter((what) => what === 'asked').length).toBe(2)
})
