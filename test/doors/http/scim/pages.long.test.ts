import { expect, test } from 'vitest'
import { withHome } from '../conversation.ts'
import { provision } from './provider.ts'

// As many users as an organization can have, listed page by page as providers do: each once.

const held = withHome()

test('10,000 members, of whom every tenth is of another domain', async () => {
  const { world, organization, admin } = held.home
  const { context } = world.accounts
  const now = new Date()
  const there = await context.store.read.memberships.count({ organization_id: organization.id })
  await context.store.write(async (tables) => {
    const like = (await tables.users.first({ id: admin.id }))!
    for (let i = 0; i < 10_000 - there; i++) {
      const id = 100_000 + i
      const email = `user${i}@${i % 10 === 0 ? 'else' : 'many'}.test`
      await tables.users.insert({ ...like, id, uuid: context.newId(), email, distinct_id: `d${i}` })
      await tables.memberships.insert({
        id: context.newId(),
        organization_id: organization.id,
        user_id: id,
        level: 0,
        joined_at: now,
        updated_at: now,
      })
    }
  })
  const provider = await provision(held.home, 'many.test', organization, admin)
  const seen = new Set<string>()
  for (let startIndex = 1; ; ) {
    const { body } = await provider.send('GET', `/Users?startIndex=${startIndex}&count=1000`)
    expect(body.itemsPerPage).toBeLessThanOrEqual(200)
    if (body.itemsPerPage === 0) break
    for (const { userName, id } of body.Resources) {
      expect(userName).toMatch(/@many\.test$/)
      expect(seen.has(id), userName).toBe(false)
      seen.add(id)
    }
    startIndex += body.itemsPerPage
    expect(body.totalResults).toBe(Math.floor(((10_000 - there) * 9) / 10))
  }
  expect(seen.size).toBe(Math.floor(((10_000 - there) * 9) / 10))
  const refused = await provider.user('one-more')
  expect([refused.status, refused.body.detail]).toMatchObject([400, expect.stringContaining('at most 10,000 memberships')])
})
