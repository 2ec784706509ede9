import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { store, type Way, wrongAnswers } from '../questions/ask.ts'
import { countedAnswers, fewEvents, manyEvents } from '../questions/events.ts'
import { questions } from '../questions/questions.ts'

// docs/first-questions.md: twenty questions, asked in the library, over HTTP and on the command line.

const asked = async (events: readonly (typeof fewEvents)[number][], answers: Parameters<typeof wrongAnswers>[1], by?: readonly Way[]) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-questions-'))
  try {
    await store(dataDir, events)
    return await wrongAnswers(dataDir, answers, by)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

test('there are twenty of them, and what is counted is what was worked out by hand', () => {
  expect(questions().map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  expect(countedAnswers(fewEvents)).toEqual(questions().map(({ answers }) => answers))
})

test('the answers on the page', async () => {
  expect(
    await asked(
      fewEvents,
      questions().map(({ answers }) => answers),
    ),
  ).toEqual([])
})

test('the answers for 3,000 events are those that are counted one by one', async () => {
  const events = [...manyEvents(3_000)]
  expect(await asked(events, countedAnswers(events), ['library', 'HTTP'])).toEqual([])
})
