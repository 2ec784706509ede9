import type { Table } from 'apache-arrow'
import { alias, call, equals, field, isIn, literal, select, table } from '../../language/ast/build.ts'
import type { Asking } from '../actor-source.ts'
import { columnValues, type JsonValue } from '../answers/rows.ts'
import type { QueryContext } from '../kind.ts'

export type ActorKey = number | string
export type ActorObject = { readonly [key: string]: JsonValue }

const parse = (json: JsonValue): JsonValue => (typeof json === 'string' && json !== '' ? (JSON.parse(json) as JsonValue) : {})
const column = (answer: Table, name: string, env: QueryContext): JsonValue[] => {
  const vector = answer.getChild(name)
  return vector ? columnValues(vector, env.project.timezone) : []
}

/** The persons of a page as objects, by number. Persons without a record are left out. */
export function* personObjects(numbers: readonly number[], env: QueryContext): Asking<Map<ActorKey, ActorObject>> {
  const objects = new Map<ActorKey, ActorObject>()
  if (numbers.length === 0) return objects
  const isOnPage = isIn(
    field('@person_no'),
    numbers.map((n) => literal(n)),
  )
  const persons = select({
    columns: [
      alias(field('@person_no'), 'number'),
      alias(call('toString', field('id')), 'id'),
      alias(field('created_at'), 'created_at'),
      alias(field('is_identified'), 'is_identified'),
      alias(call('toString', field('properties')), 'properties'),
    ],
    from: table('persons'),
    where: isOnPage,
  })
  const ids = select({
    columns: [alias(field('@person_no'), 'number'), alias(field('distinct_id'), 'distinct_id')],
    from: table('person_distinct_ids'),
    where: isOnPage,
  })
  const [people, distinctIds] = (yield [
    { kind: 'statement', query: persons, label: 'persons of the page' },
    { kind: 'statement', query: ids, label: 'their distinct ids' },
  ]) as readonly [Table, Table]

  const byNumber = new Map<number, string[]>()
  const owners = column(distinctIds, 'number', env)
  column(distinctIds, 'distinct_id', env).forEach((id, i) => {
    const owner = Number(owners[i])
    const ids = byNumber.get(owner)
    if (ids) ids.push(String(id))
    else byNumber.set(owner, [String(id)])
  })
  const [number, id, createdAt, isIdentified, properties] = ['number', 'id', 'created_at', 'is_identified', 'properties'].map((name) =>
    column(people, name, env),
  ) as [JsonValue[], JsonValue[], JsonValue[], JsonValue[], JsonValue[]]
  number.forEach((n, i) => {
    objects.set(Number(n), {
      id: id[i]!,
      distinct_ids: byNumber.get(Number(n)) ?? [],
      properties: parse(properties[i]!),
      created_at: createdAt[i]!,
      is_identified: Boolean(isIdentified[i]),
    })
  })
  return objects
}

export function* groupObjects(keys: readonly string[], index: number, env: QueryContext): Asking<Map<ActorKey, ActorObject>> {
  const objects = new Map<ActorKey, ActorObject>()
  if (keys.length === 0) return objects
  const query = select({
    columns: [
      alias(field('key'), 'group_key'),
      alias(field('created_at'), 'created_at'),
      alias(call('toString', field('properties')), 'properties'),
    ],
    from: table('groups'),
    where: call(
      'and',
      equals(field('index'), literal(index)),
      isIn(
        field('key'),
        keys.map((key) => literal(key)),
      ),
    ),
  })
  const [answer] = (yield [{ kind: 'statement', query, label: 'groups of the page' }]) as readonly [Table]
  const created = column(answer, 'created_at', env)
  const texts = column(answer, 'properties', env)
  column(answer, 'group_key', env).forEach((key, i) => {
    const properties = parse(texts[i]!)
    objects.set(String(key), {
      id: key,
      group_key: key,
      group_type_index: index,
      created_at: created[i]!,
      properties,
      group_properties: properties,
      type: 'group',
    })
  })
  return objects
}
