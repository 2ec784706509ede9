import { alias, and, call, equals, field, from, isIn, join, literal, not, select } from '../../language/ast/build.ts'
import type { Select } from '../../language/ast/nodes.ts'
import { at, eventsTable, since, until } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import type { PathsPlan } from './plan.ts'

/** The text of a gap between the first and the last items of a path. */
export const skippedItem = '...'

/** Events with an item. */
export function visits({ query, range, actor, events, item, excluded, spans }: PathsPlan): Select {
  const found = select({
    columns: [alias(actor, 'actor'), alias(at, 'at'), alias(field('@log_seq'), 'record'), alias(item, 'item')],
    from: eventsTable(query.samplingFactor),
    where: allOf(since(range.firstEvent), until(range.to), events),
  })
  const isKept = not(isIn(field('visits', 'item'), excluded.map(literal)))
  const columns = ['actor', 'at', 'record', 'item'].map((name) => alias(field('visits', name), name))
  if (!spans) return select({ columns, from: from(found, 'visits'), where: isKept })
  const [begins, ends] = [field('begins_at'), field('ends_at')]
  return select({
    columns,
    from: join(from(found, 'visits'), from(spans.query, 'spans'), equals(field('visits', 'actor'), field('spans', 'actor'))),
    where: and(isKept, call('greaterOrEquals', field('visits', 'at'), begins), call('lessOrEquals', field('visits', 'at'), ends)),
  })
}
