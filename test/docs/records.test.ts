import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { withHome } from '../doors/http/conversation.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/records.md'), 'utf8')
const examples = [...page.matchAll(/```http\n(\w+) (\S+)\n([\s\S]*?)```(?:\n\n```json answer\n([\s\S]*?)```)?/g)]

const held = withHome()
beforeAll(async () => {
  const { world, project } = held.home
  world.now = new Date('2026-02-01T00:00:00Z')
  const data = await world.projectData(project.id)
  await data.importPersons([{ distinct_ids: ['ann', 'ann-phone'], properties: { email: 'ann@acme.test', plan: 'pro' } }])
  await data.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 40 } }])
  await data.ingest([{ event: 'purchase', distinct_id: 'ann', timestamp: '2026-01-31', properties: { price: 5 } }])
})

test('docs/records.md: the examples run in order', async () => {
  const { call, member } = held.home
  expect(examples.length).toBeGreaterThan(6)
  for (const [, method, path, body, answer] of examples) {
    const given = await call(method!, path!, { as: member, ...(body ? { body: JSON.parse(body) } : {}) })
    expect(given.status, path).toBeLessThan(300)
    if (answer) expect(given.body, path).toMatchObject(JSON.parse(answer))
  }
})
