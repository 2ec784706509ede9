import { isObject } from '../../../lib/is-object.ts'
import type { FlagQuestion } from '../../../service/flags/open-flags.ts'
import { type CaptureRequest, decodeBody, parseJson } from './body.ts'
import { CaptureRefusal, unknownProject } from './refusal.ts'

/** A request for feature flags: project and user, in the body or the URL. */
export interface FlagsRequest {
  readonly token: string
  readonly distinctId: string
  /** All else that it says of who is asked for. */
  readonly asked: Omit<FlagQuestion, 'distinctId'>
  /** No value is wanted. */
  readonly isOfNone: boolean
  /** Why the body is invalid. */
  readonly malformed: string | null
}

const textOf = (...values: readonly unknown[]): string => {
  const found = values.find((value) => value !== undefined && value !== null && value !== '')
  return found === undefined ? '' : String(found)
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})
const keysOf = (value: unknown): readonly string[] | null => (Array.isArray(value) && value.length > 0 ? value.map(String) : null)

export async function readFlagsRequest(capture: CaptureRequest): Promise<FlagsRequest> {
  const { query } = capture
  let [fields, form]: [Readonly<Record<string, unknown>>, URLSearchParams] = [{}, new URLSearchParams()]
  let malformed: string | null = null
  try {
    const decoded = await decodeBody(capture)
    form = decoded.form
    const value = parseJson(decoded.json)
    if (isObject(value)) fields = value
    else malformed = 'The body is not a JSON object.'
  } catch (error) {
    if (!(error instanceof CaptureRefusal)) throw error
    if (error.reason !== 'no-data') malformed = error.detail
  }
  return {
    token: textOf(
      fields.token,
      fields.api_key,
      fields.$token,
      form.get('token'),
      form.get('api_key'),
      query.get('token'),
      query.get('api_key'),
    ),
    asked: {
      groups: objectOf(fields.groups ?? fields.$groups),
      person: objectOf(fields.person_properties),
      groupProperties: objectOf(fields.group_properties),
      only: keysOf(fields.flag_keys_to_evaluate),
    },
    isOfNone: fields.disable_flags === true,
    distinctId: textOf(fields.distinct_id, fields.$distinct_id, form.get('distinct_id'), query.get('distinct_id')),
    malformed,
  }
}

type IsProject = (token: string) => Promise<boolean>

/** Old clients get an error for an invalid request. */
export async function mustBeWhole({ token, distinctId, malformed }: FlagsRequest, isProject: IsProject): Promise<void> {
  if (malformed !== null) throw new CaptureRefusal('malformed-data', malformed)
  if (token === '' || !(await isProject(token))) throw unknownProject(token)
  if (distinctId === '')
    throw new CaptureRefusal('missing-distinct-id', 'The body needs a "distinct_id": flags are evaluated for one person.')
}

/** Newer clients always get an answer, unless the project is unknown. */
export async function mustBeKnown({ token }: FlagsRequest, isProject: IsProject): Promise<void> {
  if (token !== '' && !(await isProject(token))) throw unknownProject(token)
}
