import { afterAll, expect, test } from 'vitest'
import { ask, happen, resultsOf, roadsOf, worlds } from './shapes.ts'

// Every shape of an insight query on both roads: equal answers, while events, merges and deletions arrive, and with a budget that keeps few columns.

const opened = worlds()
afterAll(() => opened.close())
const opening = Promise.all([opened.open(), opened.open({ listMemory: 40_000 }), opened.open({ listMemory: 0 })])

test.each([0, 1, 2, 3])('both roads answer the same after %i further rounds of events and changes', async (round) => {
  const [listed, small, stated] = await opening
  if (round > 0) for (const { project } of [listed, small, stated]) await happen(project, round)
  for (const [name, query] of Object.entries(listed.shapes)) {
    const answer = await ask(listed.project, query)
    if (round > 0 && roadsOf(answer).startsWith('sql')) continue // answered by the same statements
    const expected = resultsOf(await ask(stated.project, query))
    expect([name, resultsOf(answer)]).toEqual([name, expected])
    if (round % 2 === 1) expect([name, resultsOf(await ask(small.project, query))]).toEqual([name, expected])
  }
})
