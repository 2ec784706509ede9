import * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { readAs, validationData } from '../../errors/validation.ts'
import { type AskedQuery, kindOf } from '../../queries/asked-query.ts'
import type { AnyQueryKind } from '../../queries/kind.ts'
import { channelRuleSchema, roads } from '../../queries/schemas.ts'
import { viewerSchema } from '../../queries/viewer/schema.ts'
import type { StatementSettings } from './query-context.ts'

/** The kind of a request, and the request as its schema reads it. */
export function checkRequest(query: AskedQuery): { kind: AnyQueryKind; parsed: unknown } {
  const kind = kindOf(query)
  const read = readAs(kind.schema, query)
  if ('misfit' in read) throw new WaymarkError('validation-failed', validationData(read.misfit, ['query', query.kind]))
  return { kind, parsed: read.data }
}

/** The settings in the modifiers of a request. */
export function settingsOf(query: unknown): StatementSettings {
  const { kind, source } = query as { kind?: unknown; source?: unknown }
  if (kind === 'ViewerQuery') {
    const viewer = viewerSchema.safeParse(query)
    // One inside another one is refused by its kind.
    return viewer.success ? { ...settingsOf(source ?? {}), viewer: viewer.data } : {}
  }
  const modifiers = (query as { modifiers?: unknown }).modifiers
  if (typeof modifiers !== 'object' || modifiers === null) return {}
  const { convertToProjectTimezone, bounceRateDurationSeconds, customChannelTypeRules, road } = modifiers as Record<string, unknown>
  const rules = z.array(channelRuleSchema).safeParse(customChannelTypeRules)
  return {
    isUtc: convertToProjectTimezone === false,
    road: roads.find((one) => one === road),
    sessions: {
      bounceSeconds: typeof bounceRateDurationSeconds === 'number' ? bounceRateDurationSeconds : undefined,
      channelRules: rules.success ? rules.data : undefined,
    },
  }
}
