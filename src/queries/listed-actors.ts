import { alias, call, field, literal, select } from '../ast/build.ts'
import type { Expr, Query } from '../ast/nodes.ts'
import { noSpan } from '../errors/span.ts'

const apart = '\u0001'

/**
 * A list of actors found by a fold, as a statement with a column `actor` and those of `columns`. Each column travels as one text that the engine cuts
 * apart, so that a million people are a few values and not a million.
 */
export function listedActors(actors: readonly (number | string)[], columns: Readonly<Record<string, readonly string[]>> = {}): Query {
  const texts = { actor_text: actors.map(String), ...columns }
  const lists = Object.entries(texts).map(([name, values]) => alias(call('splitByChar', literal(apart), literal(values.join(apart))), name))
  const isNumber = actors.every((actor) => typeof actor === 'number')
  const actor: Expr = isNumber ? call('toInt', field('actor_text')) : field('actor_text')
  return select({
    columns: [alias(actor, 'actor'), ...Object.keys(columns).map((name) => field(name))],
    arrayJoin: { kind: 'arrayJoin', left: false, items: lists, span: noSpan },
    where: actors.length === 0 ? literal(false) : null,
  })
}
