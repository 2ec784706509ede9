import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { program } from '../../harness/programs.ts'
import { finish, firstLine, run, start } from './shell.ts'

// `waymark mcp` as a client starts it, over pipes: a directory by itself, one that a server has open, a server with a key.

let folder: string
let data: string
let key: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-mcp-'))
  data = join(folder, 'data')
  key = JSON.parse((await run(['init', '--data', data, '--json'])).out).personal_api_key
  const event = (event: string) => JSON.stringify({ event, distinct_id: 'u', timestamp: '2026-01-01T00:00:00Z' })
  await writeFile(join(folder, 'events.jsonl'), [event('a'), event('a'), event('b')].join('\n'))
  await run(['import', join(folder, 'events.jsonl'), '--data', data, '--project', '1'])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function speaking<T>(args: readonly string[], speak: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program('cli'), 'mcp', ...args] }))
  try {
    return await speak(client)
  } finally {
    await client.close()
  }
}
const counted = async (client: Client) => {
  const query = 'select event, count() from events group by event order by event'
  const { content } = await client.callTool({ name: 'run_sql', arguments: { query } })
  return (content as readonly { readonly text: string }[])[0]!.text.split('\n').slice(2, 5)
}
const rows = ['event\tcount()', 'a\t2', 'b\t1']
const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

test('a directory that nobody has open: only tools that read, and all with --write', async () => {
  expect(await speaking(['--data', data], counted)).toEqual(rows)
  expect(await speaking(['--data', data], names)).not.toContain('annotate')
  expect(await speaking(['--data', data, '--write'], names)).toContain('annotate')
})

test('the same beside a server, and with its address and a key', async () => {
  const server = start(['serve', '--data', data, '--port', '0', '--json'])
  const ended = finish(server)
  const { url } = JSON.parse(await firstLine(server)) as { readonly url: string }
  expect(await speaking(['--data', data], counted)).toEqual(rows)
  expect(await speaking(['--url', url, '--key', key], counted)).toEqual(rows)
  const page = async (client: Client) => {
    const { content } = await client.callTool({ name: 'query_trends', arguments: { series: [{ event: 'a' }], date_from: 'all' } })
    return (content as readonly { readonly text: string }[])[0]!.text
  }
  expect(await speaking(['--url', url, '--key', key], page)).toContain(`Page: ${url}/#/project/1/insights/new?q=`)
  expect(
    await speaking(['--url', url, '--key', 'phx_wrong'], async (client) => (await client.callTool({ name: 'list_projects' })).isError),
  ).toBe(true)
  server.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})

test('wrong usage', async () => {
  expect(await run(['mcp', '--url', 'http://127.0.0.1:1'])).toMatchObject({ code: 2, err: expect.stringContaining('belong together') })
  expect(await run(['mcp', '--url', 'nowhere', '--key', 'k'])).toMatchObject({ code: 2, err: expect.stringContaining('must be a URL') })
  expect(await run(['mcp', '--data', join(folder, 'none')])).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not a data directory'),
  })
})
