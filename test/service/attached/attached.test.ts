import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCall } from '../../../src/doors/agents/tool.ts'
import { describeData } from '../../../src/doors/agents/tools/describe.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

// Folders beside the events: their tables in statements, their columns as properties, and what nobody may reach through them.

const plans = [
  { company: 'acme', plan: 'pro', seats: 40, price: 12.5, since: '2026-01-02 03:04:05', is_trial: false },
  { company: 'globex', plan: 'free', seats: 3, price: 0, since: '2026-02-01 00:00:00', is_trial: true },
  { company: 'initech', plan: null, seats: null, price: null, since: null, is_trial: null },
] as const
const events = [
  ['u1', 'acme', 'opened'],
  ['u1', 'acme', 'paid'],
  ['u2', 'globex', 'opened'],
  ['u3', 'initech', 'opened'],
  ['u4', 'unknown', 'opened'],
  ['u5', null, 'opened'],
] as const
const emails: Readonly<Record<string, string>> = { u1: 'ann@acme.test', u2: 'bob@globex.test', u3: 'cy@initech.test' }
const customers = [
  { email: 'ann@acme.test', tier: 'gold', score: 9 },
  { email: 'bob@globex.test', tier: 'silver', score: 5 },
] as const

const now = new Date('2026-03-02T12:00:00Z')
let folder: string
let waymark: LocalWaymark
let project: LocalProject

const literal = (value: unknown) => (value === null ? 'NULL' : typeof value === 'string' ? `'${value}'` : String(value))
const writeParquet = async (path: string, rows: readonly object[], types = '*') => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const names = Object.keys(rows[0]!)
  const values = rows.map((row) => `(${Object.values(row).map(literal).join(', ')})`).join(', ')
  await connection.run(`COPY (SELECT ${types} FROM (VALUES ${values}) AS t(${names.join(', ')})) TO '${path}' (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
}
const planTypes = '* REPLACE (since::TIMESTAMP AS since, price::DECIMAL(10, 2) AS price)'

const fill = async (to: LocalProject) => {
  const batch = events.map(([distinct_id, company, event], i) => ({
    event,
    distinct_id,
    timestamp: new Date(now.getTime() - (i + 1) * 60_000).toISOString(),
    properties: {
      ...(company === null ? {} : { company, $groups: { company } }),
      ...(emails[distinct_id] ? { $set: { email: emails[distinct_id] } } : {}),
    },
  }))
  await to.ingest({ batch })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-attached-'))
  const billing = join(folder, 'billing')
  await mkdir(join(billing, 'invoices'), { recursive: true })
  await writeParquet(join(billing, 'plans.parquet'), plans, planTypes)
  await writeParquet(join(billing, 'invoices', 'a.parquet'), [{ company: 'acme', amount: 1 }])
  await writeParquet(join(billing, 'invoices', 'b.parquet'), [
    { company: 'acme', amount: 2 },
    { company: 'globex', amount: 4 },
  ])
  await writeFile(join(billing, 'customers.csv'), `email,tier,score\n${customers.map((one) => Object.values(one).join(',')).join('\n')}\n`)
  await writeFile(join(billing, 'notes.jsonl'), '{"company":"acme","note":"it\'s \\"fine\\""}\n{"company":"globex","note":null}\n')
  await writeFile(join(billing, 'twice.csv'), 'company,plan\nacme,a\nacme,b\n')
  await writeFile(join(billing, 'readme.txt'), 'not a table')
  waymark = await open({
    dataDir: ':memory:',
    clock: () => now,
    attach: {
      billing: {
        from: billing,
        properties: { 'plans.company': 'company', 'customers.email': 'person.email', 'twice.company': 'company' },
      },
    },
  })
  project = await waymark.createProject({ name: 'Shop' })
  await fill(project)
})
afterAll(async () => {
  await waymark.close()
  await rm(folder, { recursive: true })
})

const sql = async (query: string, of = project) => (await of.query({ kind: 'SqlLikeQuery', query })).results

describe('in statements', () => {
  test('columns have the types of the file', async () => {
    const { columns, types, results } = await project.query({ kind: 'SqlLikeQuery', query: 'select * from billing.plans order by company' })
    expect(columns).toEqual(['company', 'plan', 'seats', 'price', 'since', 'is_trial'])
    expect(types.map(([, type]) => type)).toEqual([
      'Nullable(String)',
      'Nullable(String)',
      'Nullable(Int64)',
      'Nullable(Decimal(10, 2))',
      "Nullable(DateTime64(6, 'UTC'))",
      'Nullable(UInt8)',
    ])
    expect(results).toEqual([
      ['acme', 'pro', 40, 12.5, '2026-01-02T03:04:05Z', 0],
      ['globex', 'free', 3, 0, '2026-02-01T00:00:00Z', 1],
      ['initech', null, null, null, null, null],
    ])
  })

  test('a join has the rows of a loop over both', async () => {
    const expected = events.flatMap(([id, company, event]) =>
      plans.filter((row) => row.company === company).map((row) => [id, event, row.plan, row.seats]),
    )
    const found = await sql(
      'select e.distinct_id, e.event, p.plan, p.seats from events e join billing.plans p on p.company = e.properties.company order by e.timestamp desc',
    )
    expect(found).toEqual(expected)
    expect(
      await sql(
        'select plans.plan, count() from events join billing.plans on plans.company = events.properties.company group by 1 order by 1',
      ),
    ).toEqual([
      ['free', 1],
      ['pro', 2],
      [null, 1],
    ])
  })

  test.each([
    [
      'a folder of Parquet files is one table',
      'select company, sum(amount) from billing.invoices group by 1 order by 1',
      [
        ['acme', 3],
        ['globex', 4],
      ],
    ],
    [
      'CSV',
      'select tier, score + 1 from billing.customers order by score',
      [
        ['silver', 6],
        ['gold', 10],
      ],
    ],
    [
      'JSON lines',
      'select company, note from billing.notes order by 1',
      [
        ['acme', 'it\'s "fine"'],
        ['globex', null],
      ],
    ],
    ['WITH', 'with p as (select company from billing.plans where is_trial) select * from p', [['globex']]],
    ['IN', "select count() from events where properties.company in (select company from billing.plans where plan = 'pro')", [[2]]],
    ['EXISTS', 'select count() from events e where exists (select 1 from billing.plans p where p.company = e.properties.company)', [[4]]],
    ['names of columns', 'select a from billing.plans as p(a) order by 1 limit 1', [['acme']]],
    [
      'DESCRIBE',
      'describe billing.customers',
      [
        ['email', 'Nullable(String)'],
        ['tier', 'Nullable(String)'],
        ['score', 'Nullable(Int64)'],
      ],
    ],
  ])('%s', async (_, query, rows) => {
    expect(await sql(query)).toEqual(rows)
  })

  test('SHOW TABLES names them', async () => {
    const names = (await sql('show tables')).map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(['events', 'billing.plans', 'billing.invoices', 'billing.customers', 'billing.notes']))
  })
})

describe('as properties', () => {
  const trend = (more: object) => ({
    kind: 'TrendsQuery' as const,
    series: [{ kind: 'EventsNode' as const, event: 'opened' }],
    dateRange: { date_from: '2026-03-01', date_to: '2026-03-02' },
    ...more,
  })
  const total = async (more: object) => {
    const { results } = (await project.query(trend(more))) as unknown as { results: { count: number; breakdown_value?: unknown }[] }
    return results.map(({ count, breakdown_value }) => (breakdown_value === undefined ? count : [breakdown_value, count]))
  }
  const filter = (key: string, value: unknown, operator = 'exact') => ({
    properties: [{ type: 'group', group_type_index: 0, key, value, operator }],
  })

  test.each([
    ['a text', filter('billing.plans.plan', 'pro'), [1]],
    ['a number', filter('billing.plans.seats', 10, 'gt'), [1]],
    ['a boolean', filter('billing.plans.is_trial', ['true']), [1]],
    ['is set', filter('billing.plans.plan', null, 'is_set'), [2]],
    ['is not set: no plan, no row, no group', filter('billing.plans.plan', null, 'is_not_set'), [3]],
    ['a time', filter('billing.plans.since', '2026-01-15', 'is_date_after'), [1]],
    ['of a person', { properties: [{ type: 'person', key: 'billing.customers.tier', value: 'gold', operator: 'exact' }] }, [1]],
    [
      'two tables',
      {
        properties: [
          ...filter('billing.plans.plan', 'pro').properties,
          { type: 'person', key: 'billing.customers.score', value: 8, operator: 'gt' },
        ],
      },
      [1],
    ],
  ])('a filter of a trend: %s', async (_, more, counts) => {
    expect(await total(more)).toEqual(counts)
  })

  test('a breakdown has the values of a join', async () => {
    const breakdownFilter = { breakdown: 'billing.plans.plan', breakdown_type: 'group', breakdown_group_type_index: 0 }
    const found = (await total({ breakdownFilter })) as [string, number][]
    const byHand = await sql(
      "select p.plan, count() from events e left join billing.plans p on p.company = e.properties.company where e.event = 'opened' group by 1",
    )
    const named = byHand.map(([plan, count]) => [plan ?? '$$_posthog_breakdown_null_$$', count])
    expect([...found].sort()).toEqual(named.sort())
  })

  test('in a statement, by the names of groups and persons', async () => {
    expect(
      await sql(
        "select distinct_id, company.properties.`billing.plans.plan`, company.properties.`billing.plans.seats` * 2, person.properties.`billing.customers.tier` from events where event = 'opened' order by timestamp desc",
      ),
    ).toEqual([
      ['u1', 'pro', 80, 'gold'],
      ['u2', 'free', 6, 'silver'],
      ['u3', null, null, null],
      ['u4', null, null, null],
      ['u5', null, null, null],
    ])
    expect(await sql('select properties.`billing.customers.tier`, count() from persons group by 1 order by 1')).toEqual([
      ['gold', 1],
      ['silver', 1],
      [null, 3],
    ])
  })

  test('a funnel, and who is behind a trend', async () => {
    const { results } = (await project.query({
      kind: 'FunnelsQuery',
      series: [
        { kind: 'EventsNode', event: 'opened' },
        { kind: 'EventsNode', event: 'paid' },
      ],
      dateRange: { date_from: '2026-03-01', date_to: '2026-03-02' },
      funnelsFilter: { funnelOrderType: 'unordered' },
      ...filter('billing.plans.plan', ['pro', 'free']),
    } as never)) as unknown as { results: { count: number }[] }
    expect(results.map(({ count }) => count)).toEqual([2, 1])
  })

  test('the lists in memory say why they do not answer', async () => {
    const { explain } = (await project.query({ ...trend(filter('billing.plans.plan', 'pro')), explain: true } as never)) as unknown as {
      explain: { roads?: { code?: string }[] }[]
    }
    expect(explain.flatMap(({ roads = [] }) => roads.map(({ code }) => code))).toContain('attached-table')
  })

  test('keys that are not unique are refused, and statements may still join the table', async () => {
    const asked = trend(filter('billing.twice.plan', 'a'))
    await expect(project.query(asked)).rejects.toMatchObject({ code: 'attached-ambiguous', detail: expect.stringContaining('acme') })
    expect(await sql('select count() from billing.twice')).toEqual([[2]])
  })
})

describe('what an answer says', () => {
  test('from when the rows are', async () => {
    const { attached } = await project.query({ kind: 'SqlLikeQuery', query: 'select count() from billing.plans, billing.notes' })
    expect(attached).toEqual(['billing.notes', 'billing.plans'].map((table) => ({ table, as_of: expect.stringMatching(/^20.*Z$/) })))
    expect(await project.query({ kind: 'SqlLikeQuery', query: 'select 1' })).not.toHaveProperty('attached')
  })

  test('explain shows no path', async () => {
    const answer = await project.query({ kind: 'SqlLikeQuery', query: 'select * from billing.plans', explain: true } as never)
    expect(JSON.stringify(answer)).not.toContain(folder)
    expect(JSON.stringify(answer)).toContain('read_parquet')
  })
})

describe('where statements are written', () => {
  test('the schema and the completion know the tables and their columns', async () => {
    const { tables } = (await project.query({ kind: 'DatabaseSchemaQuery' })) as unknown as {
      tables: Record<string, { type: string; fields: Record<string, { type: string }> }>
    }
    expect(tables['billing.customers']).toMatchObject({
      type: 'attached',
      fields: { email: { type: 'string' }, tier: { type: 'string' }, score: { type: 'integer' } },
    })
    const complete = async (query: string) => {
      const at = { startPosition: query.length, endPosition: query.length }
      const { suggestions } = (await project.query({ kind: 'HogQLAutocomplete', language: 'hogQL', query, ...at } as never)) as unknown as {
        suggestions: { label: string }[]
      }
      return suggestions.map(({ label }) => label)
    }
    expect(await complete('select * from ')).toContain('billing.plans')
    expect(await complete('select p.tier from billing.customers p where p.')).toEqual(expect.arrayContaining(['email', 'tier', 'score']))
  })

  test('an agent is told of them', async () => {
    const call: Pick<ToolCall, 'api' | 'signal' | 'project'> = {
      project: async () => ({ id: 1, timezone: 'UTC' }) as never,
      signal: undefined as never,
      api: {
        call: async ({ path, body }: { path: readonly unknown[]; body?: { query: { kind: string } } }) => {
          if (body) return project.query(body.query as never)
          return path[2] === 'groups_types' ? [] : { count: 0, results: [] }
        },
      } as never,
    }
    const { content } = await describeData.run({ project: 1 } as never, call as ToolCall)
    expect(JSON.stringify(content)).toMatch(/billing\.customers.*email string, tier string, score integer/)
  })

  test('an engine in another process reads the folder too, and no other', async () => {
    await using other = await open({ dataDir: join(folder, 'isolated'), isolate: true, attach: { billing: join(folder, 'billing') } })
    const its = await other.createProject({ name: 'Shop' })
    expect(await sql('select company from billing.plans order by 1', its)).toEqual([['acme'], ['globex'], ['initech']])
  })
})

describe('what cannot be reached', () => {
  test.each([
    ['a path', "select * from read_csv('/etc/passwd')", 'unknown-table'],
    ['a file as a table', "select * from '/etc/passwd'", 'syntax-error'],
    ['another table of the folder', 'select * from billing.readme', 'unknown-table'],
    ['another name', 'select * from other.plans', 'unknown-table'],
    ['a column that is not there', 'select price2 from billing.plans', 'unknown-field'],
    ['a sample', 'select * from billing.plans sample 0.1', 'unsupported-syntax'],
  ])('%s', async (_, query, code) => {
    await expect(sql(query)).rejects.toMatchObject({ code })
  })

  test('a viewer, by its own statement', async () => {
    const viewer = {
      kind: 'ViewerQuery',
      filter: [{ type: 'event', key: 'company', operator: 'exact', value: 'acme' }],
    }
    const asked = async (query: string) => project.query({ ...viewer, source: { kind: 'SqlLikeQuery', query } } as never)
    await expect(asked('select * from billing.plans')).rejects.toMatchObject({ code: 'unknown-table' })
    await expect(asked('select company.properties.`billing.plans.plan` from events')).rejects.toMatchObject({ code: 'not-for-viewers' })
    expect(JSON.stringify(await asked('show tables'))).not.toContain('billing')
  })

  test('names that the engine would read as patterns', async () => {
    const odd = join(folder, 'odd')
    await mkdir(join(odd, 'parts'), { recursive: true })
    for (const name of ['a.parquet', 'a*.parquet']) await writeParquet(join(odd, 'parts', name), [{ n: 1 }])
    await using other = await open({ dataDir: ':memory:', attach: { odd } })
    const its = await other.createProject()
    await expect(sql('select count() from odd.parts', its)).rejects.toMatchObject({
      detail: expect.stringContaining('it would name other files, too'),
    })
  })

  test('links that lead out of the folder', async () => {
    const inside = join(folder, 'linked')
    await mkdir(inside)
    await writeFile(join(folder, 'secret.csv'), 'a\n1\n')
    await symlink(join(folder, 'secret.csv'), join(inside, 'leak.csv'))
    await writeFile(join(inside, 'real.csv'), 'a\n2\n')
    await symlink(join(inside, 'real.csv'), join(inside, 'same.csv'))
    await using other = await open({ dataDir: ':memory:', attach: { linked: inside } })
    const its = await other.createProject({ name: 'Shop' })
    await expect(sql('select * from linked.leak', its)).rejects.toMatchObject({
      code: 'attached-unreadable',
      detail: expect.stringContaining('link leads out'),
    })
    expect(await sql('select * from linked.same', its)).toEqual([[2]])
  })
})

describe('files that change', () => {
  const refreshed = async (of: LocalProject) => {
    const answer = (await of.query(
      {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'opened' }],
        dateRange: { date_from: '2026-03-01', date_to: '2026-03-02' },
        properties: [{ type: 'group', group_type_index: 0, key: 'b.plans.plan', value: 'pro', operator: 'exact' }],
      } as never,
      { refresh: 'blocking' },
    )) as unknown as { is_cached: boolean; results: { count: number }[] }
    return [answer.is_cached, answer.results[0]!.count]
  }

  test('a cached answer ends with the file that it read', async () => {
    const inside = join(folder, 'changing')
    const file = join(inside, 'plans.csv')
    await mkdir(inside)
    const write = async (text: string) => {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    }
    await write('company,plan\nacme,pro\nglobex,free\n')
    await using other = await open({
      dataDir: ':memory:',
      clock: () => now,
      attach: { b: { from: inside, properties: { 'plans.company': 'company' } } },
    })
    const its = await other.createProject({ name: 'Shop' })
    await fill(its)
    expect(await refreshed(its)).toEqual([false, 1])
    expect(await refreshed(its)).toEqual([true, 1])
    await write('company,plan\nacme,pro\nglobex,pro\n')
    expect(await refreshed(its)).toEqual([false, 2])
    expect(await refreshed(its)).toEqual([true, 2])
    await utimes(file, now, now)
    expect(await sql('select plan from b.plans', its)).toEqual([['pro'], ['pro']])
    await write('company,plan,seats\nacme,pro,3\n')
    expect(await sql('select seats from b.plans', its)).toEqual([[3]])
    await rm(file)
    await expect(sql('select seats from b.plans', its)).rejects.toMatchObject({ code: 'unknown-table' })
  })

  test('a file that cannot be read fails its table only', async () => {
    const inside = join(folder, 'broken')
    await mkdir(inside)
    await writeFile(join(inside, 'bad.parquet'), 'not parquet at all')
    await writeFile(join(inside, 'good.csv'), 'a\n1\n')
    await using other = await open({ dataDir: ':memory:', attach: { mixed: inside } })
    const its = await other.createProject({ name: 'Shop' })
    const failure = sql('select * from mixed.bad', its)
    await expect(failure).rejects.toMatchObject({ code: 'attached-unreadable', detail: expect.stringContaining('bad.parquet') })
    await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining(folder) })
    expect(await sql('select a from mixed.good', its)).toEqual([[1]])
  })

  test('a table that is one too many says so', async () => {
    const inside = join(folder, 'many')
    await mkdir(inside)
    await Promise.all(Array.from({ length: 201 }, (_, i) => writeFile(join(inside, `t${1000 + i}.csv`), `a\n${i}\n`)))
    await using other = await open({ dataDir: ':memory:', attach: { many: inside } })
    const its = await other.createProject({ name: 'Shop' })
    expect(await sql('select a from many.t1199', its)).toEqual([[199]])
    await expect(sql('select a from many.t1200', its)).rejects.toMatchObject({
      code: 'attached-unreadable',
      detail: expect.stringContaining('201 tables, and the first 200 by name are attached'),
    })
  })
})

describe('who sees it', () => {
  test('all projects of one organization, the listed ones of several', async () => {
    const inside = join(folder, 'billing')
    await using other = await open({ dataDir: ':memory:', attach: { all: inside, some: { from: inside, projects: [2] } } })
    const [first, second] = [await other.createProject({ name: 'A' }), await other.createProject({ name: 'B' })]
    const sees = async (of: LocalProject, name: string) =>
      sql(`select count() from ${name}.plans`, of).then(
        () => true,
        ({ code }) => code,
      )
    expect([await sees(first, 'all'), await sees(second, 'all')]).toEqual([true, true])
    expect([await sees(first, 'some'), await sees(second, 'some')]).toEqual(['unknown-table', true])
    await other.createOrganization({ name: 'Others' })
    expect([await sees(first, 'all'), await sees(second, 'all')]).toEqual(['unknown-table', 'unknown-table'])
    expect(await sees(second, 'some')).toBe(true)
  })

  test.each([
    ['a name of a table', { events: '.' }],
    ['a name that is no word', { 'a b': '.' }],
    ['an address of something else', { a: 'https://example.com' }],
    ['a folder that is missing', { a: '/nowhere/at/all' }],
    ['projects that are no ids', { a: { from: '.', projects: ['x'] } }],
    ['an unknown option', { a: { from: '.', project: 1 } }],
    ['properties without a key', { a: { from: '.', properties: { plans: 'company' } } }],
    ['a copy without a data directory', { a: 's3://bucket' }],
  ])('%s is refused when the directory is opened', async (_, attach) => {
    await expect(open({ dataDir: ':memory:', attach: attach as never })).rejects.toMatchObject({
      code: 'validation-failed',
      attr: expect.stringMatching(/^attach/),
    })
  })

  test('an engine of its own', async () => {
    const engine = { clickhouse: { url: 'http://127.0.0.1:1' } }
    await expect(open({ dataDir: ':memory:', engine, attach: { a: '.' } })).rejects.toMatchObject({
      attr: 'attach',
      detail: expect.stringContaining('ClickHouse'),
    })
  })
})

test('a cohort says that it cannot have such a condition', async () => {
  const condition = { type: 'person', key: 'billing.customers.tier', value: 'gold', operator: 'exact' }
  const created = project.cohorts.create({ name: 'Gold', filters: { properties: { type: 'AND', values: [condition] } } })
  await expect(created).rejects.toMatchObject({ code: 'unsupported-syntax', detail: expect.stringContaining('billing.customers') })
})
