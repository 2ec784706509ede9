import { z } from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { unknownField } from '../../errors/unknown-field.ts'
import { readAs, validationData } from '../../errors/validation.ts'
import { type AskedRequest, longestQueryId } from '../../execution/asking/asking.ts'
import { refreshMode, refreshModes } from '../../execution/asking/refresh.ts'
import { excerpt } from '../../lib/excerpt.ts'
import { isObject } from '../../lib/is-object.ts'
import { queryAsked } from '../../queries/asked-query.ts'
import { withOverrides } from './overrides.ts'

// The body of the query endpoint. Unlike record routes it is strict, and reports errors in the format that PostHog clients parse.

export type QueryRequest = AskedRequest

const object = z.record(z.string(), z.unknown())
const isUnknown = (issue: { readonly code?: string; readonly keys?: readonly string[] }) =>
  issue.code === 'unrecognized_keys' ? unknownField(issue.keys![0]!, Object.keys(shape)) : undefined

const shape = {
  query: object.meta({ description: 'A query object with its `kind`' }),
  async: z.boolean().nullish(),
  client_query_id: z.string().max(longestQueryId).nullish(),
  refresh: z.union([z.boolean(), z.enum(refreshModes)]).nullish(),
  filters_override: object
    .nullish()
    .meta({ description: '`date_from`, `date_to` and `properties` that override those of an insight, or the `filters` of a statement' }),
  variables_override: object.nullish().meta({ description: 'Variables of a statement by id; they override its own' }),
  name: z.string().max(128).nullish(),
}
export const queryRequestSchema = z.strictObject(shape, { error: isUnknown })
/** The query itself is checked by its kind. Creating a schema costs more than using it. */
const besideSchema = z.strictObject({ ...shape, query: z.unknown() }, { error: isUnknown })

/** `attr` is the field of the query that caused the error, as in errors of the library. */
const misfit = (message: string, attr: string | null, path: readonly string[]) =>
  new WaymarkError('validation-failed', { message, attr, place: path })

export const readQueryRequest = (body: unknown): QueryRequest => {
  if (!isObject(body)) throw misfit('The body must be an object with a query.', null, [])
  const { personal_api_key: _, ...given } = body // read where the caller is known by it
  if (typeof given.kind === 'string' && !isObject(given.query))
    throw misfit(`Put the query in the field "query": {"query": {"kind": ${JSON.stringify(excerpt(given.kind))}, …}}`, 'query', ['query'])
  const read = readAs(besideSchema, given)
  if ('misfit' in read) throw new WaymarkError('validation-failed', validationData(read.misfit, []))
  const { async: isAsync, client_query_id, refresh, filters_override: filters, variables_override: variables } = read.data
  const query = queryAsked(given.query)
  const laid = withOverrides(query, { filters, variables })
  if (typeof laid === 'string') throw misfit(`${query.kind} takes no ${laid}.`, laid, [laid])
  return {
    query: laid,
    refresh: refreshMode(refresh, isAsync === true),
    wantsStatus: isAsync === true,
    client_query_id: client_query_id || null,
  }
}
