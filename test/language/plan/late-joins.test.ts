import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// First rows are found before the names of their events are looked up, and before their persons, groups and sessions are joined.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
  const events = Array.from({ length: 200 }, (_, i) => ({
    event: `event ${i % 7}`,
    distinct_id: `user-${i % 5}`,
    timestamp: `2024-01-01T00:00:${String(i % 40).padStart(2, '0')}Z`,
    properties: {
      i,
      text: `text ${i % 3}`,
      $session_id: `018cc25${i % 4}-0000-7000-8000-000000000000`,
      ...(i % 2 ? { $groups: { company: `company ${i % 3}` } } : {}),
      $set: { plan: i % 5 > 2 ? 'pro' : 'free', email: `${i % 5}@example.com` },
    },
  }))
  await project.project.ingest({ batch: events })
  await project.project.importGroups([0, 1].map((i) => ({ group_type: 'company', group_key: `company ${i}`, properties: { size: i } })))
  await project.project.ingest({ batch: [{ event: '$identify', distinct_id: 'user-1', properties: { $anon_distinct_id: 'user-anon' } }] })
  await project.project.ingest({
    batch: [{ event: '$create_alias', distinct_id: 'user-1', properties: { alias: 'user-0' }, timestamp: '2024-01-02T00:00:00Z' }],
  })
})
afterAll(() => project.close())

/** The names, or something else, are joined with the rows that are left. */
const isLate = (sql: string) => /LIMIT \d+( OFFSET \d+)?\) AS "\w+" (LEFT )?JOIN \(SELECT /.test(sql)

const late: Readonly<Record<string, string>> = {
  'a name that is shown': 'select event, properties.i from events order by timestamp, properties.i limit 20',
  'names in expressions, twice':
    "select event, upper(event) as u, concat(event, '!') from events order by timestamp desc, properties.i limit 7 offset 30",
  'a condition on its number': "select event, properties.i as i from events where event in ('event 1', 'event 2') order by i limit 9",
  'an alias of the table': 'select e.event, e.properties.i as i from events as e where e.properties.i > 50 order by i desc limit 12',
  'a subquery': 'select count(), uniq(event) from (select event from events order by timestamp, properties.i limit 15)',
  'a subquery that reads the row': 'select event, (select count() from events) as n, properties.i as i from events order by i limit 5',
  'no row': 'select event from events where properties.i > 1000 order by timestamp limit 5',
  'a person':
    'select event, person.id, person.properties.plan, properties.i from events order by timestamp desc, properties.i limit 20 offset 5',
  'a person without the name of the event': 'select person.properties.email, properties.i as i from events order by i limit 9',
  'a person by distinct id':
    'select pdi.person.properties.plan as plan, pdi.person_id, properties.i as i from events order by i desc limit 9',
  'a person id': 'select person_id, event, properties.i as i from events order by i limit 9',
  'a person in expressions':
    "select upper(person.properties.plan), if(person.properties.plan = 'pro', event, distinct_id) as x, properties.i as i from events order by i limit 9",
  'a condition on a property of the person':
    "select person.properties.email, event, properties.i as i from events where person.properties.plan = 'pro' order by i limit 9",
  'an order by a property of the person':
    'select person.properties.plan, event, properties.i as i from events order by person.properties.email, i limit 9',
  'names that the rows depend on, beside a person':
    "select person.properties.plan, event, properties.i as i from events where event like '%3' order by i limit 9",
  'groups, of which not all are known': 'select group_0.properties.size, group_0.key, properties.i as i from events order by i limit 9',
  'a session': 'select session.duration, session.session_id, event, properties.i as i from events order by i limit 9',
  'a subquery that reads the person':
    'select exists(select 1 from persons as p where p.properties.plan = e.person.properties.plan and p.id != e.person.id) as n, e.properties.i as i from events as e order by i limit 5',
  'a condition on a subquery that reads the person':
    'select e.event, e.person.id, e.properties.i as i from events as e where exists(select 1 from persons as p where p.properties.plan = e.person.properties.plan and p.id != e.person.id) order by i limit 5',
}
const early: Readonly<Record<string, string>> = {
  'rows in order of the names': 'select event, properties.i from events order by event, properties.i limit 20',
  'a condition on the text of the name': "select event, properties.i as i from events where event like '%3' order by i limit 5",
  'groups of names': 'select event, count() from events group by event order by 2 desc, 1 limit 3',
  'different names': 'select distinct event from events order by event limit 3',
  'numbers of rows': 'select event, row_number() over (order by event, properties.i) as n from events order by properties.i limit 4',
  'all rows': 'select event, properties.i as i from events order by i',
  'no order': 'select event from events where properties.i = 3 limit 5',
  'an order of random numbers': 'select event, rand() as r from events order by r limit 5',
  'a condition on the only property of the person':
    "select properties.i as i from events where person.properties.plan = 'pro' order by i limit 5",
  'a condition on the session, which is shown':
    'select session.duration, properties.i as i from events where session.duration >= 0 and session.session_id != properties.text order by i limit 5',
  'persons of groups of rows': 'select person.properties.plan, count() from events group by 1 order by 2 limit 5',
  'a limit by name': 'select event, properties.i as i from events order by i limit 2 by event',
}

for (const [statements, isExpected] of [
  [late, true],
  [early, false],
] as const)
  describe(isExpected ? 'names that are looked up last' : 'names that the rows depend on', () => {
    test.each(Object.entries(statements))('%s', async (_, statement) => {
      const { sql } = (await project.compile(statement)).printed
      expect(isLate(sql)).toBe(isExpected)
    })
  })

test.each(Object.entries(late))('the rows are those of the whole order: %s', async (_, statement) => {
  const whole = statement.replace(/ limit (\d+)( offset (\d+))?/, '')
  const [, limit, , offset = '0'] = / limit (\d+)( offset (\d+))?/.exec(statement)!
  if (whole.startsWith('select count()')) return expect(await project.rows(statement)).toEqual([[15, 7]]) // the first three seconds
  const rows = await project.rows(whole)
  expect(await project.rows(statement)).toEqual(rows.slice(Number(offset), Number(offset) + Number(limit)))
})
