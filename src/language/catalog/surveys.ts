import { QueryError } from '../../errors/errors.ts'
import { alias, and, call, equals, field, groupBy, inQuery, literal, select, table } from '../ast/build.ts'
import type { Expr } from '../ast/nodes.ts'
import type { Expansion } from './expansion.ts'

// Answers to surveys, as client libraries send them: `$survey_response_<question's id>`, or by the question's number `$survey_response`,
// `$survey_response_1`, … in older ones.

const properties = field('properties')

function constantOf(arg: Expr | undefined, name: string, what: string): string | number | boolean | null {
  if (arg?.kind !== 'literal') throw new QueryError('wrong-type', { message: `'${name}' takes ${what} as a constant` }, arg?.span)
  return typeof arg.value === 'bigint' ? Number(arg.value) : arg.value
}

const lastQuestion = 999

function response(args: readonly Expr[]): Expr {
  const name = 'getSurveyResponse'
  const given = constantOf(args[0], name, 'the number of the question')
  const number = Number(given)
  if (!Number.isInteger(number) || number < 0 || number > lastQuestion) {
    const message = `'${name}' takes the number of the question, a whole number from 0 to ${lastQuestion}, not ${JSON.stringify(given)}`
    throw new QueryError('wrong-type', { message }, args[0]!.span)
  }
  const id = args[1] ? constantOf(args[1], name, 'the id of the question') : null
  const isList = args[2] ? constantOf(args[2], name, 'true for several choices') : false
  const questions = call('JSONExtractArrayRaw', properties, literal('$survey_questions'))
  const idOfNumber = call('JSONExtractString', call('arrayElement', questions, literal(number + 1)), literal('id'))
  const byId = id ? literal(`$survey_response_${id}`) : call('concat', literal('$survey_response_'), idOfNumber)
  const byNumber = literal(number === 0 ? '$survey_response' : `$survey_response_${number}`)
  const list = (key: Expr) => call('JSONExtractArrayRaw', properties, key)
  if (isList) return call('if', call('greater', call('length', list(byId)), literal(0)), list(byId), list(byNumber))
  const text = (key: Expr) => call('nullIf', call('JSONExtractString', properties, key), literal(''))
  return call('coalesce', text(byId), text(byNumber))
}

/** A survey of several pages sends an event for each: only the last one of a submission counts. */
function isLastOfSubmission(args: readonly Expr[]): Expr {
  const name = 'uniqueSurveySubmissionsFilter'
  const survey = String(constantOf(args[0], name, 'the id of the survey'))
  const bound = (arg: Expr | undefined, how: string, what: string) => {
    if (!arg) return []
    constantOf(arg, name, what)
    return [call(how, field('timestamp'), arg)]
  }
  const submission = call('ifNull', field('properties', '$survey_submission_id'), literal(''))
  const last = select({
    columns: [alias(call('argMax', field('uuid'), field('timestamp')), 'last_uuid')],
    from: table('events'),
    where: and(
      equals(field('event'), literal('survey sent')),
      equals(field('properties', '$survey_id'), literal(survey)),
      ...bound(args[1], 'greaterOrEquals', 'the first time'),
      ...bound(args[2], 'lessOrEquals', 'the last time'),
    ),
    groupBy: groupBy(call('if', equals(submission, literal('')), call('toString', field('uuid')), submission)),
  })
  return inQuery(field('uuid'), last)
}

export const surveyFunctions: Readonly<Record<string, Expansion>> = {
  getSurveyResponse: { args: [1, 3], expand: response },
  uniqueSurveySubmissionsFilter: { args: [1, 3], expand: isLastOfSubmission },
}
