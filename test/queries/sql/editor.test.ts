import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import type { HogQLAutocompleteAnswer } from '../../../src/queries/sql/editor/autocomplete.ts'
import type { DatabaseSchemaAnswer } from '../../../src/queries/sql/editor/database-schema.ts'
import type { HogQLMetadataAnswer } from '../../../src/queries/sql/editor/metadata.ts'

// What an editor asks while a statement is written. `|` is the cursor; the word at the cursor is the letters around it.

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject({ name: 'editor' })
  await project.importGroups([{ group_type: 'company', group_type_index: 0, group_key: 'acme', properties: { size: 3 } }])
  const properties = { plan: 'pro', price: 3, 'odd name': 1, $set: { email: 'a@example.com' } }
  await project.ingest({ batch: ['signup', "it's"].map((event) => ({ event, distinct_id: 'ana', properties })) })
  await project.definePropertyTypes([{ type: 'event', name: 'plan', property_type: 'String' }])
})
afterAll(() => waymark.close())

const ask = async (query: object) => (await project.answer(query)) as unknown

async function complete(marked: string, more: object = {}): Promise<HogQLAutocompleteAnswer> {
  const cursor = marked.indexOf('|')
  const before = /[\w$]*$/.exec(marked.slice(0, cursor))![0].length
  const after = /^[\w$]*/.exec(marked.slice(cursor + 1))![0].length
  const query = {
    kind: 'HogQLAutocomplete',
    language: 'hogQL',
    query: marked.replace('|', ''),
    startPosition: cursor - before,
    endPosition: cursor + after,
  }
  return (await ask({ ...query, ...more })) as HogQLAutocompleteAnswer
}
const labels = async (marked: string, more: object = {}) => (await complete(marked, more)).suggestions.map(({ label }) => label)

describe('completion', () => {
  const has: readonly (readonly [what: string, marked: string, wanted: readonly string[], not?: readonly string[]])[] = [
    ['tables', 'select * from |', ['events', 'persons', 'sessions', 'groups'], ['SELECT', '@people', 'count']],
    ['tables behind a join', 'select 1 from events e left join per|', ['persons'], ['events']],
    ['tables behind a comma', 'select 1 from events, se|', ['sessions']],
    ['columns', 'select | from events', ['event', 'timestamp', 'properties', 'person', 'count', 'FROM', 'events', 'company'], ['@micros']],
    ['columns that begin with the word', 'select ti|me from events', ['timestamp'], ['event']],
    ['columns of an alias', 'select e.| from events e join persons p on 1', ['event'], ['is_identified', 'COUNT']],
    ['columns of the other alias', 'select p.| from events e join persons p on 1', ['is_identified'], ['event']],
    ['columns of the table itself', 'select events.| from events', ['event']],
    ['properties', 'select properties.| from events', ['plan', 'price', 'odd name'], ['email']],
    ['properties through an alias', 'select e.properties.pl| from events e', ['plan'], ['price']],
    ['properties of the person', 'select person.properties.| from events', ['email'], ['plan']],
    ['fields of the person', 'select person.| from events', ['id', 'created_at', 'properties']],
    ['fields of the session', 'select session.$entry| from events', ['$entry_pathname', '$entry_utm_source'], ['$is_bounce']],
    ['properties of a group', 'select group_0.properties.| from events', ['size']],
    ['properties of a group by its name', 'select company.properties.| from events', ['size']],
    ['the person of a chain', 'select pdi.person.properties.| from events', ['email']],
    ['nothing behind a property', 'select properties.plan.| from events', []],
    [
      'columns of a subquery',
      'select | from (select event as name, count() as n from events group by event)',
      ['name', 'n'],
      ['timestamp'],
    ],
    ['columns of a star', 'select t.| from (select * from persons) t', ['id', 'created_at', 'is_identified'], ['pdi']],
    ['columns within a subquery', 'select name from (select eve| as name from events)', ['event']],
    ['names of WITH', 'with visits as (select event from events) select 1 from v|', ['visits']],
    ['columns of WITH', 'with visits as (select event as what from events) select wh| from visits', ['what']],
    [
      'columns of WITH that reads another one',
      'with a as (select event as what from events), b as (select * from a) select b.| from b',
      ['what'],
    ],
    ['names of WITH within a subquery', 'with a as (select 1 as x) select * from (select | from a)', ['x']],
    ['aliases', 'select event as what, count() as total from events group by wh|', ['what', 'WHERE'], ['total']],
    ['the second part of a union', 'select event from events union all select is_| from persons', ['is_identified'], ['event']],
    ['arguments', 'select count(eve| from events', ['event']],
    ['statements without an end', 'select event, count() from events where tim|', ['timestamp']],
    ['nothing behind AS', 'select event as | from events', []],
    ['nothing within a comment', 'select /* eve| */ 1 from events', []],
    ['nothing within a text', "select 'eve|' from events", []],
    ['names of events', "select count() from events where event = 'sig|'", ['signup'], ['event']],
    ['names of events in a list', "select count() from events where event in ('signup', '|')", ['signup', "it's"]],
    ['names of events in a text without an end', "select count() from events where event = '|", ['signup']],
    ['a quoted name without an end', 'select properties.`odd| from events', ['odd name']],
    ['placeholders', 'select 1 from events where {|}', ['filters', 'variables']],
    ['functions', 'select toStartOfM| from events', ['toStartOfMonth', 'toStartOfMinute'], ['event', 'SELECT']],
    ['an empty text', '|', ['SELECT', 'WITH']],
    ['a text of nonsense', ') ] } select | from events (', ['event']],
  ]
  test.each(has.map((row) => [row[0], row] as const))('%s', async (_, [, marked, wanted, not = []]) => {
    const found = await labels(marked)
    for (const name of wanted) expect(found).toContain(name)
    for (const name of not) expect(found).not.toContain(name)
    if (wanted.length === 0) expect(found).toEqual([])
  })

  test('says what a name is', async () => {
    const found = async (marked: string) => (await complete(marked)).suggestions[0]
    expect(await found('select timest| from events')).toEqual({
      label: 'timestamp',
      insertText: 'timestamp',
      kind: 'Variable',
      detail: "DateTime64(6, 'UTC')",
      documentation: null,
    })
    expect(await found('select properties.pri| from events')).toMatchObject({ detail: 'Numeric' })
    expect(await found('select properties.odd| from events')).toMatchObject({ insertText: '`odd name`' })
    expect(await found('select toStartOfMonth| from events')).toMatchObject({
      insertText: 'toStartOfMonth()',
      kind: 'Function',
      detail: '1 argument',
      documentation: expect.stringContaining('month'),
    })
    expect(await found("select 1 from events where event = 'it|")).toMatchObject({ label: "it's", insertText: "it''s" })
  })

  test('of an expression reads the table of its query', async () => {
    expect(await labels('eve|', { language: 'hogQLExpr' })).toContain('event')
    const sourceQuery = { kind: 'ActorsQuery' }
    expect(await labels('properties.|', { language: 'hogQLExpr', sourceQuery })).toEqual(['email'])
  })

  test('variables of the request', async () => {
    const variables = { a: { code_name: 'country' } }
    expect(await labels('select {variables.|}', { variables })).toEqual(['country'])
  })

  test('says when there are more names', async () => {
    expect((await complete('select | from events')).incomplete_list).toBe(true)
    expect((await complete('select timestamp| from events')).incomplete_list).toBe(false)
  })

  test('positions behind the end, and in the wrong order, are those at the end', async () => {
    const query = { kind: 'HogQLAutocomplete', language: 'hogQL', query: 'select 1 from ' }
    const { suggestions } = (await ask({ ...query, startPosition: 1e9, endPosition: 99 })) as HogQLAutocompleteAnswer
    expect(suggestions.map(({ label }) => label)).toContain('events')
  })

  test('takes time in proportion to the text, whatever it is', async () => {
    const chained = Array.from({ length: 400 }, (_, i) => `c${i + 1} as (select *, * from c${i}, c${i}, c${i})`).join(', ')
    const texts = [
      `with c0 as (select * from events), ${chained} select | from c400`,
      `${'select * from ('.repeat(12_000)}|`,
      `${'('.repeat(60_000)}|`,
      `select ${'a.'.repeat(20_000)}| from events`,
      `select 1 ${'/*'.repeat(20_000)}|`,
      `select 1 ${'--'.repeat(20_000)}|`,
      `select 1 from events where event in (${"'a', ".repeat(20_000)}'|`,
      `select 1 from events${', events'.repeat(30_000)} where |`,
      `${'`'.repeat(10_000)}|`,
    ]
    for (const text of texts) {
      const started = process.cpuUsage()
      await complete(text)
      const { user } = process.cpuUsage(started)
      expect(user / 1e6, text.slice(0, 30)).toBeLessThan(5)
    }
  })
})

describe('metadata', () => {
  const check = async (query: string, more: object = {}) =>
    (await ask({ kind: 'HogQLMetadata', language: 'hogQL', query, ...more })) as HogQLMetadataAnswer

  test('of a statement that is right', async () => {
    expect(await check('select event, count() as n from events group by event')).toMatchObject({
      isValid: true,
      errors: [],
      warnings: [],
      notices: [],
      table_names: ['events'],
      types: [
        ['event', 'String'],
        ['n', 'UInt64'],
      ],
    })
  })

  const wrong: readonly (readonly [
    string,
    string,
    readonly (readonly [start: number | null, end: number | null, fix: string | null])[],
    object?,
  ])[] = [
    ['a misspelled field', 'select timestmp from events', [[7, 15, 'timestamp']]],
    [
      'two fields',
      'select timestmp, evnt from events',
      [
        [7, 15, 'timestamp'],
        [17, 21, 'event'],
      ],
    ],
    ['a misspelled table', 'select 1 from evnts', [[14, 19, 'events']]],
    ['a misspelled function', 'select cont() from events', [[7, 13, 'count']]],
    ['a syntax error', 'select from events', [[7, 11, null]]],
    ['a missing end', 'select 1 +', [[10, 11, null]]],
    ['a text without an end', "select 'abc", [[7, 11, null]]],
    [
      'a variable that is not given',
      'select {variables.contry}',
      [[7, 25, 'country']],
      { variables: { a: { code_name: 'country', value: 1 } } },
    ],
    ['a filter', 'select 1 from events where {filters}', [[null, null, null]], { filters: { dateRange: { date_from: 'soon' } } }],
  ]
  test.each(wrong.map((row) => [row[0], row] as const))('%s', async (_, [, query, places, more = {}]) => {
    const { isValid, errors } = await check(query, more)
    expect(isValid).toBe(false)
    expect(errors.map(({ start, end, fix }) => [start, end, fix])).toEqual(places)
    for (const { message } of errors) expect(message.length).toBeGreaterThan(10)
  })

  test('placeholders of the request are filled', async () => {
    const filters = { properties: [{ type: 'event', key: 'plan', value: 'pro', operator: 'exact' }] }
    expect((await check('select 1 from events where {filters}', { filters })).isValid).toBe(true)
    expect((await check('select 1 from events where {filters}')).isValid).toBe(true)
    expect((await check('select {n}', { globals: { n: 1 } })).types).toEqual([['1', 'UInt8']])
  })

  test('properties that nobody sent are warned about', async () => {
    const { isValid, warnings } = await check('select properties.pln, person.properties.emial from events')
    expect(isValid).toBe(true)
    expect(warnings.map(({ start, end, fix }) => [start, end, fix])).toEqual([
      [7, 21, 'properties.plan'],
      [23, 46, 'person.properties.email'],
    ])
  })

  test('of an expression', async () => {
    const expression = (query: string, more = {}) => check(query, { language: 'hogQLExpr', ...more })
    expect(await expression('properties.price > 3')).toMatchObject({ isValid: true, types: [[expect.any(String), 'UInt8']] })
    expect((await expression('evnt')).errors).toMatchObject([{ start: 0, end: 4, fix: 'event' }])
    expect((await expression('is_identified', { sourceQuery: { kind: 'ActorsQuery' } })).isValid).toBe(true)
  })

  test('names of WITH are no tables', async () => {
    expect((await check('with a as (select id from persons) select * from a, sessions')).table_names).toEqual(['persons', 'sessions'])
  })

  test('other languages are refused', async () => {
    await expect(check('return 1', { language: 'hog' })).rejects.toMatchObject({ code: 'validation-failed', attr: 'language' })
  })
})

test('the schema has every table and how others are reached', async () => {
  const { tables, joins } = (await ask({ kind: 'DatabaseSchemaQuery' })) as DatabaseSchemaAnswer
  expect(Object.keys(tables)).toEqual(expect.arrayContaining(['events', 'persons', 'groups', 'sessions', 'cohort_people']))
  expect(tables.events).toMatchObject({
    id: 'events',
    name: 'events',
    type: 'posthog',
    fields: {
      event: { name: 'event', hogql_value: 'event', type: 'string', schema_valid: true },
      timestamp: { type: 'datetime' },
      properties: { type: 'json' },
      elements_chain_texts: { type: 'array' },
      person: { type: 'lazy_table', table: 'persons', fields: expect.arrayContaining(['id', 'properties']) },
      person_id: { type: 'field_traverser', chain: ['person', 'id'] },
    },
  })
  expect(tables.sessions!.fields).toMatchObject({ $session_duration: { type: 'integer' }, $is_bounce: { type: 'boolean' } })
  expect(JSON.stringify(tables)).not.toContain('@')
  expect(joins).toContainEqual({
    source_table_name: 'events',
    field_name: 'session',
    joining_table_name: 'sessions',
    on: [['$session_id', 'session_id']],
  })
  // Every field can be read.
  for (const [name, { fields }] of Object.entries(tables))
    for (const { hogql_value, type } of Object.values(fields))
      if (type !== 'lazy_table') await ask({ kind: 'HogQLQuery', query: `select ${hogql_value} from ${name} limit 1` })
})

describe('views', () => {
  beforeAll(async () => {
    const views = { paid: 'select event as name, 1 as n, properties from events', broken: 'select nothing from events' }
    await waymark.accounts.context.store.write((tables) => tables.projects.update({ id: project.id }, { settings: { views } }))
  })

  test('are completed like tables, with their columns', async () => {
    expect(await labels('select * from |')).toEqual(expect.arrayContaining(['events', 'paid', 'broken']))
    expect(await labels('select | from paid')).toEqual(expect.arrayContaining(['name', 'n', 'properties']))
    expect(await labels('select p.| from paid p')).toEqual(expect.arrayContaining(['name', 'n']))
    expect(await labels('select p.| from broken p')).toEqual([])
  })
  test('are tables of the schema', async () => {
    const { tables } = (await ask({ kind: 'DatabaseSchemaQuery' })) as DatabaseSchemaAnswer
    expect(tables.paid).toMatchObject({
      type: 'view',
      fields: { name: { type: 'string' }, n: { type: 'integer' }, properties: { type: 'json' } },
    })
    expect(tables.broken).toMatchObject({ type: 'view', fields: {} })
    expect(tables.events).toMatchObject({ type: 'posthog' })
  })
  test('are named in the metadata of a statement', async () => {
    const metadata = async (query: string) => (await ask({ kind: 'HogQLMetadata', language: 'hogQL', query })) as HogQLMetadataAnswer
    expect(await metadata('select n from paid, events')).toMatchObject({ isValid: true, table_names: ['events', 'paid'] })
    const { isValid, errors } = await metadata('select * from broken')
    expect([isValid, errors[0]]).toEqual([false, expect.objectContaining({ start: null, message: expect.stringContaining('nothing') })])
  })
})
