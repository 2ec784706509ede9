import { WaymarkError } from '../errors/errors.ts'
import { misfitOf } from '../queries/fields.ts'
import type { QueryKind } from '../queries/kind.ts'
import { queryKinds } from '../queries/registry.ts'
import type { StatementSettings } from './query-context.ts'

/** The kind of a request, and the request as its schema reads it. */
export function checkRequest(query: unknown): { kind: QueryKind<unknown, object>; parsed: unknown } {
  const kind = kindOf(query)
  const parsed = kind.schema.safeParse(query)
  if (parsed.success) return { kind, parsed: parsed.data }
  const { path, message } = misfitOf(parsed.error)
  throw new WaymarkError('validation-failed', { message, attr: path.join('__') || null }, { cause: parsed.error })
}

function kindOf(query: unknown): QueryKind<unknown, object> {
  const known = Object.keys(queryKinds)
  const name = typeof query === 'object' && query !== null && 'kind' in query ? (query as { kind: unknown }).kind : undefined
  if (typeof name !== 'string') {
    const message = `A query needs a kind, as in { kind: 'SqlLikeQuery', query: 'select 1' }. Known kinds: ${known.join(', ')}.`
    throw new WaymarkError('validation-failed', { message, attr: 'kind' })
  }
  const kind = Object.hasOwn(queryKinds, name) ? queryKinds[name] : undefined
  if (!kind) throw new WaymarkError('unknown-query-kind', { kind: name, known }, { attr: 'kind' })
  return kind
}

/** What the modifiers of a request choose. */
export function settingsOf(query: unknown): StatementSettings {
  const modifiers = (query as { modifiers?: unknown }).modifiers
  if (typeof modifiers !== 'object' || modifiers === null) return {}
  const { convertToProjectTimezone, bounceRateDurationSeconds } = modifiers as Record<string, unknown>
  return {
    isUtc: convertToProjectTimezone === false,
    bounceSeconds: typeof bounceRateDurationSeconds === 'number' ? bounceRateDurationSeconds : undefined,
  }
}
