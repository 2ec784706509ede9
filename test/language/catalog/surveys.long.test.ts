import { expect, test } from 'vitest'
import { open } from '../../../src/index.ts'

const sent = (minute: number, properties: object) => ({
  event: 'survey sent',
  distinct_id: `u${minute}`,
  timestamp: `2026-01-05T10:0${minute}:00Z`,
  properties: { $survey_id: 's1', ...properties },
})

async function answers(expression: string, where = '1') {
  await using waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'Surveys' })
  await project.ingest({
    batch: [
      sent(1, { $survey_response: 'by number', $survey_response_1: 'second' }),
      sent(2, { $survey_response: 'old', $survey_response_q7: 'by id', $survey_questions: [{ id: 'q7' }, { id: 'q8' }] }),
      sent(3, { $survey_response: ['a', 'b'], $survey_submission_id: 'x' }),
      sent(4, { $survey_response_q8: '', $survey_response_1: 'late', $survey_submission_id: 'x' }),
      sent(5, { $survey_id: 's2', $survey_response_q7: ['c'] }),
    ],
  })
  const query = `select ${expression} from events where ${where} order by timestamp`
  return (await project.query({ kind: 'HogQLQuery', query })).results.flat()
}

test.each([
  ['by its number, or by the id that its number has', 'getSurveyResponse(0)', ['by number', 'by id', '["a","b"]', null, null]],
  ['by another number', 'getSurveyResponse(1)', ['second', null, null, 'late', null]],
  ['by its id', "getSurveyResponse(0, 'q7')", ['by number', 'by id', '["a","b"]', null, '["c"]']],
  ['with several choices', "length(getSurveyResponse(0, 'q7', true))", [0, 0, 2, 0, 1]],
])('the answer to a question %s', async (_, expression, expected) => {
  expect(await answers(expression)).toEqual(expected)
})

test.each([
  ['the last event of each submission', "uniqueSurveySubmissionsFilter('s1')", ['u1', 'u2', 'u4']],
  ['between two times', "uniqueSurveySubmissionsFilter('s1', '2026-01-05 10:02:00', '2026-01-05 10:03:30')", ['u2', 'u3']],
])('%s', async (_, where, expected) => {
  expect(await answers('distinct_id', where)).toEqual(expected)
})

test.each([
  'getSurveyResponse(event)',
  'getSurveyResponse(-1)',
  "getSurveyResponse('x')",
  'uniqueSurveySubmissionsFilter(event)',
  'getSurveyResponse()',
])('%s is refused', async (expression) => {
  await expect(answers(expression)).rejects.toMatchObject({ name: 'QueryError' })
})

test.each(['-1', '1.5', '1000', '1e300', "'first'"])('%s is not the number of a question', async (number) => {
  await expect(answers(`getSurveyResponse(${number})`)).rejects.toMatchObject({
    detail: expect.stringMatching(/takes the number of the question, a whole number from 0 to 999, not /),
    attr: null,
  })
})
