import * as z from 'zod'
import { type DownloadFormat, downloadFormats } from '../../../engine/execution/download.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { unknownField } from '../../../errors/unknown-field.ts'
import { readAs, validationData } from '../../../errors/validation.ts'
import { isObject } from '../../../lib/is-object.ts'
import { excerpt } from '../../../lib/text/excerpt.ts'
import { withinJson } from '../../../limits/bounds.ts'
import { queryAsked } from '../../../queries/asked-query.ts'
import { withOverrides } from '../../../queries/filters/overrides.ts'
import { type AskedRequest, longestQueryId } from '../../../service/asking/asking.ts'
import { refreshMode, refreshModes } from '../../../service/asking/refresh.ts'

// The body of the query endpoint. Unlike record routes it is strict, and reports errors in the format that PostHog clients parse.

export type QueryRequest = AskedRequest

export interface DownloadRequest extends Pick<AskedRequest, 'query' | 'client_query_id'> {
  readonly format: DownloadFormat | null
}

/** Read and not kept. */
const object = withinJson(z.record(z.string(), z.unknown()), 'body')

const ofQuery = {
  query: object.meta({ description: 'A query object with its `kind`', $ref: '#/components/schemas/Query' }),
  client_query_id: z.string().max(longestQueryId).nullish(),
  filters_override: object
    .nullish()
    .meta({ description: '`date_from`, `date_to` and `properties` that override those of an insight, or the `filters` of a statement' }),
  variables_override: object.nullish().meta({ description: 'Variables of a statement by id; they override its own' }),
  name: z.string().max(128).nullish(),
  limit_context: z.enum(['posthog_ai']).nullish().meta({ description: "Who asks, for PostHog's limits of rows; it changes nothing here" }),
}
const ofAnswer = { ...ofQuery, async: z.boolean().nullish(), refresh: z.union([z.boolean(), z.enum(refreshModes)]).nullish() }
const ofDownload = {
  ...ofQuery,
  format: z.enum(downloadFormats).nullish().meta({ description: 'Default: what `Accept` names, else `csv`' }),
}

const strict = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownField((issue as { keys: string[] }).keys[0]!, Object.keys(shape)) : undefined,
  })
/** The query itself is checked by its kind. Creating a schema costs more than using it. */
const beside = <S extends z.ZodRawShape>(shape: S) => strict({ ...shape, query: z.unknown() })
export const queryRequestSchema = strict(ofAnswer)
export const downloadRequestSchema = strict(ofDownload)
const besideAnswer = beside(ofAnswer)
const besideDownload = beside(ofDownload)

/** `attr` is the field of the query that caused the error, as in errors of the library. */
const misfit = (message: string, attr: string | null, path: readonly string[]) =>
  new WaymarkError('validation-failed', { message, attr, place: path })

interface Overriding {
  readonly query?: unknown
  readonly filters_override?: Readonly<Record<string, unknown>> | null | undefined
  readonly variables_override?: Readonly<Record<string, unknown>> | null | undefined
}

/** The body, and its query with what overrides parts of it. */
function read<T extends Overriding>(body: unknown, schema: z.ZodType<T>): { readonly data: T; readonly query: AskedRequest['query'] } {
  if (!isObject(body)) throw misfit('The body must be an object with a query.', null, [])
  const { personal_api_key: _, ...given } = body // read where the caller is known by it
  if (typeof given.kind === 'string' && !isObject(given.query))
    throw misfit(`Put the query in the field "query": {"query": {"kind": ${JSON.stringify(excerpt(given.kind))}, …}}`, 'query', ['query'])
  const found = readAs(schema, given)
  if ('misfit' in found) throw new WaymarkError('validation-failed', validationData(found.misfit, []))
  const { filters_override: filters, variables_override: variables } = found.data
  const query = queryAsked(given.query)
  const laid = withOverrides(query, { filters, variables })
  if (typeof laid === 'string') throw misfit(`${query.kind} takes no ${laid}.`, laid, [laid])
  return { data: found.data, query: laid }
}

export const readQueryRequest = (body: unknown): QueryRequest => {
  const { query, data } = read(body, besideAnswer)
  const { async: isAsync, client_query_id, refresh } = data
  return {
    query,
    refresh: refreshMode(refresh, isAsync === true),
    wantsStatus: isAsync === true,
    client_query_id: client_query_id || null,
  }
}

const objectsOfForm = ['query', 'filters_override', 'variables_override'] as const

/** A form, which a browser sends by itself, has objects as text. */
const withObjectsOfForm = (body: unknown): unknown => {
  if (!isObject(body)) return body
  const texts = objectsOfForm.filter((name) => typeof body[name] === 'string')
  return { ...body, ...Object.fromEntries(texts.map((name) => [name, objectOfForm(name, body[name] as string)])) }
}
const objectOfForm = (name: (typeof objectsOfForm)[number], text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    const what = name === 'query' ? 'an object with a `kind`' : 'an object'
    throw misfit(`\`${name}\` must be ${what}; a form sends it as JSON text.`, name, [name])
  }
}

export const readDownloadRequest = (body: unknown): DownloadRequest => {
  const { query, data } = read(withObjectsOfForm(body), besideDownload)
  return { query, client_query_id: data.client_query_id || null, format: data.format ?? null }
}
