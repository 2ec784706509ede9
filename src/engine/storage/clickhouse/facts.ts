import { fullScopes, type ValueCounts, valueTypes } from '../../../language/catalog/property-counts.ts'
import { type PropertyKey, propertyKey, type RowCounts, type StoreFacts } from '../../../language/catalog/store-facts.ts'
import type { ProjectStore } from './project-store.ts'
import { readPropertyColumns } from './property-columns.ts'

/** `known` is returned again if nothing has been applied since. */
export const readFacts = (store: ProjectStore, known?: StoreFacts): Promise<StoreFacts> =>
  store.alone(async () => {
    const ofProject = (table: string) => `FROM ${table} WHERE project_id = ${store.project}`
    const [[appliedSeq] = ['0']] = await store.rows<[string]>(`SELECT value ${ofProject('meta')} AND key = 'applied_seq'`)
    if (known?.appliedSeq === appliedSeq) return known
    const [names, [merges], [persons], keys, columns, groupTypes, actions, cohorts] = await Promise.all([
      store.rows<[string, number]>(`SELECT name, event_id ${ofProject('event_names')}`),
      store.rows<[number]>(`SELECT count() ${ofProject('person_merges')}`),
      store.rows<[number]>(`SELECT max(person_no) ${ofProject('persons')}`),
      store.rows<[string, string, PropertyKey['type'], ...number[]]>(
        `SELECT scope, name, property_type, count_numeric, count_string, count_boolean, count_datetime, count_other, count_numeric_string
         ${ofProject('property_keys')}`,
      ),
      readPropertyColumns(store),
      store.rows<[number, string]>(`SELECT group_type_index, group_type ${ofProject('group_types')} ORDER BY 1`),
      store.rows<[number, string]>(`SELECT id, definition ${ofProject('actions')}`),
      store.rows<[number, string]>(`SELECT id, definition ${ofProject('cohorts')}`),
    ])
    const slots = new Map<string, string[]>()
    for (const [column, key] of columns) slots.set(key, [...(slots.get(key) ?? []), column])
    return {
      appliedSeq,
      eventIds: new Map(names),
      hasMerges: merges![0] > 0,
      lastPersonNo: persons![0],
      propertyKeys: new Map(
        keys.map(([scope, name, type, ...counts]) => [
          propertyKey(scope, name),
          {
            scope,
            name,
            type,
            slots: scope === 'event' ? (slots.get(name) ?? []) : [],
            counts: Object.fromEntries(valueTypes.map((valueType, i) => [valueType, counts[i]])) as ValueCounts,
          },
        ]),
      ),
      fullScopes: fullScopes(keys.map(([scope]) => scope)),
      groupTypes: groupTypes.map(([index, name]) => ({ index, name })),
      actions: new Map(actions),
      cohorts: new Map(cohorts),
    }
  })

/** The totals of a store. */
export async function countRows({ rows, project }: ProjectStore): Promise<RowCounts> {
  const [[events] = [0]] = await rows<[number]>(`SELECT count() FROM events WHERE project_id = ${project}`)
  const [[persons] = [0]] = await rows<[number]>(`SELECT count() FROM persons WHERE project_id = ${project} AND has_record`)
  return { events, persons }
}
