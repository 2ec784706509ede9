import { isDeepStrictEqual } from 'node:util'
import { QueryError } from '../../../src/errors/errors.ts'
import { expectedAnswer, type Question, queryOf, questionKinds, resultsOf, sourcesOf } from '../questions.ts'
import type { World } from '../world.ts'
import { actor, pick } from './actor.ts'
import { eventNames } from './capture.ts'

/** Asks something, and compares the answer with the naive one; repeats earlier questions, whose answers are kept. */
export const query = actor<Question>({
  weight: 10,
  draw: ({ draw, now }) => ({
    kind: pick(draw, questionKinds),
    event: draw() < 0.6 ? eventNames[0]! : pick(draw, eventNames),
    following: pick(draw, eventNames),
    road: pick(draw, ['core', 'sql', null] as const),
    isForced: draw() < 0.3,
    times: draw() < 0.5 ? 1 : 2 + Math.floor(draw() * 2),
    until: new Date(now).toISOString().slice(0, 10),
  }),
  async perform(world, question, model, meanwhile) {
    for (let time = 0; time < (question.times ?? 1); time++) {
      const answer = await answerOf(world, question, question.isForced || time > 0)
      for (const source of sourcesOf(answer)) world.meets(source)
      const found = resultsOf(question, answer)
      const expected = expectedAnswer(question, model)
      if (isDeepStrictEqual(found, expected)) continue
      // What others do meanwhile may count, or not yet.
      if (meanwhile().some((one) => isDeepStrictEqual(found, expectedAnswer(question, one)))) continue
      throw new WrongAnswer(`${JSON.stringify(question)}: expected ${JSON.stringify(expected)}, but got ${JSON.stringify(found)}`)
    }
  },
  leaves: () => null,
})

/** Lists that do not fit, even into files, give way to statements. */
async function answerOf(world: World, question: Question, isForced: boolean): Promise<object> {
  const options = isForced ? { refresh: true } : {}
  try {
    return await world.project.answer(queryOf(question), options)
  } catch (error) {
    if (!(error instanceof QueryError) || error.attr !== 'modifiers__road' || !world.hasFewLists) throw error
    world.meets('lists that do not fit')
    return world.project.answer(queryOf({ ...question, road: null }), options)
  }
}

class WrongAnswer extends Error {}
