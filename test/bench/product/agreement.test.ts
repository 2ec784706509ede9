import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { disagreement, firstDifference } from '../../../bench/product/agreement.ts'
import type { Contender, EventFiles, Rows } from '../../../bench/product/contender.ts'
import { duckdbTyped } from '../../../bench/product/contenders/duckdb-typed.ts'
import { waymarkSql } from '../../../bench/product/contenders/waymark-sql.ts'
import { writeEventFiles } from '../../../bench/product/event-files.ts'
import { questions } from '../../../bench/product/questions.ts'

// Nothing is timed before all contenders gave the same answers. contenders.test.ts beside this file asks all of them, in processes of their own.

const folder = mkdtempSync(join(tmpdir(), 'waymark-agreement-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function answersOf(name: string, contender: Contender, events: EventFiles): Promise<readonly Rows[]> {
  const resources = { directory: join(folder, name), threads: 2, memory: '300MB' }
  mkdirSync(resources.directory)
  const loaded: number[] = []
  await contender.load(events, resources, (done) => loaded.push(done))
  expect(loaded.at(-1)).toBe(events.data.events)
  const open = await contender.open(events.data, resources)
  const answers: Rows[] = []
  for (const question of questions) {
    const prepared = (await open.prepare(question))!
    answers.push(await prepared.rows(await prepared.ask()))
  }
  await open.close()
  return answers
}

test('Waymark, which merges persons itself, and statements over resolved ones answer each question with the same rows', async () => {
  const events = await writeEventFiles({ events: 1500, seed: 5 }, folder, () => undefined)
  expect(events.files.every((file) => existsSync(file))).toBe(true)
  const [ours, theirs] = [await answersOf('waymark', waymarkSql, events), await answersOf('duckdb', duckdbTyped, events)]
  for (const [i, question] of questions.entries())
    expect([question.name, firstDifference(ours[i]!, theirs[i]!, question)]).toEqual([question.name, null])
  expect(ours.filter((rows) => rows.length === 0)).toEqual([])
})

const question = questions[0]!
const rows: Rows = [
  ['2026-01-02', 3],
  ['2026-01-03', 0.1 + 0.2],
]

test.each<readonly [name: string, a: Rows, b: Rows]>([
  ['another order', rows, rows.toReversed()],
  ['a gap that one of them fills with 0', rows, [...rows, ['2026-01-04', 0]]],
  ['fractions that were added in another order', rows, [rows[0]!, ['2026-01-03', 0.3]]],
])('%s is no difference', (_, a, b) => {
  expect(firstDifference(a, b, question)).toBeNull()
})

test.each<readonly [name: string, a: Rows, b: Rows, difference: readonly [string, string]]>([
  [
    'another number',
    rows,
    [rows[0]!, ['2026-01-03', 0.31]],
    ['["2026-01-03",0.30000000000000004] (row 2 of 2)', '["2026-01-03",0.31] (row 2 of 2)'],
  ],
  ['a row less', rows, [rows[0]!], ['["2026-01-03",0.30000000000000004] (row 2 of 2)', 'no row (row 2 of 1)']],
  ['a text instead of a number', [['1', 1]], [[1, 1]], ['["1",1] (row 1 of 1)', '[1,1] (row 1 of 1)']],
])('%s is a difference, and both rows are shown', (_, a, b, difference) => {
  expect(firstDifference(a, b, question)).toEqual(difference)
})

test('a question says how far its numbers may be rounded', () => {
  const rounded = { ...question, tolerance: 0.0051 }
  expect(firstDifference([['2026-01-02', 33.33]], [['2026-01-02', 33.3333]], rounded)).toBeNull()
  expect(firstDifference([['2026-01-02', 33.33]], [['2026-01-02', 33.34]], rounded)).toBeNull()
  expect(firstDifference([['2026-01-02', 33.33]], [['2026-01-02', 33.6]], rounded)).not.toBeNull()
})

test('contenders that disagree are named, with the question and both answers; one without an answer is passed over', () => {
  const [first, second] = questions
  const all = [
    { name: 'A', answers: [rows, null] },
    { name: 'B', answers: [rows, [['2026-01-02', 1]]] },
    { name: 'C', answers: [rows, [['2026-01-02', 2]]] },
  ] satisfies Parameters<typeof disagreement>[0]
  expect(disagreement(all, [first!, second!])).toBe(
    `The contenders disagree about "${second!.name}": B answers ["2026-01-02",1] (row 1 of 1), C answers ["2026-01-02",2] (row 1 of 1).`,
  )
  expect(disagreement(all.slice(0, 2), [first!, second!])).toBeNull()
})
