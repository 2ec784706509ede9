import { afterAll, expect, test } from 'vitest'
import { openControl } from '../../src/engine/storage/control/control-store.ts'
import { controlFile } from '../../src/engine/storage/control/format.ts'
import { openInstance } from '../../src/engine/storage/instance.ts'
import { rowLimits } from '../../src/limits/limits.ts'
import { createAccounts } from '../../src/service/accounts/accounts.ts'
import { boundedStore } from '../../src/service/accounts/bounded-store.ts'
import { log } from '../../src/service/accounts/context.ts'
import { type AccountStore, accountShapes, longTables } from '../../src/service/accounts/records.ts'
import { sessionOf } from '../harness/session-of.ts'

// The store itself holds the table of limits, whoever writes.

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** Account data without the rules of the store, as they were before. */
const bareStore = async (): Promise<AccountStore> => {
  const instance = await openInstance({ dataDir: ':memory:', memoryLimit: '1GB', threads: 1, concurrency: 1 })
  await instance.attach('control', 'control.duckdb', controlFile)
  closing.push(() => instance.close())
  return openControl(instance, accountShapes, { long: longTables })
}
const start = async (most?: number) => {
  const bare = await bareStore()
  const store = await boundedStore(bare, most)
  const accounts = createAccounts({ store })
  return { bare, store, accounts, ...(await accounts.firstStart({ email: 'owner@acme.test' })) }
}
const now = new Date('2024-05-01T00:00:00Z')
const annotation = (id: number, content = 'x') => ({
  id,
  project_id: 1,
  scope: 'project',
  place: 'project:1',
  content,
  date_marker: null,
  creation_type: 'USR',
  dashboard_id: null,
  insight_id: null,
  deleted: false,
  created_at: new Date(now.getTime() + id),
  created_by_id: null,
  updated_at: now,
})
const session = (id: number, user_id = 1) => ({
  hash: `h${id}`,
  user_id,
  authenticated_at: new Date(now.getTime() + id),
  expires_at: new Date(now.getTime() + 1e9),
  user_agent: null,
  address: null,
  provider: null,
})

test('a row that is larger than its table allows is refused, and may shrink if it stands already', async () => {
  const { bare, store } = await start()
  const { size } = rowLimits.annotations
  await expect(store.write((tables) => tables.annotations.insert(annotation(1, 'x'.repeat(size + 1))))).rejects.toMatchObject({
    code: 'invalid-value',
    data: { rule: 'max_length' },
  })
  await bare.write((tables) => tables.annotations.insert(annotation(1, 'x'.repeat(2 * size))))
  const change = (content: string) => store.write((tables) => tables.annotations.update({ id: 1 }, { content }))
  await expect(change('x'.repeat(2 * size + 1))).rejects.toMatchObject({ code: 'invalid-value' })
  expect(await change('x'.repeat(2 * size - 1000))).toBe(1)
  await store.write((tables) => tables.annotations.update({ id: 1 }, { deleted: true }))
  expect(await store.read.annotations.first({ id: 1 })).toMatchObject({ deleted: true })
  await store.write((tables) => tables.annotations.remove({ id: 1 }))
  expect(await store.read.annotations.count({})).toBe(0)
})

test('one row too many for its owner is refused; another owner, and a place that becomes free, are not', async () => {
  const { store, accounts, user } = await start()
  const most = rowLimits.personal_keys.per.user_id
  const key = (id: number, user_id = user.id) => ({
    id: `k${id}`,
    user_id,
    label: 'a',
    hash: `${id}`,
    mask_value: '',
    scopes: [],
    scoped_teams: [],
    scoped_organizations: [],
    created_at: now,
    last_used_at: null,
    last_rolled_at: null,
  })
  const add = (id: number, owner?: number) => store.write((tables) => tables.personal_keys.insert(key(id, owner)))
  const there = await store.read.personal_keys.count({ user_id: user.id })
  for (let id = there; id < most; id++) await add(id)
  await expect(add(100)).rejects.toMatchObject({
    code: 'limit-reached',
    message: `One user can have at most ${most} personal API keys. Remove some of them first.`,
  })
  await add(101, 77)
  await store.write((tables) => tables.personal_keys.remove({ id: 'k5' }))
  await add(102)
  expect(await accounts.context.store.read.personal_keys.count({ user_id: user.id })).toBe(most)
})

test('rows in statements only are counted too, also after a rollback', async () => {
  const { bare, store } = await start()
  const most = rowLimits.saved_queries.per.project_id
  const view = (id: number) => ({
    id: `v${id}`,
    project_id: 7,
    name: `v${id}`,
    query: 'select 1',
    columns: [],
    created_at: now,
    created_by_id: null,
    updated_at: now,
  })
  await bare.write(async (tables) => {
    for (let id = 0; id < most - 1; id++) await tables.saved_queries.insert(view(id))
  })
  const failing = store.write(async (tables) => {
    await tables.saved_queries.insert(view(1000))
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  await store.write((tables) => tables.saved_queries.insert(view(1001)))
  await expect(store.write((tables) => tables.saved_queries.insert(view(1002)))).rejects.toMatchObject({ code: 'limit-reached' })
  await store.write((tables) => tables.saved_queries.remove({ id: 'v3' }))
  await store.write((tables) => tables.saved_queries.insert(view(1003)))
})

test('a session more than a user can have ends the oldest one', async () => {
  const { store } = await start()
  const most = rowLimits.sessions.per.user_id
  await store.write(async (tables) => {
    for (let id = 0; id < most + 5; id++) await tables.sessions.insert(session(id, 9))
  })
  const hashes = (await store.read.sessions.find({ user_id: 9 })).map(({ hash }) => hash)
  expect(hashes).toHaveLength(most)
  expect(hashes).not.toContain('h4')
  expect(hashes).toContain('h5')
})

test('histories in statements drop their oldest rows', async () => {
  const { bare, store } = await start()
  const most = rowLimits.idempotent_answers.per.user_id
  const answer = (id: number) => ({
    key: `a${id}`,
    user_id: 3,
    request: '',
    status: 200,
    body: null,
    created_at: new Date(now.getTime() + id),
  })
  await bare.write(async (tables) => {
    for (let id = 0; id < most; id++) await tables.idempotent_answers.insert(answer(id))
  })
  await store.write((tables) => tables.idempotent_answers.insert(answer(most)))
  expect(await store.read.idempotent_answers.count({ user_id: 3 })).toBeLessThanOrEqual(most)
  expect(await store.read.idempotent_answers.first({ key: 'a0' })).toBeUndefined()
  expect(await store.read.idempotent_answers.first({ key: `a${most}` })).toBeDefined()
})

test('an entry of the activity log stays small, whatever was changed', async () => {
  const { accounts, user, organization } = await start()
  const value = 'y'.repeat(300_000)
  await accounts.context.store.write((tables) =>
    log(accounts.context, tables, {
      by: user,
      organization_id: organization.id,
      scope: 'Test',
      item_id: 1,
      activity: 'updated',
      name: 'n',
      changes: [{ type: 'Test', action: 'changed', field: 'a', before: value, after: { value } }],
    }),
  )
  const [entry] = await accounts.context.store.read.activity.find({ scope: 'Test' })
  expect(JSON.stringify(entry).length).toBeLessThan(2_000)
  expect(JSON.stringify(entry?.detail)).toContain('characters)')
})

test('a store that is full takes no more, and still signs people in and lets them remove', async () => {
  const { store, accounts, user, organization } = await start(20_000)
  const by = { user, membership: (await accounts.organizations.membership(organization.id, user))! }
  const invite = async (i: number) => accounts.invites.create(by, organization, { target_email: `a${i}@b.test`, message: 'm'.repeat(900) })
  const made: string[] = []
  const error = await (async () => {
    for (let i = 0; i < 100; i++) made.push((await invite(i)).invite.id)
    return null
  })().catch((one: unknown) => one)
  expect(error).toMatchObject({ code: 'accounts-full', status: 507 })
  expect(made.length).toBeGreaterThan(5)
  await sessionOf(accounts, user)
  await store.write((tables) => tables.invites.remove({ id: made.slice(0, 3) }))
  await invite(200)
})

test('four preferences of ten megabytes and sixteen messages are refused, and the rest goes on', async () => {
  const { accounts, user, organization } = await start()
  const by = { user, membership: (await accounts.organizations.membership(organization.id, user))! }
  const large = 'x'.repeat(10e6)
  const attempts = [
    ...Array.from({ length: 4 }, () => () => accounts.users.update(user, { events_column_config: large }, async () => true)),
    ...Array.from(
      { length: 16 },
      (_, i) => () => accounts.invites.create(by, organization, { target_email: `a${i}@b.test`, message: large }),
    ),
  ]
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'invalid-value', data: { rule: 'max_length' } })
  await accounts.organizations.create(user, { name: 'Another' })
})

test('deliveries have a largest number for each alert and each subscription, and neither counts for the other', async () => {
  const { store } = await start()
  const delivery = (id: string, alert_id: string | null, subscription_id: number | null, at: number) => ({
    id,
    project_id: 1,
    notice_id: 'n',
    alert_id,
    subscription_id,
    target_type: 'webhook',
    target: 'https://hooks.example.com/in',
    status: 'failed',
    attempts: 1,
    due_at: now,
    latest_error: null,
    created_at: new Date(now.getTime() + at),
    last_attempt_at: now,
    delivered_at: null,
    is_test: false,
    watch: null,
  })
  const most = rowLimits.notice_deliveries.per.alert_id
  await store.write(async (tables) => {
    for (let i = 0; i < 5; i++) await tables.notice_deliveries.insert(delivery(`s${i}`, null, 1, i))
    await tables.notice_deliveries.insert(delivery('other', 'b', null, 0))
    for (let i = 0; i < most + 5; i++) await tables.notice_deliveries.insert(delivery(`a${i}`, 'a', null, i))
  })
  const { notice_deliveries: kept } = store.read
  expect(await kept.count({ alert_id: 'a' })).toBeLessThanOrEqual(most)
  expect(await kept.first({ id: `a${most + 4}` })).toBeDefined()
  expect(await kept.first({ id: 'a0' })).toBeUndefined()
  expect([await kept.count({ alert_id: 'b' }), await kept.count({ subscription_id: 1 })]).toEqual([1, 5])
})
