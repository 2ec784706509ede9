import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Everything about a person as a file: who may have it, and what comes.

const held = withHome()

test('a key needs the scopes of what is in the file', async () => {
  const { world, project, member, outsider, call, key } = held.home
  await (await world.projectData(project.id)).ingest({ batch: [{ event: 'seen', distinct_id: 'u1' }] })
  const path = `/api/projects/${project.id}/persons/u1/everything/`
  const value = await key(member, ['person:read', 'query:read', 'activity_log:read'])
  const all = await fetch(world.url + path, { headers: { authorization: `Bearer ${value}` } })
  expect(all.status).toBe(200)
  const lines = (await all.text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(['person', 'event'])
  for (const scopes of [['person:read'], ['person:read', 'query:read'], ['query:read', 'activity_log:read']])
    expect((await call('GET', path, { as: await key(member, scopes) })).status, scopes.join()).toBe(403)
  expect((await call('GET', path, { as: outsider })).status).toBe(403)
  expect(await call('GET', path.replace('u1', 'nobody'), { as: member })).toMatchObject(refused(404, 'not_found'))
})
