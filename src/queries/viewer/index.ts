import { InternalError, QueryError, WaymarkError } from '../../errors/errors.ts'
import { readAs, validationData } from '../../errors/validation.ts'
import { and } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { ViewerRules } from '../../language/plan/viewer.ts'
import { insideField } from '../actor-source.ts'
import { compileFilters } from '../filters/property-filters.ts'
import type { AnyQueryKind, QueryContext, QueryKind } from '../kind.ts'
import { kindsIn, viewerKinds } from './kinds.ts'
import { type ViewerQuery, viewerSchema } from './schema.ts'

// Another query as somebody sees it who may see some events only: a customer of the customer. The rules are part of the query, so whatever keeps, sends or
// compares queries keeps them apart by their viewers. The driver gives the rules to the planner (`language/plan/viewer.ts`) with the first statement.

const isForViewers: ReadonlySet<string> = new Set(viewerKinds)

/** What the planner is told. Each filter must say something: one that is not complete would let everything through. */
export function viewerRules({ filter, personProperties, mayJoin }: ViewerQuery, context: QueryContext): ViewerRules {
  const conditions = filter.map((one, i): Expr => {
    const condition = compileFilters([one], 'event', context, 'filter')
    if (condition.kind === 'literal')
      throw new QueryError('validation-failed', {
        message: `filter.${i} restricts nothing: it is not complete. A viewer needs filters that each name a property, an operator and a value.`,
        attr: `filter__${i}`,
      })
    return condition
  })
  return {
    condition: and(...conditions),
    context,
    personProperties: new Set(personProperties ?? []),
    mayJoin: mayJoin === true,
  }
}

export const viewerKind = (kinds: readonly AnyQueryKind[]): QueryKind<'ViewerQuery', typeof viewerSchema, object> => {
  const checked = (query: ViewerQuery, env: QueryContext) => {
    if (!env.viewer) throw new InternalError('The statements of a viewer have no rules')
    const { source } = query
    const closed = kindsIn(source).find((one) => !isForViewers.has(one))
    const kind = kinds.find((one) => one.kind === source.kind)
    if (closed !== undefined || !kind) {
      const what = `a query of the kind ${closed ?? source.kind}`
      throw new QueryError('not-for-viewers', { what, known: viewerKinds }, null, { attr: 'source__kind' })
    }
    const read = readAs(kind.schema, source)
    if ('misfit' in read) {
      const misfit = { ...read.misfit, path: ['source', ...read.misfit.path] }
      throw new WaymarkError('validation-failed', validationData(misfit, ['query', 'ViewerQuery']))
    }
    return { kind, parsed: read.data }
  }
  return {
    kind: 'ViewerQuery',
    isCached: true,
    schema: viewerSchema,
    *run(query, env) {
      const { kind, parsed } = checked(query, env)
      return yield* insideField('source', env, (inner) => kind.run(parsed, inner))
    },
    *rows(query, env) {
      const { kind, parsed } = checked(query, env)
      return kind.rows ? yield* insideField('source', env, (inner) => kind.rows!(parsed, inner)) : null
    },
  }
}
