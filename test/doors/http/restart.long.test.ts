import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, startServe } from '../../clients/served.ts'

// `waymark serve` in a process of its own, killed and told to stop while queries run.

let dataDir: string
let served: Served
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waymark-restart-'))
  served = await startServe({ dataDir })
})
afterAll(async () => {
  served?.process.kill('SIGKILL')
  await rm(dataDir, { recursive: true, force: true })
})

const sql = (query: string) => ({ kind: 'SqlLikeQuery', query })
const endless = sql('select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8')
const base = () => `/api/projects/${served.projectId}/query/`
const start = (id: string, query: object) => served.api('POST', base(), { query, async: true, client_query_id: id })
const status = async (id: string) => {
  const { body } = await served.api('GET', `${base()}${id}/`)
  return (body as { query_status: Record<string, unknown> }).query_status
}
const settled = async (id: string) => {
  for (;;) {
    const found = await status(id)
    if (found.complete || found.error) return found
    await new Promise((resume) => setImmediate(resume))
  }
}
const again = async (args: readonly string[] = []) => {
  served = await startServe({ dataDir, personalKey: served.personalKey, args })
}

test('killed: answers are kept, and what ran has an end', async () => {
  await start('done', sql('select 1 + 1'))
  const done = await settled('done')
  await start('running', endless)
  expect(await status('running')).toMatchObject({ complete: false, error: false })
  served.process.kill('SIGKILL')
  await once(served.process, 'exit')
  await again(['--drain-seconds', '5'])
  expect(await status('done')).toEqual(done)
  expect(done.results).toMatchObject({ results: [[2]] })
  expect(await status('running')).toMatchObject({ complete: false, error: true, error_message: 'The query was interrupted by a restart.' })
})

test('told to stop: requests that run are answered, queries that do not end are stopped and say so, no new ones come in', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const kept = () =>
    new Promise<string>((resolve, reject) => {
      get(`${served.url}/_livez`, { agent }, (answer) =>
        answer.resume().on('end', () => resolve(`${answer.headers.connection}, ${answer.headers['keep-alive']}`)),
      ).on('error', reject)
    })
  expect(await kept()).toBe('keep-alive, timeout=75')
  await start('endless', endless)
  const asked = served.api('POST', base(), { query: sql('select count() from numbers(3000000) where modulo(number, 7) = 3') })
  const isAsked = async () => /waymark_http_requests_in_flight 2\n/.test(await (await fetch(`${served.url}/metrics`)).text())
  while (!(await isAsked())) await new Promise((resume) => setImmediate(resume))
  served.process.kill('SIGTERM')
  expect((await asked).status).toBe(200)
  const [code] = await once(served.process, 'exit')
  expect([code, served.complaints]).toEqual([0, []])
  await expect(fetch(`${served.url}/_livez`)).rejects.toThrow()
  agent.destroy()
  await again()
  expect(await status('done'), 'kept over both').toMatchObject({ complete: true, error: false, results: { results: [[2]] } })
  expect(await status('endless')).toMatchObject({
    complete: false,
    error: true,
    error_message: 'The query was stopped because the server is shutting down.',
  })
})
