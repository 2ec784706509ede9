import type * as z from 'zod'
import { QueryError } from '../errors/errors.ts'
import { readAs, validationData } from '../errors/validation.ts'
import type { Query } from '../language/ast/nodes.ts'
import type { Answer, Ask, QueryContext } from './kind.ts'

// Kinds whose numbers count persons list them here. ActorsQuery knows the kinds only through this.

export type Asking<R> = Generator<Ask, R, Answer>

/** The actors of a point of a chart. */
export interface ActorList {
  /** Columns `actor` (a person's number, or a group's key) and what `columns` names. One row per actor. */
  readonly query: Query
  /** The index of the group type when actors are groups. */
  readonly group: number | null
  readonly columns: readonly string[]
}

/** The options for selecting a point: InsightActorsQueryOptions. */
export interface ActorOptions {
  readonly day?: readonly { readonly label: string; readonly value: string }[] | null
  readonly series?: readonly { readonly label: string; readonly value: number }[] | null
  readonly breakdown?: readonly Choice[] | null
  readonly breakdowns?: readonly { readonly values: readonly Choice[] }[] | null
  readonly compare?: readonly Choice[] | null
  readonly interval?: readonly { readonly label: string; readonly value: number }[] | null
  readonly status?: readonly Choice[] | null
}
export interface Choice {
  readonly label: string
  readonly value: string | number
}

export type WrapperKind = 'InsightActorsQuery' | 'FunnelsActorsQuery' | 'StickinessActorsQuery' | 'FunnelCorrelationActorsQuery'

/** `S` checks the wrapping node: its `source` is the chart's query, its other fields name the point. */
export interface ActorSource<S extends z.ZodType> {
  readonly wrapper: WrapperKind
  readonly kind: string
  readonly schema: S
  /** Columns that `mayRead` denies can be left out of the query. */
  actors(point: z.output<S>, env: QueryContext, mayRead: (column: string) => boolean): Asking<ActorList>
  options?(point: z.output<S>, env: QueryContext): Asking<ActorOptions>
}

/** Sources of all kinds in one list; each receives only what its own schema has validated. */
export type AnyActorSource = ActorSource<z.ZodType>

/** The path of the chart's query in the request. */
const chartPrefix = 'source__source__'

/** The chart's query is two levels down in the request, and so are the paths of its errors. */
export function* insideSource<R>(env: QueryContext, ask: (env: QueryContext) => Asking<R>): Asking<R> {
  try {
    return yield* ask({ ...env, fieldPrefix: chartPrefix })
  } catch (error) {
    if (!(error instanceof QueryError) || !error.attr || error.attr.startsWith('source__')) throw error
    throw error.with({ attr: `${chartPrefix}${error.attr}` })
  }
}

/** The same for a part of a query: a query in a field of its own, or a condition. */
export function* insideField<R>(field: string, env: QueryContext, ask: (env: QueryContext) => Asking<R>): Asking<R> {
  const inner = innerEnv(field, env)
  try {
    return yield* ask(inner)
  } catch (error) {
    throw inField(error, inner)
  }
}
export function readInField<R>(field: string, env: QueryContext, read: (env: QueryContext) => R): R {
  const inner = innerEnv(field, env)
  try {
    return read(inner)
  } catch (error) {
    throw inField(error, inner)
  }
}
const innerEnv = (field: string, env: QueryContext): QueryContext => ({ ...env, fieldPrefix: `${env.fieldPrefix ?? ''}${field}__` })
const inField = (error: unknown, { fieldPrefix }: QueryContext): unknown =>
  error instanceof QueryError && error.attr && !error.attr.startsWith(fieldPrefix!)
    ? error.with({ attr: `${fieldPrefix}${error.attr}` })
    : error

/** Finds the kind that lists the actors of a source, and validates the point with its schema. */
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
        message: `${JSON.stringify(source.kind)} is not a source of actors. Known sources: ${[...wrappers, 'HogQLQuery'].join(', ')}.`,
        attr: 'source__kind',
      })
    const kinds = sources.filter((s) => s.wrapper === source.kind).map((s) => s.kind)
    throw new QueryError('validation-failed', {
      message: `${source.kind} takes ${kinds.join(', ')}, found ${JSON.stringify(inner ?? null)}.`,
      attr: 'source__source__kind',
    })
  }
  const read = readAs(known.schema, source)
  if ('misfit' in read)
    throw new QueryError('validation-failed', validationData({ ...read.misfit, path: ['source', ...read.misfit.path] }, ['query']))
  return { known, point: read.data }
}
