import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { finish, firstLine, start } from '../cli/shell.ts'

// A started server with `--postgres-port`, and clients of it.

export interface SentEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties?: Readonly<Record<string, unknown>>
}

const someEvents: readonly SentEvent[] = [
  { event: 'buy', distinct_id: 'ann', timestamp: '2024-03-01T11:00:00Z', properties: { plan: 'pro', price: 5, gift: true } },
  { event: 'buy', distinct_id: 'ann', timestamp: '2024-03-04T09:00:00.123456Z', properties: { plan: 'pro', price: 7.5, gift: false } },
  { event: 'view', distinct_id: 'ann', timestamp: '2024-03-01T10:00:00Z', properties: { plan: 'pro' } },
  { event: 'view', distinct_id: 'bob', timestamp: '2024-03-02T10:00:00Z', properties: { path: '/start' } },
]

export interface Served {
  readonly url: string
  readonly port: number
  readonly key: string
  readonly process: ChildProcess
  call(method: string, path: string, body?: object): Promise<Response>
  client(more?: pg.ClientConfig): Promise<pg.Client>
  close(): Promise<void>
}

export async function served(events: readonly SentEvent[] = someEvents, more: readonly string[] = []): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-postgres-'))
  const child = start([
    'serve',
    '--data',
    folder,
    '--port',
    '0',
    '--postgres-port',
    '0',
    '--json',
    '--memory',
    '300MB',
    '--one-process',
    '--slow-query',
    'never',
    ...more,
  ])
  const ended = finish(child)
  const facts = JSON.parse(await firstLine(child)) as {
    url: string
    postgres_port: number
    project_api_key: string
    personal_api_key: string
  }
  const { url, postgres_port: port, personal_api_key: key } = facts
  const clients: pg.Client[] = []
  for (let from = 0; from < events.length; from += 4000) {
    const body = JSON.stringify({ api_key: facts.project_api_key, batch: events.slice(from, from + 4000) })
    const answer = await fetch(`${url}/batch/`, { method: 'POST', body })
    if (answer.status !== 200) throw new Error(await answer.text())
  }
  return {
    url,
    port,
    key,
    process: child,
    call: (method, path, body) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    client: async (given = {}) => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'anybody', password: key, database: '1', ...given })
      client.on('error', () => undefined)
      await client.connect()
      clients.push(client)
      return client
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
      child.kill('SIGTERM')
      const { code, err } = await ended
      await rm(folder, { recursive: true, force: true })
      const errors = err.split('\n').filter((line) => line.includes('"level":"error"'))
      if (code !== 0 || errors.length > 0) throw new Error(`The server ended with ${code}: ${errors.join('\n')}`)
    },
  }
}

/** The refusal of a statement. */
export const refusal = async (asked: Promise<unknown>): Promise<{ code?: string; message: string; position?: string; hint?: string }> => {
  try {
    await asked
  } catch (error) {
    return error as { code?: string; message: string }
  }
  throw new Error('It was not refused.')
}
