import { expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// The activity log of an organization as a file: all of it, in the order of the pages, also while it grows.

const held = withHome()
const base = () => `/api/organizations/${held.home.organization.id}/activity/`
/** Written straight to the store: several pages of a file, many of them at one time. */
const insert = (count: number, at: Date) => {
  const { organization, owner, world } = held.home
  const { store, newId } = world.accounts.context
  return store.write(async (tables) => {
    for (let i = 0; i < count; i++)
      await tables.activity.insert({
        id: newId(),
        organization_id: organization.id,
        project_id: null,
        user_id: owner.id,
        activity: 'updated',
        scope: 'Organization',
        item_id: organization.id,
        detail: { name: `entry ${i}\n`, short_id: null, type: null, trigger: null, changes: null },
        is_system: false,
        was_impersonated: false,
        created_at: at,
      })
  })
}
const lines = (body: string): { id: string }[] =>
  body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('has every entry once, newest first, as the pages have them, and only those of the organization', async () => {
  const { call, admin, other, outsider } = held.home
  for (const [count, day] of [
    [700, 1],
    [1201, 2],
    [3, 3],
  ] as const)
    await insert(count, new Date(Date.UTC(2026, 0, day)))
  const answer = await call('GET', `${base()}export/`, { as: admin })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="activity-[a-z0-9-]+\.jsonl"$/)
  const all = lines(answer.body)
  const paged: unknown[] = []
  for (let page = 1; ; page++) {
    const { results, next } = (await call('GET', `${base()}?limit=1000&page=${page}`, { as: admin })).body
    paged.push(...results)
    if (next === null) break
  }
  expect(all).toEqual(paged)
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  expect(all.length).toBeGreaterThanOrEqual(1904)
  const theirs = lines((await call('GET', `/api/organizations/${other.id}/activity/export/`, { as: outsider })).body)
  expect(theirs.length).toBeGreaterThan(0)
  expect(theirs.filter(({ id }) => all.some((one) => one.id === id))).toEqual([])
})

test('entries that are written while it is read neither repeat others nor push them out', async () => {
  const { organization, admin, key, world } = held.home
  const before = await world.accounts.context.store.read.activity.find({ organization_id: organization.id })
  const headers = { authorization: `Bearer ${await key(admin, ['activity_log:read'])}` }
  const response = await fetch(`${world.url}${base()}export/`, { headers })
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let i = 0; ; i++) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
    if (i === 0) await insert(600, new Date(Date.UTC(2027, 0, 1)))
  }
  const ids = lines(text).map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { id } of before) expect(ids).toContain(id)
})
