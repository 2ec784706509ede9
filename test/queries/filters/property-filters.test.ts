import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compile } from '../../../src/engine/execution/compile.ts'
import { statementOf } from '../../../src/engine/execution/statements.ts'
import { projectDatabase } from '../../../src/engine/storage/duckdb/instance.ts'
import { elementsChain } from '../../../src/events/ingestion/decoding/elements.ts'
import { alias, call, field, order, select, table } from '../../../src/language/ast/build.ts'
import { actionCondition, compileFilters } from '../../../src/queries/filters/property-filters.ts'
import type { ActionStep, PropertyType, QueryContext } from '../../../src/queries/kind.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Each row of the tables says which events a filter keeps, by their distinct ids.

let project: TestProject
let env: QueryContext

const events: readonly { id: string; event?: string; properties?: object; elements?: object[] }[] = [
  { id: 'text', properties: { a: 'Safari 5%' } },
  { id: 'other', properties: { a: 'chrome' } },
  { id: 'empty', properties: { a: '' } },
  { id: 'null', properties: { a: null } },
  { id: 'absent', properties: {} },
  { id: 'five', properties: { n: 5, v: '1.2.3' } },
  { id: 'ten', properties: { n: 10, v: '1.10.0' } },
  { id: 'texted', properties: { n: '7', v: 'v1.2.4-beta' } },
  { id: 'odd', properties: { n: 'many', v: '1.2' } },
  { id: 'yes', properties: { b: true, v: '0.2.3' } },
  { id: 'no', properties: { b: false, v: '0.0.3' } },
  { id: 'early', properties: { d: '2024-05-01', p: '/users/17/edit' } },
  { id: 'late', properties: { d: '2024-06-01T11:00:00Z', p: '/users/9/edit' } },
  {
    id: 'click',
    event: '$autocapture',
    properties: { $current_url: 'https://shop.example/cart?x=1' },
    elements: [
      {
        tag_name: 'a',
        attr__class: 'btn primary',
        attr__href: '/buy',
        $el_text: 'Buy "now"',
        nth_child: 2,
        nth_of_type: 1,
        'attr__data-id': '7',
      },
      { tag_name: 'div', attr__id: 'main', nth_child: 1, nth_of_type: 1 },
      { tag_name: 'body' },
    ],
  },
  {
    id: 'press',
    event: '$autocapture',
    properties: { $current_url: 'https://shop.example/' },
    elements: [{ tag_name: 'button', attr__class: 'btn secondary', $el_text: 'Buy later' }, { tag_name: 'section' }, { tag_name: 'div' }],
  },
]
const types: Readonly<Record<string, PropertyType>> = { n: 'Numeric', b: 'Boolean', d: 'DateTime' }

beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T12:00:00Z') })
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  await project.instance.use(async (connection) => {
    const store = `"${projectDatabase(1)}".main`
    const names = [...new Set(events.map((e) => e.event ?? 'e'))]
    for (const [i, name] of names.entries())
      await connection.run(`INSERT INTO ${store}.event_names VALUES (${i + 1}, ${text(name)}, NULL, NULL, 0)`)
    for (const [i, e] of events.entries())
      await connection.run(
        `INSERT INTO ${store}.events (uuid, event_id, timestamp, person_no, distinct_id, created_at, log_seq, person_mode, elements_chain, properties)
         VALUES (uuid(), ${names.indexOf(e.event ?? 'e') + 1}, TIMESTAMP '2024-05-30 00:00:00', 1, ${text(e.id)}, TIMESTAMP '2024-05-30 00:00:00', ${i + 1}, 1, ${text(elementsChain(e.elements))}, ${text(JSON.stringify(e.properties ?? {}))})`,
      )
    await connection.run(
      `INSERT INTO ${store}.persons (person_no, uuid, has_record, created_at, is_identified, version, updated_at, properties)
       VALUES (1, uuid(), true, TIMESTAMP '2024-01-01 00:00:00', false, 0, TIMESTAMP '2024-01-01 00:00:00', '{"email":"ana@shop.example"}')`,
    )
  })
  env = {
    ...(await project.context()),
    propertyType: (scope, name) => (scope === 'event' ? (types[name] ?? null) : null),
    project: { ...project.settings, pathCleaningFilters: [{ regex: '/users/[0-9]+', alias: '/users/:id' }] },
  }
})
afterAll(() => project.close())

async function kept(filters: unknown): Promise<string[]> {
  const where = compileFilters(filters, 'event', env)
  const query = select({ columns: [alias(field('distinct_id'), 'id')], from: table('events'), where, orderBy: [order(field('@log_seq'))] })
  const { printed } = compile(query, { context: env, dialect: project.dialect })
  return [...(await project.run(statementOf(printed, env.project.timezone))).getChild('id')!].map(String)
}
const all = events.map((e) => e.id)
const but = (...ids: string[]) => all.filter((id) => !ids.includes(id))
const one = (key: string, operator: string | undefined, value: unknown, more: object = {}) => [
  { key, type: 'event', operator, value, ...more },
]

describe('operators', () => {
  test.each<[why: string, filters: unknown, expected: string[]]>([
    ['exact is the default', one('a', undefined, 'chrome'), ['other']],
    ['exact with a list of one', one('a', 'exact', ['chrome']), ['other']],
    ['exact with a list', one('a', 'exact', ['chrome', '']), ['other', 'empty']],
    ['exact with an empty list is no filter', one('a', 'exact', []), all],
    ['is_not keeps what has no value', one('a', 'is_not', 'chrome'), but('other')],
    ['is_not with a list keeps what has no value', one('a', 'is_not', ['chrome', 'Safari 5%']), but('other', 'text')],
    ['icontains ignores case', one('a', 'icontains', 'SAFARI'), ['text']],
    ['icontains takes % for what it is', one('a', 'icontains', '5%'), ['text']],
    ['icontains takes _ for what it is', one('a', 'icontains', '_'), []],
    ['icontains with several', one('a', 'icontains', ['saf', 'chr']), ['text', 'other']],
    ['not_icontains keeps what has no value', one('a', 'not_icontains', 'chr'), but('other')],
    ['not_icontains with several: none of them', one('a', 'not_icontains', ['saf', 'chr']), but('text', 'other')],
    ['regex is searched', one('a', 'regex', '^c.r'), ['other']],
    ['not_regex keeps what has no value', one('a', 'not_regex', 'o'), but('other')],
    ['is_set: empty text is a value, null is none', one('a', 'is_set', 'is_set'), ['text', 'other', 'empty']],
    ['is_not_set', one('a', 'is_not_set', null), but('text', 'other', 'empty')],
    ['in', one('a', 'in', ['chrome']), ['other']],
    ['not_in keeps what has no value', one('a', 'not_in', ['chrome']), but('other')],
    ['gt on a number', one('n', 'gt', 5), ['ten', 'texted']],
    ['gt on a number given as text', one('n', 'gt', '5'), ['ten', 'texted']],
    ['gte', one('n', 'gte', 5), ['five', 'ten', 'texted']],
    ['lt', one('n', 'lt', 7), ['five']],
    ['min and max are gte and lte', [...one('n', 'min', 6), ...one('n', 'max', 9)], ['texted']],
    ['exact on a number', one('n', 'exact', '5'), ['five']],
    ['gt on text compares texts', one('a', 'gt', 'b'), ['other']],
    ['between includes its ends', one('n', 'between', [5, 7]), ['five', 'texted']],
    ['not_between needs a value', one('n', 'not_between', [5, 7]), ['ten']],
    ['exact on a boolean, as text', one('b', 'exact', ['true']), ['yes']],
    ['exact on a boolean', one('b', 'exact', false), ['no']],
    ['exact on a boolean, both', one('b', 'exact', ['true', 'false']), ['yes', 'no']],
    ['is_not on a boolean', one('b', 'is_not', 'true'), but('yes')],
    ['is_date_before', one('d', 'is_date_before', '2024-05-15'), ['early']],
    ['is_date_after, counted from now', one('d', 'is_date_after', '-2h'), ['late']],
    ['is_date_exact', one('d', 'is_date_exact', '2024-05-01'), ['early']],
    ['is_date_before on a text property', one('a', 'is_date_before', '2024-05-15'), []],
    ['cleaned paths', one('p', 'is_cleaned_path_exact', '/users/1/edit'), ['early', 'late']],
    ['semver_eq', one('v', 'semver_eq', '1.2.3'), ['five']],
    ['semver_eq ignores v and what follows', one('v', 'semver_eq', '1.2.4'), ['texted']],
    ['semver_neq needs a version', one('v', 'semver_neq', '1.2.3'), ['ten', 'texted', 'yes', 'no']],
    [
      'semver_neq with several: other than any of them',
      one('v', 'semver_neq', ['1.2.3', '1.10.0']),
      ['five', 'ten', 'texted', 'yes', 'no'],
    ],
    ['semver_gt compares numbers', one('v', 'semver_gt', '1.9.0'), ['ten']],
    ['semver_lte', one('v', 'semver_lte', '1.2.3'), ['five', 'yes', 'no']],
    ['semver_tilde', one('v', 'semver_tilde', '1.2.3'), ['five', 'texted']],
    ['semver_tilde of a major', one('v', 'semver_tilde', '1'), ['five', 'ten', 'texted']],
    ['semver_caret', one('v', 'semver_caret', '1.2.4'), ['ten', 'texted']],
    ['semver_caret below one', one('v', 'semver_caret', '0.2.0'), ['yes']],
    ['semver_caret below a tenth', one('v', 'semver_caret', '0.0.3'), ['no']],
    ['semver_wildcard', one('v', 'semver_wildcard', '1.2.*'), ['five', 'texted']],
  ])('%s', async (_, filters, expected) => {
    expect(await kept(filters)).toEqual(expected)
  })
})

describe('groups, types, what is passed over', () => {
  const a = { key: 'a', type: 'event', value: 'chrome' }
  const n = { key: 'n', type: 'event', value: 5 }
  test.each<[why: string, filters: unknown, expected: string[]]>([
    ['nothing', null, all],
    ['an empty list', [], all],
    ['an empty group', { type: 'OR', values: [] }, all],
    ['AND in a list', [a, n], []],
    ['OR', { type: 'OR', values: [a, n] }, ['other', 'five']],
    [
      'nested',
      {
        type: 'AND',
        values: [
          { type: 'OR', values: [a, n] },
          { type: 'AND', values: [n] },
        ],
      },
      ['five'],
    ],
    ['an empty group inside OR changes nothing', { type: 'OR', values: [a, { type: 'AND', values: [] }] }, ['other']],
    ['an incomplete filter', [{}, { type: 'event' }, { type: 'hogql' }, { key: 'a', type: 'event', operator: 'exact' }], all],
    ['an incomplete filter inside OR holds too', { type: 'OR', values: [a, { type: 'event' }] }, all],
    ['a flag', [{ type: 'flag', key: '1', value: true }], all],
    ['person', [{ type: 'person', key: 'email', operator: 'icontains', value: '@SHOP' }], all],
    ['person, missing', [{ type: 'person', key: 'plan', value: 'pro' }], []],
    ['distinct id of a person', [{ type: 'person', key: 'distinct_id', value: 'five' }], ['five']],
    ['a field of the event', [{ type: 'event_metadata', key: 'distinct_id', value: ['five', 'ten'] }], ['five', 'ten']],
    ['an expression', [{ type: 'hogql', key: "properties.a = 'chrome'" }], ['other']],
    ['a flag value', [{ type: 'feature', key: '$feature/x', operator: 'is_not_set' }], all],
  ])('%s', async (_, filters, expected) => {
    expect(await kept(filters)).toEqual(expected)
  })

  test('what was clicked', async () => {
    const element = (key: string, value: unknown, operator = 'exact') => kept([{ type: 'element', key, value, operator }])
    const table: [string, unknown, string, string[]][] = [
      ['selector', '.btn', 'exact', ['click', 'press']],
      ['selector', 'a.primary', 'exact', ['click']],
      ['selector', 'div > a', 'exact', ['click']],
      ['selector', 'div > button', 'exact', []],
      ['selector', 'div button', 'exact', ['press']],
      ['selector', 'body .btn', 'exact', ['click']],
      ['selector', '#main a', 'exact', ['click']],
      ['selector', '[data-id="7"]', 'exact', ['click']],
      ['selector', 'a[href="/buy"]:nth-child(2)', 'exact', ['click']],
      ['selector', 'a:nth-child(3)', 'exact', []],
      ['selector', ['.primary', '.secondary'], 'exact', ['click', 'press']],
      ['selector', '.btn', 'is_not', but('click', 'press')],
      ['selector', '.bt', 'exact', []],
      ['tag_name', 'div', 'exact', ['click', 'press']],
      ['tag_name', 'di', 'exact', []],
      ['href', '/buy', 'exact', ['click']],
      ['href', 'BU', 'icontains', ['click']],
      ['text', 'Buy "now"', 'exact', ['click']],
      ['text', 'x', 'is_set', ['click', 'press']],
    ]
    for (const [key, value, operator, expected] of table)
      expect(await element(key, value, operator), `${key} ${operator} ${value}`).toEqual(expected)
  })

  test.each<[why: string, filters: unknown, attr: string]>([
    ['an unknown group type', { type: 'XOR', values: [] }, 'properties__type'],
    ['an unknown operator', one('a', 'sounds_like', 'x'), 'properties__0__operator'],
    ['an unknown type', [{ type: 'recording', key: 'x', value: 1 }], 'properties__0__type'],
    ['between backwards', one('n', 'between', [7, 5]), 'properties__0__value'],
    ['between without numbers', one('n', 'between', ['a', 'b']), 'properties__0__value'],
    ['in without a list', one('a', 'in', 'x'), 'properties__0__value'],
    ['no version', one('v', 'semver_eq', 'new'), 'properties__0__value'],
    ['no date', one('d', 'is_date_after', '2024-99-99'), 'properties__0__value'],
    ['an unknown field of events', [{ type: 'event_metadata', key: 'secret', value: 1 }], 'properties__0__key'],
    ['an unknown cohort', [{ type: 'cohort', key: 'id', value: 99 }], 'properties__0__value'],
    ['filters that are a text', 'a = 1', 'properties'],
  ])('%s is refused by name', (_, filters, attr) => {
    expect(() => compileFilters(filters, 'event', env)).toThrow(expect.objectContaining({ code: 'validation-failed', attr }))
  })

  test('a filter on events is no filter on persons', () => {
    expect(() => compileFilters(one('a', 'exact', 'x'), 'person', env)).toThrow('A filter of type event cannot be used on a person.')
  })
})

describe('actions', () => {
  const action = async (...steps: ActionStep[]) => {
    const where = actionCondition({ id: 1, name: 'x', steps }, env)
    const query = select({
      columns: [alias(field('distinct_id'), 'id')],
      from: table('events'),
      where,
      orderBy: [order(call('toString', field('@log_seq')))],
    })
    return (await project.rows(query)).map(([id]) => id as string).sort()
  }
  test.each<[why: string, steps: ActionStep[], expected: string[]]>([
    ['an event', [{ event: '$autocapture' }], ['click', 'press']],
    [
      'any of the steps',
      [
        { event: '$autocapture', tag_name: 'button' },
        { event: 'e', properties: one('a', 'exact', 'chrome') },
      ],
      ['other', 'press'],
    ],
    ['text, exact by default', [{ text: 'Buy later' }], ['press']],
    ['text, contained', [{ text: 'LATER', text_matching: 'contains' }], ['press']],
    ['url, contained by default', [{ event: '$autocapture', url: '/cart' }], ['click']],
    ['url, exact', [{ url: 'https://shop.example/', url_matching: 'exact' }], ['press']],
    ['selector', [{ selector: '#main .btn' }], ['click']],
    ['no steps', [], []],
  ])('%s', async (_, steps, expected) => {
    expect(await action(...steps)).toEqual(expected)
  })
})
