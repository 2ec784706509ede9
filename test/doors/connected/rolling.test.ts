import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Member } from './members.ts'
import { rollingRestarts } from './rolling-cases.ts'

test('two servers on one directory: restarts and a kill of the owner under load', { timeout: 120_000 }, () => rollingRestarts(2, 1))

test('an owner that is killed while it works: what may come twice is asked again, and what may not is told', {
  timeout: 60_000,
}, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-rolling-'))
  const owner = await Member.start(dataDir)
  const guest = await Member.start(dataDir)
  const { organization_id, project_id, personal_api_key } = owner.facts
  try {
    const send = async (path: string, method: string, body?: object, headers: Record<string, string> = {}) => {
      const about = { authorization: `Bearer ${personal_api_key}`, 'content-type': 'application/json', ...headers }
      const response = await fetch(`${guest.facts.url}${path}`, { method, headers: about, ...(body && { body: JSON.stringify(body) }) })
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        body: (await response.json()) as Record<string, unknown>,
      }
    }
    const create = (name: string, headers?: Record<string, string>) =>
      send(`/api/organizations/${organization_id}/projects/`, 'POST', { name }, headers)
    expect((await create('before')).status).toBe(201)
    owner.pause()
    const before = guest.sockets
    const asked = [
      create('unknown'),
      create('with a key', { 'idempotency-key': 'k1' }),
      send(`/api/projects/${project_id}/`, 'GET'),
      send(`/api/projects/${project_id}/query/`, 'POST', { query: { kind: 'SqlLikeQuery', query: 'select 1' } }),
    ]
    await expect.poll(() => guest.sockets - before, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(6) // two of each request, but for those that were there
    await owner.kill()
    const { socket } = JSON.parse(await readFile(join(dataDir, 'owner.json'), 'utf8')) as { socket: string }
    const [unknown, keyed, read, query] = await Promise.all(asked)
    expect(unknown).toMatchObject({
      status: 503,
      retryAfter: '1',
      body: { code: 'owner_ended', detail: expect.stringContaining('may have been carried out') },
    })
    expect([keyed!.status, read!.status, query!.status]).toEqual([201, 200, 200])
    expect(existsSync(dirname(socket))).toBe(false) // the next owner has removed what the killed one left
    const { body } = await send(`/api/organizations/${organization_id}/projects/`, 'GET')
    const names = (body.results as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['before', 'with a key']))
    expect(names.filter((name) => name === 'with a key')).toHaveLength(1)
  } finally {
    await guest.kill()
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('a server that starts beside an owner that is stopped says whom it waits for', { timeout: 60_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-rolling-'))
  const owner = await Member.start(dataDir)
  try {
    owner.pause()
    const { said, started } = Member.begin(dataDir)
    await expect.poll(() => said.join('\n'), { timeout: 20_000 }).toMatch(/Process \d+ has .* open, and does not answer/)
    owner.wake()
    const guest = await started
    await guest.stop()
  } finally {
    await owner.kill()
    await rm(dataDir, { recursive: true, force: true })
  }
})
