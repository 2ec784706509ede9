import { isDeepStrictEqual } from 'node:util'
import { expectedAnswer, type Question, queryOf, resultsOf } from '../questions.ts'
import { actor, pick } from './actor.ts'
import { eventNames } from './capture.ts'

/** Asks something, and compares the answer with the naive one; repeats earlier questions, whose answers are kept. */
export const query = actor<Question>({
  weight: 10,
  draw: ({ draw, now }) => ({
    kind: pick(draw, ['total', 'persons', 'funnel', 'sql'] as const),
    event: pick(draw, eventNames),
    following: pick(draw, eventNames),
    road: pick(draw, ['core', 'sql', null] as const),
    isForced: draw() < 0.3,
    until: new Date(now).toISOString().slice(0, 10),
  }),
  async perform({ project }, question, model) {
    const answer = await project.answer(queryOf(question), question.isForced ? { refresh: true } : {})
    const [found, expected] = [resultsOf(question, answer), expectedAnswer(question, model)]
    if (!isDeepStrictEqual(found, expected))
      throw new WrongAnswer(`${JSON.stringify(question)}: expected ${JSON.stringify(expected)}, but got ${JSON.stringify(found)}`)
  },
  leaves: () => null,
})

export class WrongAnswer extends Error {}
