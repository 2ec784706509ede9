import { expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'

// Without bounds each of these takes gigabytes in one step of the engine, past its budget, and with them the process.

test.each([
  'range(3000000000)',
  'range(-9000000000000000000, 9000000000000000000)',
  'range(0, 3000000000, 2)',
  'arrayWithConstant(2000000000, 1)',
  'arrayResize([1], 2000000000)',
  'arrayResize([1], -2000000000)',
  'arrayResize([1], toInt(event))',
  'groupArrayInsertAt(1, 2000000000)',
  'bar(1, 0, 1, 2000000000)',
  'mapPopulateSeries(map(1, 1), 2000000000)',
  "timeSlots(toDateTime('2026-01-01 00:00:00'), 2000000000, 1)",
  "leftPad('a', 2000000000)",
  "rightPadUTF8('a', 2000000000, 'b')",
  "repeat('abc', 2000000000)",
  "repeat(repeat('a', 1000000), 1000000)",
])('%s is refused', async (expression) => {
  const waymark = await open({ dataDir: ':memory:', memoryLimit: '256MB' })
  const project = await waymark.createProject()
  await project.ingest({ batch: [{ event: '2000000000', distinct_id: 'a' }] })
  const query = { kind: 'SqlLikeQuery', query: `select length(toString(${expression})) from events` }
  await expect(project.answer(query)).rejects.toMatchObject({ code: 'makes-too-much' })
  await waymark.close()
})

test('runs of fewer than one character are refused: from far below 0 there were billions of them', async () => {
  const waymark = await open({ dataDir: ':memory:', memoryLimit: '256MB' })
  const project = await waymark.createProject()
  const query = { kind: 'SqlLikeQuery', query: "select length(ngrams('a', -2147483649))" }
  await expect(project.answer(query)).rejects.toThrow(/n must be at least 1/)
  await waymark.close()
})

test('series of several groups are refused in words of WITH FILL', async () => {
  const waymark = await open({ dataDir: ':memory:', memoryLimit: '256MB' })
  const project = await waymark.createProject()
  await project.ingest({ batch: ['a', 'b'].map((event) => ({ event, distinct_id: 'u' })) })
  const filled = (to: number) => ({
    kind: 'SqlLikeQuery',
    query: `select event, length(distinct_id) as n from events order by event, n with fill from 0 to ${to}`,
  })
  const refused = await project.answer(filled(900_000)).catch((error: Error) => error)
  expect(refused).toMatchObject({ code: 'makes-too-much', data: { name: 'WITH FILL' } })
  expect((refused as Error).message).toMatch(/^WITH FILL would produce 900,00\d rows for one series; the limit is [\d,]+/)
  expect((refused as Error & { suggestion: string }).suggestion).toContain('STEP')
  await waymark.close()
})
