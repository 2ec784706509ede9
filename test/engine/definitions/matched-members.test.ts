import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

// Members of a static cohort by any property: who is found, and what matches nobody or several.

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject({})
  const people = [
    ['a', { email: 'Ann@Example.org', code: 'X1', number: 7 }],
    ['b', { email: 'ben@example.org', code: 'x1', number: 7 }],
    ['c', { email: 'ben@example.org', code: 'it\'s, "c"', number: 8.5 }],
    ['d', {}],
  ] as const
  await project.importPersons(people.map(([id, properties]) => ({ distinct_ids: [id], properties })))
})
afterAll(() => waymark.close())

const membersOf = async (id: number) => {
  const query = `select distinct_id from person_distinct_ids where person_id in cohort ${id} order by distinct_id`
  return ((await project.query({ kind: 'SqlLikeQuery', query })).results as [string][]).map(([one]) => one)
}

test.each([
  [
    'addresses in any case, one of several people',
    { match_property: 'email', values: ['ann@example.org', ' BEN@example.org ', 'nobody@example.org'] },
    ['a', 'b', 'c'],
    { values: 3, unmatched: 1, unmatched_values: ['nobody@example.org'], several: 1 },
  ],
  [
    'other texts as they are written',
    { match_property: 'code', values: ['X1', 'X1', ''] },
    ['a'],
    { values: 1, unmatched: 0, unmatched_values: [], several: 0 },
  ],
  [
    'quotes and commas',
    { match_property: 'code', values: ['it\'s, "c"'] },
    ['c'],
    { values: 1, unmatched: 0, unmatched_values: [], several: 0 },
  ],
  [
    'numbers',
    { match_property: 'number', values: ['7', '8.5', '9'] },
    ['a', 'b', 'c'],
    { values: 3, unmatched: 1, unmatched_values: ['9'], several: 1 },
  ],
  [
    'a column of a CSV that is named as the property',
    { match_property: 'email', csv: 'name,Email\nAnn,ann@example.org\nx,y@z\n' },
    ['a'],
    { values: 2, unmatched: 1, unmatched_values: ['y@z'], several: 0 },
  ],
  [
    'a column of a CSV by its name',
    { match_property: 'email', csv: 'mail,Email\nben@example.org,ann@example.org\n', csv_column: 'mail' },
    ['b', 'c'],
    { values: 1, unmatched: 0, unmatched_values: [], several: 1 },
  ],
  [
    'the first column of a file without names',
    { match_property: 'email', csv: 'ben@example.org\nann@example.org' },
    ['a', 'b', 'c'],
    { values: 2, unmatched: 0, unmatched_values: [], several: 1 },
  ],
  ['distinct ids', { distinct_ids: ['a', 'zz'] }, ['a'], { values: 2, unmatched: 1, unmatched_values: ['zz'], several: 0 }],
])('%s', async (name, fields, expected, matching) => {
  const made = await project.cohorts.create({ name, is_static: true, ...fields })
  expect(await membersOf(made.id)).toEqual(expected)
  expect(made.matching).toEqual(matching)
  expect((await project.cohorts.retrieve(made.id)).matching, 'it is of the answer only').toBeUndefined()
})

test('the first hundred that match nobody are named, all are counted', async () => {
  const values = Array.from({ length: 2_500 }, (_, i) => `nobody-${i}`)
  const { matching } = await project.cohorts.create({
    name: 'Many',
    is_static: true,
    match_property: 'email',
    values: [...values, 'ben@example.org'],
  })
  expect(matching).toMatchObject({ values: 2_501, unmatched: 2_500, several: 1 })
  expect(matching!.unmatched_values).toEqual(values.slice(0, 100))
})

test.each([
  [{ values: ['x'] }, 'match_property'],
  [{ match_property: 'email', csv: 'a,b\n1,2', csv_column: 'c' }, 'csv_column'],
])('what cannot be read is refused: %j', async (fields, attr) => {
  await expect(project.cohorts.create({ name: 'No', is_static: true, ...fields })).rejects.toMatchObject({
    code: 'validation-failed',
    data: { attr },
  })
})
