import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@clickhouse/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { EngineChoice } from '../../src/index.ts'
import { deferred } from '../../src/lib/flow/deferred.ts'
import type { LocalProject } from '../../src/project.ts'
import { runPlugin } from '../harness/plugin-rows.ts'
import { hasClickHouse, testLayout } from './chdb.ts'
import { type ClickHouseHttpServer, type Fault, type Received, startClickHouseServer } from './http-server.ts'

// The engine as it is used: the client's own connections, over HTTP, to servers that are well and to servers that are not.

const sql = (query: string) => ({ kind: 'SqlLikeQuery', query }) as const
const isInsertOf = (table: string) => (received: Received) => received.query.startsWith(`INSERT INTO ${table} `)
const day = '2026-01-05T10:00:00Z'

describe.skipIf(!hasClickHouse)('ClickHouse over HTTP', () => {
  let server: ClickHouseHttpServer
  let waymark: LocalWaymark
  let project: LocalProject
  let databases = 0
  const errors: unknown[] = []
  const address = () => {
    const { origin, username, password } = new URL(server.url)
    return { url: origin, username, password: decodeURIComponent(password), ...testLayout }
  }
  const engineOf = (more: object = {}): EngineChoice => ({ clickhouse: { ...address(), database: `db_${++databases}`, ...more } })
  const openOn = (engine: EngineChoice) => open({ dataDir: ':memory:', engine, onError: (error) => errors.push(error) })
  const results = async (query: string, of = project) => (await of.query(sql(query))).results
  const unreachable = { code: 'engine-unreachable', status: 503, isRetryable: true }

  beforeAll(async () => {
    server = await startClickHouseServer()
    waymark = await openOn(engineOf())
    project = await waymark.createProject({ name: 'Shop' })
    await project.ingest({
      batch: [1, 2, 3].map((n) => ({
        event: 'buy',
        distinct_id: `u${n % 2}`,
        timestamp: day,
        properties: { n, text: `it's \\ \n\t ${n}` },
      })),
    })
  })
  afterEach(() => {
    server.fault = null
    errors.length = 0
  })
  afterAll(async () => {
    await waymark?.close()
    await server?.close()
  })

  describe('a server that cannot be used is refused with a reason', () => {
    const refused = async (clickhouse: object) => {
      const failure = await open({ dataDir: ':memory:', engine: { clickhouse } as EngineChoice }).then(
        async (opened) => opened.close(),
        (error: Error) => error,
      )
      expect(failure).toMatchObject({ name: 'WaymarkError', code: 'command-failed' })
      expect((failure as Error).message).not.toContain('secret')
      return (failure as Error).message
    }

    test('events pass the plugins of a project before they are inserted', async () => {
      const shop = await waymark.createProject({ name: 'Plugins' })
      const code =
        'export function processEvent(event) { if (event.event === "gone") return null; event.properties.seen = event.event; return event }'
      await runPlugin(waymark, shop.id, code)
      await shop.ingest({ batch: ['gone', 'kept'].map((event) => ({ event, distinct_id: 'u', timestamp: day })) })
      expect(await results('select event, properties.seen from events', shop)).toEqual([['kept', 'kept']])
    })

    test('a wrong password', async () => {
      expect(await refused({ ...address(), password: 'secret' })).toMatch(
        /^ClickHouse at 127\.0\.0\.1:\d+ cannot be used: waymark: Authentication failed.*Check the username and the password\.$/s,
      )
    })
    test('a port that nothing listens on', async () => {
      expect(await refused({ url: 'http://127.0.0.1:9', password: 'secret' })).toBe(
        'ClickHouse at 127.0.0.1:9 cannot be used: the connection was refused. Check the URL, and that the server runs.',
      )
    })
    test('a host that does not exist', async () => {
      expect(await refused({ url: 'http://nowhere.invalid:8123' })).toBe(
        'ClickHouse at nowhere.invalid:8123 cannot be used: the host was not found. Check the URL, and that the server runs.',
      )
    })
    test.each([
      ['a page', 200, '<html>Welcome</html>'],
      ['an error page', 404, `<html>${'Not found. '.repeat(200)}</html>`],
    ])('another server that answers %s', async (_, status, text) => {
      const other = createServer((request, response) => {
        request.resume()
        response.writeHead(status, { 'content-type': 'text/html' }).end(text)
      })
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      const { port } = other.address() as AddressInfo
      expect(await refused({ url: `http://127.0.0.1:${port}` })).toBe(
        `ClickHouse at 127.0.0.1:${port} cannot be used: the server at this URL is not ClickHouse. Check the URL: the port of its HTTP interface is 8123, or 8443 for https.`,
      )
      other.close()
    })
    test('one that is too old', async () => {
      server.fault = ({ query }) => (/version\(\)/.test(query) ? { kind: 'other', status: 200, text: '22.3.1.1\n' } : null)
      expect(await refused(address())).toMatch(/ cannot be used: it is version 22\.3\.1\.1, and Waymark needs \d+\.\d+ or later\.$/)
    })
    test('one on which the user may not create the database', async () => {
      server.fault = ({ query }) =>
        /^CREATE DATABASE/.test(query) ? { kind: 'refusal', code: 497, text: 'waymark: Not enough privileges. (ACCESS_DENIED)' } : null
      expect(await refused(address())).toMatch(/cannot be used: waymark: Not enough privileges/)
    })
  })

  test('nothing is printed by the client', async () => {
    const printed: unknown[] = []
    const { warn, error } = console
    console.warn = (...words: unknown[]) => printed.push(words)
    console.error = console.warn
    try {
      const other = await openOn(engineOf())
      await other.close()
      server.fault = ({ query }) => (/from numbers/.test(query) ? { kind: 'refusal', code: 1, text: 'No. (NO)' } : null)
      await project.query(sql('select 1 from numbers(3)')).catch(() => undefined)
    } finally {
      Object.assign(console, { warn, error })
    }
    expect(printed).toEqual([])
  })

  test('every kind of query', async () => {
    expect(await results('select event, count(), uniq(person_id) from events group by event')).toEqual([['buy', 3, 2]])
    const series = [{ kind: 'EventsNode', event: 'buy' }] as const
    const range = { date_from: '2026-01-01', date_to: '2026-01-10' }
    const trends = await project.query({ kind: 'TrendsQuery', series: [...series], dateRange: range } as never)
    expect(JSON.stringify(trends)).toContain('"count":3')
    const funnel = await project.query({ kind: 'FunnelsQuery', series: [...series, ...series], dateRange: range } as never)
    expect(JSON.stringify(funnel)).toContain('"count":1')
    expect((await project.query({ kind: 'EventsQuery', select: ['event'], after: '2026-01-01' } as never)).results).toHaveLength(3)
    const [[personId, count]] = (await results(
      'select toString(person_id) as id, count() from events group by id order by id limit 1',
    )) as [[string, number]]
    for (const [id, found] of [
      [personId, count],
      [personId.toUpperCase(), count],
      ['00000000-0000-4000-8000-000000000000', 0],
      ['nobody', 0],
    ] as const)
      expect(
        (await project.query({ kind: 'EventsQuery', select: ['event'], after: '2026-01-01', personId: id } as never)).results,
      ).toHaveLength(found)
    expect((await project.query({ kind: 'ActorsQuery' } as never)).results).toHaveLength(2)
    expect((await project.queryArrow(sql('select properties.n from events'))).numRows).toBe(3)
  })

  test.each([
    ["throwIf(toInt(properties.n) = 2, 'too many')", 'too many'],
    ['throwIf(toInt(properties.n) = 2)', 'Value passed to throwIf is not zero'],
    ["throwIf(count() > 0, 'some')", 'some'],
  ])('what a statement raises by itself is said as it is: %s', async (raising, message) => {
    await expect(results(`select ${raising} from events`)).rejects.toMatchObject({ code: 'engine-refused', detail: message })
    expect(await results('select count() from events'), 'the next answer').toEqual([[3]])
  })

  test('a question is one request as long as nothing has changed, and sees what has', async () => {
    const own = await waymark.createProject({ name: 'Quiet' })
    const sent: string[] = []
    const event = (plan: unknown) => ({ event: 'buy', distinct_id: 'u', timestamp: day, properties: { plan } })
    await own.ingest({ batch: [event('a')] })
    const ask = async () => {
      sent.length = 0
      return results('select count(), max(properties.plan) from events', own)
    }
    server.fault = ({ query }) => {
      sent.push(query)
      return null
    }
    await ask()
    for (const plan of ['b', 'c']) {
      expect(await ask()).toEqual(plan === 'b' ? [[1, 'a']] : [[2, 'b']])
      expect(sent).toHaveLength(1)
      await own.ingest({ batch: [event(plan)] })
      expect(await ask()).toEqual(plan === 'b' ? [[2, 'b']] : [[3, 'c']])
    }
    await own.actions.create({ name: 'bought', steps: [{ event: 'buy' }] })
    expect(await results("select count() from events where matchesAction('bought')", own)).toEqual([[3]])
  })

  test('values are parameters, whatever is in them', async () => {
    for (const text of ["it's", '\\', '\\n', '\n', '\t', '\r', '\0x', 'ä😀', '%41+&=', "{p1:String} '", '\\N', 'null', ''])
      expect(await project.sql`select ${text} as v`.then(({ results: rows }) => rows), JSON.stringify(text)).toEqual([[text]])
    expect(await results("select properties.text from events where properties.text = 'it''s \\\\ \n\t 2'")).toEqual([["it's \\ \n\t 2"]])
  })

  test('more values than the URL of a request holds', async () => {
    const many = Array.from({ length: 30_000 }, (_, i) => `'value number ${i}'`).join(', ')
    expect(await results(`select count() from events where event in (${many}, 'buy')`)).toEqual([[3]])
    expect(server.received.at(-1)).toMatchObject({ isMultipart: true })
    expect(Math.max(...server.received.map(({ urlBytes }) => urlBytes))).toBeLessThan(16_384)
  })

  test('a statement that is longer than the default of the server', async () => {
    const columns = Array.from({ length: 400 }, (_, i) => `if(properties.n = ${i}, 1, 0) as ${'c'.repeat(600)}${i}`)
    const [row] = await results(`select ${columns.join(', ')} from events where properties.n = 1`)
    expect((row as number[]).slice(0, 3)).toEqual([0, 1, 0])
    expect(server.received.at(-1)!.query.length).toBeGreaterThan(262_144)
  })

  test('a value that is longer than a parameter may be', async () => {
    const text = 'x'.repeat(200_000)
    await expect(project.query(sql(`select length('${text}')`))).rejects.toMatchObject({
      code: 'engine-refused',
      message: expect.stringMatching(/A text of 200,000 bytes .* 131,072 bytes/),
    })
  })

  test('settings of the operator go with each query, and a query only reads', async () => {
    const other = await openOn(engineOf({ settings: { max_block_size: 7 } }))
    const own = await other.createProject({ name: 'Own' })
    expect(await results('select count() from numbers(50)', own)).toEqual([[50]])
    expect(server.received.at(-1)!.settings).toMatchObject({ max_block_size: '7', readonly: '2', final: '1' })
    await other.close()
  })

  test('a client that compresses requests and answers', async () => {
    const client = createClient({ ...address(), database: 'default', compression: { request: true, response: true } })
    const other = await openOn({ clickhouse: { client } } as EngineChoice)
    const own = await other.createProject({ name: 'Packed' })
    await own.ingest({ batch: [{ event: 'packed', distinct_id: 'u' }] })
    expect(await results('select event, count() from events group by event', own)).toEqual([['packed', 1]])
    await other.close()
    await client.close()
  })

  test('answers that take long keep no other request from the server', async () => {
    server.fault = ({ query }) =>
      /numbers\(/.test(query) ? { kind: 'slow-answer', bytes: 5_000_000, until: new Promise(() => undefined) } : null
    const query = sql("select number, repeat('x', 40) as text from numbers(150000)")
    const readers = Array.from({ length: 12 }, () => project.queryArrowBatches(query))
    for (const reader of readers) expect((await reader.next()).value!.numRows).toBeGreaterThan(0)
    await project.ingest({ batch: [{ event: 'meanwhile', distinct_id: 'u9', timestamp: day }] })
    expect(await results("select count() from events where event = 'meanwhile'")).toEqual([[1]])
    for (const reader of readers) await reader.return(undefined)
    await expect.poll(() => server.running).toBe(0)
  })

  describe('a query that is stopped', () => {
    test('before its first row is killed on the server', async () => {
      const reached = deferred<void>()
      server.fault = ({ query }) => {
        if (!/numbers\(17\)/.test(query)) return null
        reached.resolve()
        return { kind: 'slow', until: new Promise(() => undefined) }
      }
      const stop = new AbortController()
      const asked = project.query(sql('select sum(number) from numbers(17)'), { signal: stop.signal })
      await reached.promise
      stop.abort()
      await expect(asked).rejects.toMatchObject({ code: 'query-cancelled' })
      await expect.poll(() => server.running).toBe(0)
      expect(server.received.some(({ query }) => query.startsWith('KILL QUERY'))).toBe(true)
    })

    test('between its rows, by whoever reads no more', async () => {
      const reader = project.queryArrowBatches(sql("select number, repeat('y', 400) as text from numbers(200000)"))
      await reader.next()
      await reader.return(undefined)
      await expect.poll(() => server.running).toBe(0)
    })
  })

  describe('an answer that breaks', () => {
    const query = "select number, repeat('z', 100) as text from numbers(100000) limit 10000"
    const broken = (text: string, isCut: boolean) => {
      server.fault = (received) => (/numbers\(/.test(received.query) ? { kind: 'broken-answer', bytes: 300_000, text, isCut } : null)
    }
    const whole = () => project.query(sql(query))
    const rows = async () => {
      let count = 0
      for await (const batch of project.queryArrowBatches(sql(query))) count += batch.numRows
      return count
    }
    const exception = 'Code: 241. DB::Exception: Query memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.1.1.1 (official build))\n'

    test.each([
      ['whole', whole],
      ['in batches', rows],
    ])('with an exception behind its first rows, %s', async (_, ask) => {
      for (const isCut of [true, false]) {
        broken(isCut ? `\r\n__exception__\r\nabcdefghijklmnop\r\n${exception}100 abcdefghijklmnop\r\n__exception__\r\n` : exception, isCut)
        await expect(ask()).rejects.toMatchObject({ code: 'query-memory' })
      }
    })
    test.each([
      ['whole', whole],
      ['in batches', rows],
    ])('without a word, %s', async (_, ask) => {
      for (const isCut of [true, false]) {
        broken('', isCut)
        await expect(ask(), isCut ? 'the connection broke' : 'the answer ended').rejects.toMatchObject(unreachable)
      }
    })
    test('at the end of a batch', async () => {
      server.fault = ({ query }) => (/numbers\(/.test(query) ? { kind: 'broken-answer', bytes: -8, text: '', isCut: false } : null)
      await expect(rows()).rejects.toMatchObject(unreachable)
    })
  })

  describe('a server that is gone', () => {
    test('queries say so, events are acknowledged, and nothing is lost when it is back', async () => {
      await server.stop()
      try {
        await expect(results('select count() from events')).rejects.toMatchObject({
          ...unreachable,
          message: expect.stringMatching(
            /^The ClickHouse server cannot be reached: the connection was (?:refused|broken)\. .*acknowledged/,
          ),
        })
        await project.ingest({ batch: [{ event: 'while it was gone', distinct_id: 'u1', timestamp: day }] })
      } finally {
        await server.start()
      }
      await expect.poll(() => results("select count() from events where event = 'while it was gone'").catch(() => null)).toEqual([[1]])
    })

    test.each([
      [202, 'Too many simultaneous queries. Maximum: 100. (TOO_MANY_SIMULTANEOUS_QUERIES)', { code: 'busy', status: 503 }],
      [159, 'Timeout exceeded: elapsed 5 seconds, maximum: 5. (TIMEOUT_EXCEEDED)', { code: 'engine-refused' }],
      [158, 'Limit for rows to read exceeded: max rows: 10.00. (TOO_MANY_ROWS)', { code: 'engine-refused' }],
      [168, 'AST is too big. Maximum: 50000. (TOO_BIG_AST)', { code: 'engine-refused' }],
      [497, 'waymark: Not enough privileges. (ACCESS_DENIED)', { code: 'engine-unreachable' }],
      [516, 'waymark: Authentication failed. (AUTHENTICATION_FAILED)', { code: 'engine-unreachable' }],
      [49, 'Logical error. (LOGICAL_ERROR)', { name: 'InternalError' }],
    ])('error %i of the server', async (code, text, expected) => {
      server.fault = ({ query }) => (/numbers\(/.test(query) ? { kind: 'refusal', code, text } : null)
      await expect(project.query(sql('select 1 from numbers(3)'))).rejects.toMatchObject(expected)
    })

    test('a slow one delays what it writes, and no acknowledgement', async () => {
      const until = deferred<void>()
      server.fault = (received) => (isInsertOf('events')(received) ? { kind: 'slow', until: until.promise } : null)
      await project.ingest({ batch: [{ event: 'slowly', distinct_id: 'u1', timestamp: day }] })
      const asked = results("select count() from events where event = 'slowly'")
      await expect.poll(() => server.running).toBeGreaterThan(0)
      until.resolve()
      expect(await asked).toEqual([[1]])
    })
  })

  describe('a write that fails', () => {
    const batch = (name: string) => [
      { event: name, distinct_id: `${name} anonymous`, timestamp: day, properties: { $set: { first: 1 } } },
      {
        event: '$identify',
        distinct_id: `${name} known`,
        timestamp: day,
        properties: { $anon_distinct_id: `${name} anonymous`, $set: { plan: 'pro' } },
      },
      ...Array.from({ length: 20 }, (_, n) => ({ event: name, distinct_id: `${name} known`, timestamp: day, properties: { n } })),
    ]
    const stateOf = async (name: string) => [
      ...((await results(
        `select count(), count(distinct uuid), sum(properties.n), count(distinct person_id) from events where event = '${name}'`,
      )) as unknown[]),
      ...((await results(
        `select person.properties.plan, person.properties.first, count() from events where event = '${name}' group by 1, 2`,
      )) as unknown[]),
    ]
    const whole = [
      [21, 21, 190, 1],
      ['pro', '1', 21],
    ]
    const late = deferred<void>()
    const faults: readonly (readonly [string, Fault])[] = [
      ['before it is carried out', { kind: 'cut' }],
      ['in the middle of its rows', { kind: 'cut-within', share: 0.5 }],
      ['after it is carried out', { kind: 'cut-after' }],
      ['and is carried out after it was tried again', { kind: 'late', until: late.promise }],
    ]

    test.each(faults)('%s loses and doubles nothing, whichever write of the group it is', async (why, fault) => {
      for (let at = 0, isOver = false; !isOver; at++) {
        let writes = 0
        let hasFailed = false
        server.fault = ({ query, id }) => {
          if (hasFailed || !/^(INSERT|ALTER|DELETE)/.test(query) || writes++ < at) return null
          hasFailed = true
          expect(id).toMatch(/^waymark-/)
          return fault
        }
        const name = `${why} ${at}`
        await project.ingest({ batch: batch(name) })
        const rest = () => results(`select count() from events where event = '${name}'`).catch(() => null)
        await expect.poll(rest).toEqual([[21]])
        isOver = !hasFailed
        server.fault = null
        if (fault.kind === 'late' && isOver) {
          late.resolve() // what is still waiting is carried out now
          await expect.poll(() => server.running).toBe(0)
        }
        expect(await stateOf(name), `write ${at}`).toEqual(whole)
      }
      expect(errors.length).toBeGreaterThan(5)
    })
  })
})
