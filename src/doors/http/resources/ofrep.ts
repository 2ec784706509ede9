import { createHash } from 'node:crypto'
import * as z from 'zod'
import { isObject } from '../../../lib/is-object.ts'
import { jsonObject } from '../../../service/accounts/fields.ts'
import type { ProjectRecord } from '../../../service/accounts/records.ts'
import { remoteValue } from '../flag-values.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

// OpenFeature's protocol for remote evaluation: providers in any language ask here, with the project key that clients send events with.

const contextInput = z.object({
  context: jsonObject('body').optional().meta({
    description: '`targetingKey`: the distinct id; `groups`: keys by the names of their types; all else are properties of the person',
  }),
})

/** Refusals have a form of their own. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
  ) {
    super()
  }
}

const projectOf = async ({ app, request }: Visit): Promise<ProjectRecord> => {
  const [, bearer] = /^bearer\s+(\S+)$/i.exec(request.headers.get('authorization')?.trim() ?? '') ?? []
  const key = bearer ?? request.headers.get('x-api-key') ?? ''
  const project = key === '' ? undefined : await app.accounts.projects.byToken(key)
  if (!project)
    throw new Refused(401, {
      errorDetails: 'The project key must come as `Authorization: Bearer phc_…` or as `X-API-Key`. Settings → Project shows it.',
    })
  return project
}

const questionIn = ({ body }: Visit, key: string | null) => {
  const fail = (errorCode: string, errorDetails: string) => new Refused(400, { ...(key !== null && { key }), errorCode, errorDetails })
  const { context = {} } = (isObject(body) ? body : {}) as { context?: unknown }
  if (!isObject(context)) throw fail('INVALID_CONTEXT', 'The context must be an object.')
  const { targetingKey, groups, ...person } = context
  if (typeof targetingKey !== 'string' || targetingKey === '')
    throw fail('TARGETING_KEY_MISSING', 'The context needs a targetingKey: the distinct id of the person.')
  return { distinctId: targetingKey, person, groups: isObject(groups) ? groups : {} }
}

const answered = async (work: () => Promise<Reply>): Promise<Reply> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refused) return new Reply(error.status, error.body)
    throw error
  }
}

export const ofrep = defineResource({
  name: 'ofrep',
  summary: "Feature flags by OpenFeature's protocol for remote evaluation, with the project key ([flags.md](flags.md#openfeature))",
  path: '/ofrep/v1/evaluate/flags',
  reach: 'open',
  object: null,
  limits: [],
  rows: (row) => [
    row({
      method: 'POST',
      name: 'all',
      summary: 'The values of all active flags; with `If-None-Match`, 304 while they are the same',
      body: contextInput,
      isFromElsewhere: true,
      handle: (visit) =>
        answered(async () => {
          const project = await projectOf(visit)
          const { values } = await visit.app.flags.values(project, questionIn(visit, null))
          const body = { flags: values.map(remoteValue) }
          const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 27)}"`
          return visit.request.headers.get('if-none-match') === etag ? new Reply(304, undefined, { etag }) : new Reply(200, body, { etag })
        }),
    }),
    row({
      method: 'POST',
      path: ':key',
      name: 'one',
      summary: 'The value of one flag',
      body: contextInput,
      isFromElsewhere: true,
      handle: (visit) =>
        answered(async () => {
          const project = await projectOf(visit)
          const key = visit.params.key!
          const { values, hasErrors } = await visit.app.flags.values(project, { ...questionIn(visit, key), only: [key] })
          const [value] = values
          if (value) return new Reply(200, remoteValue(value))
          if (hasErrors)
            return new Reply(500, { key, errorCode: 'GENERAL', errorDetails: 'What is stored of the person could not be read.' })
          return new Reply(404, { key, errorCode: 'FLAG_NOT_FOUND', errorDetails: `There is no active flag ${JSON.stringify(key)}.` })
        }),
    }),
  ],
})
