import * as z from 'zod'
import { call, equals, field, literal, or, order, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { withoutLabel } from '../columns.ts'
import { fields } from '../fields.ts'
import { compileFilters } from '../filters/property-filters.ts'
import type { QueryContext, QueryKind, QueryRun } from '../kind.ts'
import { columnOf, orderOf } from '../origin.ts'
import { everyQuery } from '../schemas.ts'
import { filtersSchema, groupTypeIndex } from '../series/series.ts'
import { allOf } from '../series/series-condition.ts'
import { pageOfRows, type RowsAnswer } from './page.ts'

// Groups of one type, those that were created last first.

const groupsSchema = fields(
  {
    ...everyQuery,
    kind: z.literal('GroupsQuery'),
    group_type_index: groupTypeIndex,
    select: z.array(z.string()).nullish(),
    search: z.string().nullish(),
    properties: filtersSchema.nullish(),
    orderBy: z.array(z.string()).nullish(),
    limit: z.number().int().min(1).nullish(),
    offset: z.number().int().min(0).nullish(),
  },
  'query',
)
type GroupsQuery = z.output<typeof groupsSchema>

const source = 'groups'
const usualColumns = ['group_name', 'key']
const key = field(source, 'key')
const name: Expr = call('coalesce', call('nullIf', call('toString', field(source, 'properties', 'name')), literal('')), key)

const columnNamed = (label: string, i: number, env: QueryContext): Expr =>
  withoutLabel(label) === 'group_name' ? name : columnOf(label, `select__${i}`, env)

const contains = (expr: Expr, text: string): Expr => call('greater', call('positionCaseInsensitiveUTF8', expr, literal(text)), literal(0))

function* run(query: GroupsQuery, env: QueryContext): QueryRun<RowsAnswer> {
  const names = query.select?.length ? query.select : usualColumns
  const search = query.search?.trim()
  const orders = (query.orderBy ?? []).map((text, i) => {
    const item = orderOf(text, `orderBy__${i}`, env)
    return item.expr.kind === 'field' && item.expr.chain.join('.') === 'group_name' ? { ...item, expr: name } : item
  })
  return yield* pageOfRows(
    {
      label: 'groups',
      names,
      columns: names.map((label, i) => columnNamed(label, i, env)),
      from: table(`@group_${query.group_type_index}`, source),
      where: allOf(
        equals(field(source, 'index'), literal(query.group_type_index)),
        ...(search ? [or(contains(name, search), contains(key, search))] : []),
        ...(query.properties ? [compileFilters(query.properties, 'group', env)] : []),
      ),
      orderBy: [...(orders.length > 0 ? orders : [order(field(source, 'created_at'), 'desc')]), order(key)],
      limit: query.limit,
      offset: query.offset,
    },
    env,
  )
}

export const groupsKind: QueryKind<'GroupsQuery', typeof groupsSchema, RowsAnswer> = { kind: 'GroupsQuery', schema: groupsSchema, run }
