import { join } from 'node:path'
import { readFacts } from '../../../../src/engine/storage/duckdb/facts.ts'
import { type Instance, projectDatabase } from '../../../../src/engine/storage/duckdb/instance.ts'
import { numbersOf } from '../../../../src/language/catalog/property-counts.ts'
import { format1 } from './format-1.ts'

// A store as the first format left it, and what it holds in the format of today.

const name = projectDatabase(1)

type Key = readonly [
  scope: string,
  name: string,
  type: string | null,
  isDefined: boolean,
  slot: string | null,
  isReady: boolean,
  counts: readonly number[],
]
/** As the first format settled types: by a thousand values, none of them by somebody but `zip`. */
const keys: readonly Key[] = [
  ['event', 'price', 'Numeric', false, 'n1', true, [1000, 0, 0, 0, 0]],
  ['event', 'digits', 'String', false, 's1', true, [0, 1000, 0, 0, 0]],
  ['event', 'mixed', null, false, 's2', true, [2, 3, 1, 0, 0]],
  ['event', 'words', null, false, null, false, [1, 1, 0, 0, 0]],
  ['event', 'day', 'DateTime', false, 't1', true, [0, 0, 0, 1000, 0]],
  ['event', 'odd', 'Numeric', false, 'n2', true, [1000, 2, 0, 0, 0]],
  ['event', 'late', 'String', false, 's3', false, [0, 1000, 0, 0, 0]],
  ['event', 'zip', 'Numeric', true, 'n3', true, [3, 0, 0, 0, 0]],
  ['person', 'age', 'Numeric', false, 'n1', true, [1000, 1, 0, 0, 0]],
  ['group_2', 'code', null, false, null, false, [1, 1, 0, 0, 0]],
]
const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))

export async function makeOldStore(instance: Instance): Promise<void> {
  await instance.attach(name, join('projects', '1', 'store.duckdb'), format1)
  const rows = [
    { digits: '01234', mixed: 1, words: 2, odd: ' 5 ', price: 5 },
    { digits: '7', mixed: '1.5e3', words: 'x', odd: 'nan', price: 6 },
    { digits: 'abc', mixed: '1', nested: { mixed: '9' } },
    { mixed: ' 1', list: ['2'] },
  ]
  const at = "TIMESTAMP '2024-05-01'"
  await instance.run(`INSERT INTO ${name}.main.events (uuid, event_id, timestamp, person_no, distinct_id, created_at, log_seq, person_mode, properties)
    VALUES ${rows.map((row, i) => `(uuid(), 1, ${at}, 1, 'd', ${at}, ${i + 1}, 0, '${JSON.stringify(row)}')`).join(', ')}`)
  await instance.run(`INSERT INTO ${name}.main.persons (person_no, uuid, has_record, created_at, is_identified, version, updated_at, properties)
    VALUES (1, uuid(), true, ${at}, true, 1, ${at}, '{"age":"30"}')`)
  await instance.run(`INSERT INTO ${name}.main.groups (group_type_index, group_key, created_at, updated_at, version, properties)
    VALUES (2, 'a', ${at}, ${at}, 1, '{"code":"007"}')`)
  await instance.run(
    `INSERT INTO ${name}.main.property_keys VALUES ${keys
      .map(([scope, key, type, isDefined, slot, isReady, counts]) =>
        [scope, key, type, isDefined, slot, isReady, ...counts].map(literal).join(', '),
      )
      .map((row) => `(${row}, ${at}, ${at})`)
      .join(', ')}`,
  )
}

export const keysOf = async (instance: Instance) => {
  const facts = await instance.look((connection) => readFacts(connection, name))
  return Object.fromEntries(
    [...facts.propertyKeys.values()].map(({ name, type, slots, counts }) => [
      name,
      [type, slots.join(' '), numbersOf(counts), counts.String, counts.NumericString],
    ]),
  )
}
export const expectedKeys = {
  price: [null, 'n1', 'all', 0, 0],
  digits: [null, 's1', 'none', 998, 2],
  mixed: [null, 's2', 'marked', 1, 2],
  words: [null, '', 'by-text', 1, 0],
  day: [null, '', 'none', 0, 0],
  odd: [null, '', 'by-text', 2, 0], // its slot read 'nan' as a number: it is filled anew
  late: [null, '', 'none', 1000, 0],
  zip: ['Numeric', 'n3', 'all', 0, 0],
  age: [null, 'n1', 'marked', 0, 1],
  code: [null, '', 'marked', 0, 1],
}
