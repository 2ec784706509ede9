import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunOptions } from '../../../src/engine/execution/ports.ts'
import { explainedRefusal, type SearchLimits } from '../../../src/engine/execution/refused-call.ts'
import { QueryError } from '../../../src/errors/errors.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// How many statements run to find the call that the engine refused.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const refusal = () => new QueryError('engine-refused', { message: 'no' })
const list = (length: number, text: (i: number) => string) => Array.from({ length }, (_, i) => text(i)).join(', ')

async function search(query: string, run: (options: RunOptions) => Promise<never>, limits?: SearchLimits, options: RunOptions = {}) {
  let asked = 0
  const counting = (_: unknown, own: RunOptions = {}) => {
    asked++
    return run(own)
  }
  const found = await explainedRefusal(
    refusal(),
    { compiled: await project.compile(query), request: { query }, statement: parseQuery(query) },
    await project.context(),
    { dialect: project.dialect, run: counting },
    options,
    limits,
  )
  const { span } = found as QueryError
  return { asked, at: span && query.slice(span.start, span.end) }
}
const refuses = () => Promise.reject(refusal())
const waits = ({ signal }: RunOptions) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(new QueryError('query-cancelled', {})), { once: true }))

test('a call with many arguments is found with a limited number of statements', async () => {
  const call = `concat(${list(100, () => 'event')})`
  const { asked, at } = await search(`select ${call} from events`, refuses)
  expect(at).toBe(call)
  expect(asked).toBeGreaterThan(50)
  expect(asked).toBeLessThanOrEqual(200)
})

test('a statement with thousands of calls is not searched', async () => {
  const query = `select ${list(3_000, (i) => `lower(event) as a${i}`)} from events`
  expect(await search(query, refuses)).toEqual({ asked: 0, at: null })
})

test('the search ends after its time limit', async () => {
  expect(await search('select lower(event), upper(event) from events', waits, { mostAsked: 200, longestMs: 20 })).toEqual({
    asked: 1,
    at: null,
  })
})

test('the search ends when the query is cancelled', async () => {
  const stop = new AbortController()
  const stopped = () => {
    stop.abort()
    return Promise.reject(new QueryError('query-cancelled', {}))
  }
  const { asked } = await search('select lower(event), upper(event) from events', stopped, undefined, { signal: stop.signal })
  expect(asked).toBe(1)
})
