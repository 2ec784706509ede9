import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defaultRateLimits } from '../../../../src/doors/http/access/rate-limits.ts'
import { differences } from '../../../../src/doors/http/reference/differences.ts'
import { refused, withHome } from '../conversation.ts'

// A proof for each row of "Deliberate differences" in docs/http.md.

const held = withHome()
const organization = (path: string) => `/api/organizations/@current/${path}`
const project = (path: string) => `/api/projects/@current/${path}`
const send = (method: string, path: string, body?: unknown) => held.home.call(method, path, { as: held.home.owner, body })
const component = async (family = 'plugins', body: object = { plugin_type: 'local' }) =>
  (await send('POST', organization(`${family}/`), body)).body
const exported = async () =>
  (await send('POST', project('batch_exports/'), { name: 'E', interval: 'hour', destination: { type: 'NoOp', config: {} } })).body

const proofs: Readonly<Record<string, () => Promise<void>>> = {
  'invites-bulk': async () => {
    const one = { target_email: 'a@acme.test' }
    expect((await send('POST', organization('invites/bulk/'), one)).status).toBe(400)
    expect((await send('POST', organization('invites/bulk/'), [one])).body).toMatchObject([one])
  },
  'draft-sql': async () => {
    expect(await send('GET', project('query/draft_sql/'))).toMatchObject(refused(400, 'required', undefined, 'prompt'))
    expect((await send('GET', project('query/draft_sql/?prompt=how many events per day'))).body).toEqual({ sql: expect.any(String) })
  },
  metadata: async () => {
    expect((await send('GET', organization(''))).body.metadata).toEqual({ instance_tag: expect.any(String) })
  },
  'member-count': async () => {
    expect((await send('GET', organization(''))).body.member_count).toBe(3)
  },
  'customer-id': async () => {
    expect((await send('GET', organization(''))).body.customer_id).toBe(null)
  },
  'mascot-config': async () => {
    const { body } = await send('GET', organization('members/'))
    expect(body.results.map((one: { user: { mascot_config: unknown } }) => one.user.mascot_config)).toEqual([null, null, null])
  },
  labels: async () => {
    const query = { kind: 'SqlLikeQuery', query: 'select 1' }
    const { body } = await send('POST', project('query/'), { query, async: true, client_query_id: 'labels' })
    expect(body.query_status ?? body).toMatchObject({ labels: null })
  },
  source: async () => {
    const { id } = await component()
    expect((await send('PATCH', organization(`plugins/${id}/update_source/`), { 'index.ts': 'export const a = 1' })).body).toEqual({
      'index.ts': 'export const a = 1',
    })
    expect((await send('GET', organization(`plugins/${id}/source/`))).body).toEqual({ 'index.ts': 'export const a = 1' })
  },
  'check-for-updates': async () => {
    const { id } = await component()
    expect((await send('GET', organization(`plugins/${id}/check_for_updates/`))).body).toMatchObject({ id, plugin: { id } })
  },
  activity: async () => {
    await component()
    expect(Object.keys((await send('GET', organization('plugins/activity/'))).body).sort()).toEqual([
      'next',
      'previous',
      'results',
      'total_count',
    ])
  },
  'local-component': async () => {
    expect(await component('pipeline_transformations')).toMatchObject({
      plugin_type: 'local',
      url: null,
      capabilities: { methods: ['processEvent'] },
    })
    expect(await send('POST', organization('plugins/'), { plugin_type: 'custom' })).toMatchObject(
      refused(400, 'required', undefined, 'url'),
    )
  },
  'batch-export-actions': async () => {
    const { id } = await exported()
    expect((await send('POST', project(`batch_exports/${id}/pause/`))).body).toMatchObject({ id, paused: true })
    expect((await send('POST', project(`batch_exports/${id}/unpause/`), {})).body).toMatchObject({ id, paused: false })
    const range = { start_at: '2026-01-01T00:00:00Z', end_at: '2026-01-01T01:00:00Z' }
    expect((await send('POST', project(`batch_exports/${id}/backfill/`), range)).body).toMatchObject({
      id,
      backfill_id: expect.any(String),
    })
  },
  'organization-batch-exports': async () => {
    const body = { name: 'O', interval: 'hour', destination: { type: 'NoOp', config: {} } }
    expect((await send('POST', organization('batch_exports/'), body)).body.team_id).toBe(held.home.project.id)
  },
  'domain-pending': async () => {
    const { world } = held.home
    world.settings = { ...world.settings, isHosted: true }
    const made = (await send('POST', organization('domains/'), { domain: 'pending.example.com', sso_enforcement: 'saml' })).body
    expect(made).toMatchObject({ sso_enforcement: '', pending: { sso_enforcement: 'saml' } })
    expect(await send('PATCH', organization(`domains/${made.id}/`), { sso_enforcement: 'saml' })).toMatchObject(
      refused(400, 'verification_required', undefined, 'sso_enforcement'),
    )
    world.settings = { ...world.settings, isHosted: false }
  },
  'domain-proof': async () => {
    const made = (await send('POST', organization('domains/'), { domain: 'proof.example.com' })).body
    expect(made).toMatchObject({ is_verified: false, verified_at: expect.any(String) })
    await held.home.world.accounts.domains.vouch('proof.example.com', null)
    expect((await send('GET', organization(`domains/${made.id}/`))).body.is_verified).toBe(true)
  },
  'not-enforced': async () => {
    const made = (await send('POST', organization('domains/'), { domain: 'stored.example.com' })).body
    const patch = (body: object) => send('PATCH', organization(`domains/${made.id}/`), body)
    expect((await patch({ sso_enforcement: 'saml' })).body.not_enforced).toEqual(['sso_enforcement'])
    await held.home.world.accounts.domains.vouch('stored.example.com', null)
    expect((await patch({ sso_enforcement: 'oidc' })).body.not_enforced).toEqual([])
    expect((await patch({ sso_enforcement: '' })).body.not_enforced).toEqual([])
  },
  'rate-limit': async () => {
    expect(defaultRateLimits.query).toEqual([])
  },
  'import-limit': async () => {
    expect((await send('GET', project('historical_import/'))).body).toMatchObject({ is_approved: true })
  },
  'plugins-level': async () => {
    expect((await send('PATCH', organization(''), { plugins_access_level: 3 })).body.plugins_access_level).toBe(9)
  },
  'unknown-parameters': async () => {
    expect(await send('GET', project('persons/?emial=x'))).toMatchObject(refused(400, 'invalid_input', undefined, 'emial'))
  },
  'page-size': async () => {
    expect((await send('GET', project('persons/?limit=5000'))).status).toBe(200)
  },
}

test.each(differences.map((one) => ({ ...one })))('$id: $where', async ({ id }) => {
  expect(Object.keys(proofs)).toContain(id)
  await proofs[id]!()
})

test('each proof has a row, and each row is in the page', () => {
  expect(Object.keys(proofs).sort()).toEqual(differences.map(({ id }) => id).sort())
  const page = readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8')
  for (const { where, here } of differences) expect(page.includes(where) && page.includes(here), where).toBe(true)
})
