import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'

// Answers that are more than the process would want to hold at once.

let waymark: LocalWaymark
let ask: (query: string, accept?: string) => Promise<Response>
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, memoryLimit: '160MiB' })
  const { project, personalKey } = await waymark.accounts.firstStart({})
  const handler = createHandler(waymark)
  ask = (query, accept = 'application/json') =>
    handler(
      new Request(`http://localhost/api/projects/${project.id}/query/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json', accept },
        body: JSON.stringify({ query: { kind: 'SqlLikeQuery', query } }),
      }),
    )
})
afterAll(() => waymark.close())

const refusal = {
  type: 'validation_error',
  code: 'invalid_input',
  detail: expect.stringMatching(
    /^The answer is larger than \d+ MiB, the limit for JSON\. Select fewer rows or columns, or send `Accept: text\/csv` /,
  ),
  attr: null,
}

test.each([
  ['texts that differ', "select concat(toString(number), repeat('x', 6000)) from numbers(2000) limit 2000"],
  ['one text in every row', "select repeat('x', 6000) from numbers(2000) limit 2000"],
  ['arrays', 'select range(1000) from numbers(1500) limit 1500'],
  ['texts in arrays', "select [repeat('x', 3000), repeat('y', 3000)] from numbers(2000) limit 2000"],
])('%s: refused as JSON, streamed as CSV', async (_, query) => {
  const answer = await ask(query)
  expect([answer.status, await answer.json()]).toEqual([400, refusal])
  let bytes = 0
  for await (const piece of (await ask(query, 'text/csv')).body!) bytes += piece.length
  expect(bytes).toBeGreaterThan(4e6)
})

test('what fits is answered', async () => {
  const answer = await ask("select repeat('x', 3000) from numbers(2000) limit 2000")
  expect([answer.status, ((await answer.json()) as { results: unknown[] }).results.length]).toEqual([200, 2000])
})
