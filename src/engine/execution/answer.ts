import { queryAsked } from '../../queries/asked-query.ts'
import { warningsAbout } from './answer-warnings.ts'
import { agesOf } from './attached-tables.ts'
import type { AnswerOptions } from './checkpoint.ts'
import { driverOf } from './driver.ts'
import { explain } from './explain.ts'
import type { QueryProject } from './query-context.ts'
import { checkRequest, settingsOf } from './request.ts'
import { bytesBetween } from './statements.ts'

/** Answers a query of any kind with the JSON of the HTTP endpoint. */
export async function answerQuery(given: unknown, project: QueryProject, options: AnswerOptions = {}): Promise<object> {
  const started = performance.now()
  const query = queryAsked(given)
  const { kind, parsed } = checkRequest(query)
  const facts = await project.facts()
  const mostBytes = kind.rows ? project.limits.answerBytes : bytesBetween(project)
  const settings = { ...settingsOf(query), showsJson: true }
  const { context, asked, folds, complete } = driverOf(project, facts, { ...options, mostBytes }, query, settings)
  const answer = await complete(kind.run(parsed, context))
  const seconds = (since: number) => (performance.now() - since) / 1000
  const warnings = await warningsAbout(
    query,
    asked.map(({ compiled }) => compiled),
    facts,
    project,
    folds,
  )
  const attached = agesOf(asked.map(({ compiled }) => compiled))
  return {
    ...answer,
    ...(warnings.length ? { warnings } : {}),
    ...(attached.length ? { attached } : {}),
    timings: [...folds.filter(({ road }) => road === 'core'), ...asked]
      .map(({ label, seconds: t }) => ({ k: `./${label}`, t }))
      .concat({ k: '.', t: seconds(started) }),
    ...((query as { explain?: unknown }).explain === true
      ? { explain: [...folds.map(({ seconds: _, names: __, columns: ___, ...fold }) => fold), ...asked.map(explain)] }
      : {}),
  }
}
