import { expect, test, vi } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Everything about a person as a file: who may have it, what comes, and what a client that leaves leaves behind.

const held = withHome()
const scopes = ['person:read', 'query:read', 'activity_log:read']
const pathOf = (person: string) => `/api/projects/${held.home.project.id}/persons/${person}/everything/`
const request = async (person: string, signal?: AbortSignal) => {
  const { world, member, key } = held.home
  const headers = { authorization: `Bearer ${await key(member, scopes)}` }
  return fetch(world.url + pathOf(person), { headers, signal: signal ?? null })
}

test('a key needs the scopes of what is in the file', async () => {
  const { world, project, member, outsider, call, key } = held.home
  const data = await world.projectData(project.id)
  await data.ingest({ batch: [{ event: 'seen', distinct_id: 'u1', properties: { count: 12, text: '"\n}' } }] })
  const all = await request('u1')
  expect(all.status).toBe(200)
  const lines = (await all.text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(['person', 'history', 'event'])
  expect(JSON.parse(lines.at(-1)!).properties).toMatchObject({ count: 12, text: '"\n}' })

  for (const missing of scopes) {
    const others = scopes.filter((scope) => scope !== missing)
    expect((await call('GET', pathOf('u1'), { as: await key(member, others) })).status, missing).toBe(403)
  }
  expect((await call('GET', pathOf('u1'), { as: outsider })).status).toBe(403)
  expect(await call('GET', pathOf('nobody'), { as: member })).toMatchObject(refused(404, 'not_found'))
})

test('a client that leaves gives its place back', async () => {
  const { world, project } = held.home
  const data = await world.projectData(project.id)
  const note = 'x'.repeat(20_000)
  for (let i = 0; i < 10; i++)
    await data.ingest({ batch: Array.from({ length: 100 }, () => ({ event: 'long', distinct_id: 'much', properties: { note } })) })
  const leaving = new AbortController()
  const answer = await request('much', leaving.signal)
  await answer.body!.getReader().read()
  leaving.abort()
  await vi.waitFor(() => expect(world.waymark.asking.load()).toEqual({ waiting: 0, running: 0 }), { timeout: 20_000 })
  const lines = (await (await request('much')).text()).trim().split('\n')
  expect(lines).toHaveLength(1_002)
})
