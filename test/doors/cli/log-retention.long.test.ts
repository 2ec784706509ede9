import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { splitLog } from '../../harness/split-log.ts'
import { finish, firstLine, run, start } from './shell.ts'

// What a server removes of its logs, and that it compresses the rest; commands without a server remove nothing.

const data = mkdtempSync(join(tmpdir(), 'waymark-retention-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(data, { recursive: true, force: true })
})
const log = join(data, 'projects/1/log')
const env = { WAYMARK_BOOTSTRAP_PROJECT_API_KEY: 'phc_retention', WAYMARK_BOOTSTRAP_PERSONAL_API_KEY: 'phx_retention' }
const names = () => readdirSync(log).sort()
const isCompressed = (name: string) => readFileSync(join(log, name)).readUInt16BE(0) === 0x1f8b
const age = (hours: number, of: readonly string[]) => {
  const time = new Date(Date.now() - hours * 3_600_000)
  for (const name of of) utimesSync(join(log, name), time, time)
}
const count = "select count(), sum(properties.n) from events where event = 'e'"

/** Serves, sends one event, waits until `isDone`, and stops. */
async function served(args: readonly string[], more: Record<string, string>, isDone: () => boolean): Promise<string> {
  const child = start(['serve', '--data', data, '--port', '0', '--json', ...args], { ...env, ...more })
  children.push(child)
  const ended = finish(child)
  const { url } = JSON.parse(await firstLine(child))
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.WAYMARK_BOOTSTRAP_PERSONAL_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  expect((await post('/capture/', { api_key: env.WAYMARK_BOOTSTRAP_PROJECT_API_KEY, event: 'other', distinct_id: 'd' })).status).toBe(200)
  const answer = await post('/api/projects/1/query/', { query: { kind: 'SqlLikeQuery', query: count } })
  expect(((await answer.json()) as { results: unknown }).results).toEqual([[300, 44_850]])
  await expect.poll(isDone).toBe(true)
  child.kill('SIGTERM')
  const { code, err } = await ended
  expect(code).toBe(0)
  return err
}

test('--log-keep and --log-size decide what a server keeps of its logs', async () => {
  const batch = (from: number) =>
    Array.from({ length: 50 }, (_, i) => ({
      event: 'e',
      distinct_id: `d${i}`,
      timestamp: '2026-01-01T00:00:00Z',
      properties: { n: from + i },
    }))
  expect((await run(['init', '--data', data], env)).code).toBe(0)
  const child = start(['serve', '--data', data, '--port', '0', '--json'], env)
  children.push(child)
  const ended = finish(child)
  const { url } = JSON.parse(await firstLine(child))
  for (let from = 0; from < 300; from += 50) {
    const body = JSON.stringify({ api_key: env.WAYMARK_BOOTSTRAP_PROJECT_API_KEY, batch: batch(from) })
    expect((await fetch(`${url}/batch/`, { method: 'POST', body })).status).toBe(200)
  }
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await splitLog(log, 1)
  const all = names()
  expect(all).toHaveLength(6)

  age(9 * 24, all.slice(0, 2))
  const asked = await run(['query', count, '--data', data, '--project', '1'])
  expect([asked.code, asked.out]).toEqual([0, expect.stringContaining('44850')])
  expect(names()).toEqual(all)

  await served(['--log-keep', '30d'], {}, () => all.slice(0, -1).every(isCompressed))
  expect(names().slice(0, 6)).toEqual(all)
  await served(['--log-keep', '200h'], {}, () => !names().includes(all[1]!))
  expect(names().slice(0, 4)).toEqual(all.slice(2))
  const sizes = names().map((name) => statSync(join(log, name)).size)
  const most = sizes.reduce((sum, size) => sum + size, 0) - 1
  await served([], { WAYMARK_LOG_SIZE: `${most}B` }, () => !names().includes(all[2]!))
  expect(names()).toContain(all[3])
})
