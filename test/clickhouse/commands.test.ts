import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { finish, firstLine, run, start } from '../doors/cli/shell.ts'
import { hasClickHouse } from './chdb.ts'
import { type ClickHouseHttpServer, startClickHouseServer } from './http-server.ts'

// The commands of the binary with --clickhouse, on a server over HTTP.

describe.skipIf(!hasClickHouse)('commands with --clickhouse', () => {
  let clickhouse: ClickHouseHttpServer
  let folder: string
  let databases = 0
  const addressOf = (database: string) => `${clickhouse.url}/${database}`
  const directory = async () => {
    const data = join(folder, `data ${++databases}`)
    const address = addressOf(`commands_${databases}`)
    return { data, address, command: (...args: string[]) => run([...args, '--data', data, '--clickhouse', address]) }
  }

  beforeAll(async () => {
    clickhouse = await startClickHouseServer()
    folder = await mkdtemp(join(tmpdir(), 'waymark-clickhouse-'))
    const line = (i: number) =>
      JSON.stringify({ event: 'old', distinct_id: `u${i}`, timestamp: '2026-01-01T00:00:00Z', properties: { n: i } })
    await writeFile(join(folder, 'old.jsonl'), Array.from({ length: 30 }, (_, i) => line(i)).join('\n'))
  })
  afterEach(() => {
    clickhouse.fault = null
  })
  afterAll(async () => {
    await clickhouse?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('init, import, query, doctor, keys', async () => {
    const { data, address, command } = await directory()
    expect(await command('init', '--json')).toMatchObject({ code: 0 })
    const imported = await command('import', join(folder, 'old.jsonl'), '--project', '1')
    expect([imported.code, imported.out.split('\n')[0], imported.err]).toEqual([0, 'Stored           30 events of 30 rows', ''])
    const asked = await command(
      'query',
      '--project',
      '1',
      '--format',
      'csv',
      'select event, count() as n, sum(properties.n) as s from events group by event',
    )
    expect([asked.out, asked.err]).toEqual(['event,n,s\nold,30,435\n', ''])
    expect(await command('properties', 'list', '--project', '1')).toMatchObject({ code: 0, out: expect.stringContaining('numeric') })
    expect(await command('projects', 'list')).toMatchObject({ code: 0 })

    const looked = await command('doctor')
    expect(looked).toMatchObject({ code: 0, err: '' })
    expect(looked.out).toMatch(new RegExp(`^ClickHouse       127\\.0\\.0\\.1:${clickhouse.port}, database commands_${databases}$`, 'm'))
    expect(looked.out).toMatch(/^Project 1 {7} 30 events, store on the server, log /m)
    expect(looked.out).toMatch(/All is well/)
    expect(looked.out).not.toContain('p%40ss')

    for (const words of [['query', '--project', '1', 'select 1'], ['doctor'], ['serve', '--port', '0'], ['projects', 'list']])
      expect(await run([...words, '--data', data]), words[0]).toMatchObject({
        code: 1,
        err: expect.stringMatching(/its events are on a ClickHouse server\. Set the URL of that server: `--clickhouse URL`/),
      })
    const byEnvironment = await run(['query', '--project', '1', '--data', data, '--format', 'csv', 'select count() as n from events'], {
      WAYMARK_CLICKHOUSE: `${address}?max_block_size=7`,
    })
    expect([byEnvironment.out, byEnvironment.err]).toEqual(['n\n30\n', ''])
    expect(clickhouse.received.some(({ settings }) => settings.max_block_size === '7' && settings.readonly === '2')).toBe(true)

    const other = await directory()
    await run(['init', '--data', other.data])
    const refused = await run(['doctor', '--data', other.data, '--clickhouse', address])
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/belongs to another data directory/)])
  })

  test('doctor changes nothing on the server, and creates no database', async () => {
    const { data } = await directory()
    await run(['init', '--data', data])
    const missing = await run(['doctor', '--data', data, '--clickhouse', addressOf('not_there')])
    expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/cannot be used: it has no database not_there\.\n$/)])
    expect(clickhouse.received.filter(({ query }) => /not_there/.test(query) && !/^SELECT/.test(query))).toEqual([])
  })

  test.each([
    ['127.0.0.1:8123', /--clickhouse takes http:\/\/user:password@host:8123\/database: this is not an http or https URL/],
    ['tcp://host:9000', /this is not an http or https URL/],
    ['http://host:8123/a/b', /the path is the name of a database, not \/a\/b/],
    ['http://waymark:50%off@host:8123', /write a % in the user, the password or the database as %25/],
  ])('an address that is none: %s', async (address, message) => {
    for (const words of [['query', '--project', '1', 'select 1'], ['doctor'], ['serve', '--port', '0']]) {
      const { code, err } = await run([...words, '--data', folder, '--clickhouse', address])
      expect([code, err], words[0]).toEqual([2, expect.stringMatching(message)])
    }
  })

  describe('serve', () => {
    const served = async (...more: string[]) => {
      const { data, address } = await directory()
      const child = start(['serve', '--data', data, '--port', '0', '--json', ...more], { WAYMARK_CLICKHOUSE: address })
      const ended = finish(child)
      onTestFinished(() => void child.kill('SIGKILL'))
      const facts = JSON.parse(await firstLine(child)) as { url: string; project_api_key: string; personal_api_key: string }
      const post = (path: string, body: object, key?: string) =>
        fetch(new URL(path, facts.url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
          body: JSON.stringify(body),
        })
      return {
        child,
        capture: async (event: string) => (await post('/capture/', { api_key: facts.project_api_key, event, distinct_id: 'u' })).status,
        async ask(query: string): Promise<unknown> {
          const answer = await post('/api/projects/1/query/', { query: { kind: 'SqlLikeQuery', query } }, facts.personal_api_key)
          const body = (await answer.json()) as { results?: unknown; detail?: string }
          return answer.ok ? body.results : { status: answer.status, detail: body.detail }
        },
        engine: () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').map(Number)[0]!,
        async stop() {
          child.kill('SIGTERM')
          return (await ended).code
        },
        ended,
      }
    }
    const counted = 'select event, count() from events group by event order by event'

    test.each([['in two processes'], ['in one process', '--one-process']])('%s', async (_, ...more) => {
      const server = await served(...more)
      expect(await server.capture('first')).toBe(200)
      expect(await server.ask(counted)).toEqual([['first', 1]])
      expect(await server.stop()).toBe(0)
    })

    test('captures while ClickHouse is gone and while the engine cannot start, and has everything when it is back', async () => {
      const server = await served()
      expect(await server.capture('before')).toBe(200)
      expect(await server.ask(counted)).toEqual([['before', 1]])
      await clickhouse.stop()
      try {
        expect(await server.capture('gone')).toBe(200)
        expect(await server.ask(counted)).toEqual({
          status: 503,
          detail: expect.stringContaining('The ClickHouse server cannot be reached'),
        })
        const first = server.engine()
        process.kill(first, 'SIGKILL')
        await expect.poll(() => server.engine()).not.toBe(first)
        const waiting = server.ask(counted) // from before it is known that the next one cannot start
        const second = server.engine()
        await expect.poll(() => server.engine()).not.toBe(second) // it could not connect, and is started again
        expect(await server.capture('gone')).toBe(200)
        for (const refusal of [await waiting, await server.ask(counted)])
          expect(refusal).toEqual({ status: 503, detail: expect.stringMatching(/^The engine cannot be reached: ClickHouse at /) })
      } finally {
        await clickhouse.start()
      }
      await expect
        .poll(() => server.ask(counted))
        .toEqual([
          ['before', 1],
          ['gone', 2],
        ])
      expect(await server.stop()).toBe(0)
    })

    test('a server that cannot be reached at the start ends it with the reason', async () => {
      const { data } = await directory()
      for (const more of [[], ['--one-process']]) {
        const { code, err } = await finish(
          start(['serve', '--data', data, '--port', '0', '--clickhouse', 'http://waymark:hidden@127.0.0.1:9', ...more]),
        )
        expect([code, err]).toEqual([
          1,
          'waymark: ClickHouse at 127.0.0.1:9 cannot be used: the connection was refused. Check the URL, and that the server runs.\n',
        ])
      }
    })
  })
})
