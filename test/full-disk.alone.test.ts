import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createHandler } from '../src/doors/http/server/create-handler.ts'
import { open } from '../src/engine.ts'

// A whole Waymark on a disk that is really full: 64 MiB of memory, mounted.

const mountPoint = mkdtempSync(join(tmpdir(), 'waymark-full-'))
const isMounted = process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', mountPoint]).status === 0
if (!isMounted) console.warn('NOT RUN: a Waymark on a really full disk. It takes the right to mount a tmpfs (root on Linux).')
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', mountPoint])
  rmSync(mountPoint, { recursive: true, force: true })
})

const ballast = join(mountPoint, 'ballast')
const freeBytes = () => statfsSync(mountPoint).bavail * statfsSync(mountPoint).bsize
const fillDisk = () => writeFileSync(ballast, Buffer.alloc(freeBytes()))
const batch = (first: number) =>
  Array.from({ length: 500 }, (_, i) => ({
    event: 'seen',
    distinct_id: `u${(first + i) % 100}`,
    uuid: `00000000-0000-4000-8000-${String(first + i).padStart(12, '0')}`,
    properties: { text: `${first + i}`.padEnd(300, 'x'), $set: { last: first + i } },
  }))

test.skipIf(!isMounted)(
  'what was acknowledged before the disk was full is there after it was closed in that state',
  async () => {
    const dataDir = join(mountPoint, 'data')
    const waymark = await open({ dataDir, minFreeBytes: 0, onError: () => undefined })
    const project = await waymark.createProject()
    let acknowledged = 0
    for (; acknowledged < 5000; acknowledged += 500) await project.ingest({ batch: batch(acknowledged) })
    fillDisk() // some of the events are in the log only
    await expect(project.ingest({ batch: batch(acknowledged) })).rejects.toMatchObject({ code: 'disk-full', isRetryable: true })
    const closed = await waymark.close().catch((error: unknown) => error)
    if (closed) expect(closed).toMatchObject({ code: 'unclean-close', message: expect.stringContaining('No acknowledged event is lost') })
    expect(existsSync(join(dataDir, 'control.duckdb'))).toBe(true)

    rmSync(ballast)
    const again = await open({ dataDir, minFreeBytes: 0 })
    const sameProject = await again.project(1)
    const counted = { kind: 'SqlLikeQuery', query: 'select count(), uniq(uuid), uniq(person_id) from events' }
    expect(await sameProject.answer(counted)).toHaveProperty('results', [[acknowledged, acknowledged, 100]])
    expect(await sameProject.ingest({ batch: batch(acknowledged - 250) })).toMatchObject({ accepted: 250, duplicates: 250 })
    await again.close()
  },
  60_000,
)

test.skipIf(!isMounted)(
  'changes of accounts are refused with 503 while the disk is full, are read as before, and go on when there is space',
  async () => {
    const dataDir = join(mountPoint, 'accounts')
    const waymark = await open({ dataDir, minFreeBytes: 0, threads: 1, onError: () => undefined })
    const { organization, project, personalKey } = await waymark.accounts.firstStart({})
    await waymark.accounts.context.store.write((tables) => tables.users.update({}, { first_name: 'Ada' }))
    const faults: unknown[] = []
    const handler = createHandler(waymark, { log: (line) => line.level === 'error' && faults.push(line) })
    const call = async (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json', ...more }
      const response = await handler(new Request(`http://localhost${path}`, { method, headers, body: body && JSON.stringify(body) }))
      return { status: response.status, body: (await response.json()) as Record<string, unknown>, headers: response.headers }
    }
    const roles = `/api/organizations/${organization.id}/roles/`
    const made: string[] = []
    const make = async (name: string, more?: Record<string, string>) => {
      const answer = await call('POST', roles, { name }, more)
      if (answer.status === 201) made.push(name)
      return answer
    }
    fillDisk()
    // What is left of a page that was begun takes a few.
    let answer = await make('first')
    for (let i = 0; answer.status === 201 && i < 1000; i++) answer = await make(`${i}`.padEnd(200, 'x'))
    expect(answer).toMatchObject({ status: 503, body: { type: 'server_error', code: 'error', attr: null } })
    expect([answer.body.detail, answer.headers.get('retry-after')]).toEqual([expect.stringContaining('The disk is full'), '1'])
    const changes: [string, string, object][] = [
      ['PATCH', `/api/organizations/${organization.id}/`, { name: 'Other' }],
      ['PATCH', '/api/users/@me/', { first_name: 'Other' }],
      ['PATCH', `/api/projects/${project.id}/`, { name: 'Other' }],
      ['POST', '/api/organizations/', { name: 'x'.repeat(60) }],
    ]
    for (const [method, path, body] of changes) expect((await call(method, path, body)).status, `${method} ${path}`).toBe(503)
    const listed = async () => ((await call('GET', `${roles}?limit=1000`)).body.results as { name: string }[]).map(({ name }) => name)
    expect(await listed()).toEqual(made)
    expect((await call('GET', '/api/users/@me/')).body).toMatchObject({ first_name: 'Ada' })

    rmSync(ballast)
    expect((await make('after')).status).toBe(201)
    expect(faults).toEqual([])
    await waymark.close()
    const again = await open({ dataDir, minFreeBytes: 0, threads: 1 })
    expect((await again.accounts.roles.list(organization.id)).map(({ name }) => name)).toEqual(made)
    await again.close()
  },
  60_000,
)

test.skipIf(!isMounted)(
  'definitions of a project are refused with 503 while the disk is full, and so is a project that has to make its store',
  async () => {
    const dataDir = join(mountPoint, 'definitions')
    const waymark = await open({ dataDir, minFreeBytes: 0, threads: 1, onError: () => undefined })
    const { project, personalKey } = await waymark.accounts.firstStart({})
    const seen = await waymark.project(project.id)
    await seen.ingest({ batch: batch(0) })
    const unused = await waymark.createProject({ name: 'Unused' })
    const faults: unknown[] = []
    const handler = createHandler(waymark, { log: (line) => line.level === 'error' && faults.push(line) })
    const call = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json' }
      const response = await handler(new Request(`http://localhost${path}`, { method, headers, body: body && JSON.stringify(body) }))
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const at = `/api/projects/${project.id}`
    expect((await call('POST', `${at}/actions/`, { name: 'first', steps: [{ event: 'seen' }] })).status).toBe(201)
    fillDisk()
    const text = 'x'.repeat(300)
    for (const [path, body] of [
      [`${at}/actions/`, { name: text, steps: [{ event: 'seen' }] }],
      [`${at}/cohorts/`, { name: text, is_static: true }],
      [`${at}/query/`, { query: { kind: 'SqlLikeQuery', query: 'select count() from events' } }],
      [`/api/projects/${unused.id}/actions/`, { name: text, steps: [{ event: 'seen' }] }],
      [`/api/projects/${unused.id}/query/`, { query: { kind: 'SqlLikeQuery', query: 'select count() from events' } }],
    ] as const) {
      let answer = await call('POST', path, body)
      for (let i = 0; answer.status === 201 && i < 2000; i++) answer = await call('POST', path, body)
      expect(answer.status, path).toBe(path.endsWith('/query/') ? 200 : 503)
      if (answer.status === 503) expect(answer.body.detail).toContain('The disk is full')
    }
    expect(faults).toEqual([])
    rmSync(ballast)
    expect((await call('POST', `${at}/actions/`, { name: 'after', steps: [{ event: 'seen' }] })).status).toBe(201)
    await waymark.close()
  },
  60_000,
)
