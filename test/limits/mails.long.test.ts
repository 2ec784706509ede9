import { afterAll, beforeAll, expect, test } from 'vitest'
import { otherLimits } from '../../src/limits/limits.ts'
import type { AccountSettings } from '../../src/service/accounts/context.ts'
import { hasProvenOwner, takeMails } from '../../src/service/accounts/organizations/mail-limits.ts'
import { refused, withHome } from '../doors/http/conversation.ts'

// An organization sends so many mails a day, and strangers choose no words.

const held = withHome()
const path = '/api/organizations/@current/invites/'
const invitees = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ target_email: `p${from + i}@relay.test`, message: 'Buy this', send_email: true }))

beforeAll(() => {
  held.home.world.hasMail = true
  held.home.world.now = new Date('2024-05-01T10:00:00Z')
})
afterAll(() => {
  held.home.world.hasMail = false
  held.home.world.now = null
})

test('twelve hundred invitations are not sent', async () => {
  const { call, admin, world } = held.home
  world.outbox.length = 0
  let answers = 0
  for (let i = 0; i < 60; i++) {
    const answer = await call('POST', `${path}bulk/`, { as: admin, body: invitees(i * 20, 20) })
    if (answer.status !== 200 && answer.status !== 201) {
      expect(answer).toMatchObject(refused(400, 'limit_reached'))
      break
    }
    answers++
  }
  expect(answers).toBe(otherLimits.mailsPerDay.number / 20)
  await expect.poll(() => world.outbox.length).toBe(otherLimits.mailsPerDay.number)
  expect(world.outbox[0]!.text).toContain('Buy this')
  expect(await call('POST', path, { as: admin, body: { target_email: 'a@b.test', send_email: false } }), 'without a mail').toMatchObject({
    status: 201,
  })
  world.now = new Date('2024-05-02T10:00:00Z')
  expect(await call('POST', path, { as: admin, body: { target_email: 'next@day.test' } })).toMatchObject({ status: 201 })
})

test('until an owner is proven, mails are few', async () => {
  const { world, organization, owner } = held.home
  const { context } = world.accounts
  const hosted = { ...context, settings: (): AccountSettings => ({ ...context.settings(), isHosted: true }) }
  await context.store.write((tables) => tables.users.update({ id: owner.id }, { is_email_verified: false }))
  expect(await hasProvenOwner(context, organization.id)).toBe(true)
  expect(await hasProvenOwner(hosted, organization.id)).toBe(false)
  world.now = new Date('2024-05-09T10:00:00Z')
  const { number: few } = otherLimits.unprovenMailsPerDay
  expect([
    await takeMails(hosted, organization.id, few - 1),
    await takeMails(hosted, organization.id, 5),
    await takeMails(hosted, organization.id, 1),
  ]).toEqual([few - 1, 1, 0])
  await context.store.write((tables) => tables.users.update({ id: owner.id }, { is_email_verified: true }))
  expect(await hasProvenOwner(hosted, organization.id)).toBe(true)
  expect(await takeMails(hosted, organization.id, 30)).toBe(30)
})
