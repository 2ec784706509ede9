import { QueryError } from '../../errors/errors.ts'
import type { AnyActorSource } from '../actor-source.ts'

/** Finds who knows the actors of a source, and has its schema check the point. */
export function checkSource(
  source: { readonly kind: string },
  sources: readonly AnyActorSource[],
): { known: AnyActorSource; point: unknown } {
  const inner = (source as { source?: { kind?: unknown } }).source?.kind
  const known = sources.find((s) => s.wrapper === source.kind && s.kind === inner)
  if (!known) {
    const wrappers = [...new Set(sources.map((s) => s.wrapper))]
    if (!sources.some((s) => s.wrapper === source.kind))
      throw new QueryError('validation-failed', {
        message: `${JSON.stringify(source.kind)} is no source of actors. Known sources: ${[...wrappers, 'HogQLQuery'].join(', ')}.`,
        attr: 'source__kind',
      })
    const kinds = sources.filter((s) => s.wrapper === source.kind).map((s) => s.kind)
    throw new QueryError('validation-failed', {
      message: `${source.kind} takes ${kinds.join(', ')}, found ${JSON.stringify(inner ?? null)}.`,
      attr: 'source__source__kind',
    })
  }
  const checked = known.schema.safeParse(source)
  if (!checked.success) {
    const issue = checked.error.issues[0]!
    throw new QueryError('validation-failed', { message: issue.message, attr: ['source', ...issue.path].join('__') })
  }
  return { known, point: checked.data }
}
