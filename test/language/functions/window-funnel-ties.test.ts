import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject()
})
afterAll(() => waymark.close())

/** Rows: when, and which of the steps 1 to 3 they match. */
const once = async (rows: readonly (readonly [at: number, steps: readonly number[]])[]) => {
  const from = rows
    .map(([at, steps]) => `select ${at} as t, ${[1, 2, 3].map((n) => `${steps.includes(n)} as s${n}`).join(', ')}`)
    .join(' union all ')
  const query = `select windowFunnel(100, 'strict_once')(t, s1, s2, s3) from (${from})`
  return ((await project.query({ kind: 'SqlLikeQuery', query })) as { results: readonly (readonly unknown[])[] }).results[0]![0]
}

test.each([
  [
    'each at its own time',
    [
      [1, [1, 2]],
      [2, [1, 3]],
      [3, [2]],
    ],
    2,
  ],
  [
    'of one time, one step each',
    [
      [1, [1]],
      [1, [2]],
      [1, [3]],
    ],
    3,
  ],
  [
    'of one time, where the others match nothing',
    [
      [1, [1, 2]],
      [1, []],
      [2, [2]],
    ],
    2,
  ],
] as const)('a row counts for one step: rows %s', async (_, rows, steps) => {
  expect(await once(rows)).toBe(steps)
})

test('rows of one time of which one matches several steps are refused: which stands for which is not decided by their order', async () => {
  const ties = [
    [1, [1, 2]],
    [1, [1, 3]],
    [1, [2]],
  ] as const
  await expect(once(ties)).rejects.toThrow(/With strict_once, rows of one time must match one step each/)
})
