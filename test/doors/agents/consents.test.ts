import { createHash, randomBytes } from 'node:crypto'
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { User } from '../../../src/service/accounts/records.ts'
import { refused, withHome } from '../http/conversation.ts'

// An agent that has no key: its user consents in the pages.

const held = withHome()
const verifier = randomBytes(32).toString('base64url')
const challenge = createHash('sha256').update(verifier).digest('base64url')
const address = 'https://agent.example.com/back'

const registered = async (fields: object = {}): Promise<string> => {
  const { status, body } = await held.home.call('POST', '/oauth/register', {
    body: { client_name: 'Agent Smith', redirect_uris: [address, 'http://127.0.0.1/done'], ...fields },
  })
  expect(status).toBe(201)
  return body.client_id
}
const request = async (fields: object = {}) => ({
  client_id: await registered(),
  redirect_uri: address,
  response_type: 'code',
  code_challenge: challenge,
  code_challenge_method: 'S256',
  scope: 'read write',
  state: 'xyz',
  ...fields,
})
const consented = async (as: User, fields: object = {}) => {
  const asked = await request()
  const { status, body } = await held.home.call('POST', '/api/consents/', {
    as,
    body: { ...asked, granted: 'read', projects: [], ...fields },
  })
  expect([status, body]).toEqual([200, { leads_to: expect.any(String) }])
  const url = new URL(body.leads_to)
  return { asked, url, code: url.searchParams.get('code')! }
}
const redeemed = (fields: object) => {
  const form = new URLSearchParams({ grant_type: 'authorization_code', code_verifier: verifier, ...fields })
  return held.home.call('POST', '/oauth/token', { body: String(form), headers: { 'content-type': 'application/x-www-form-urlencoded' } })
}

test('a client of the protocol is led to the page, and gets a key for what its user grants', async () => {
  const { home } = held
  const kept: { client?: never; tokens?: never; verifier?: string; url?: URL } = {}
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata: { client_name: 'Real client', redirect_uris: ['http://127.0.0.1/callback'] },
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      kept.client = client as never
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens as never
    },
    redirectToAuthorization(url) {
      kept.url = url
    },
    saveCodeVerifier(given) {
      kept.verifier = given
    },
    codeVerifier: () => kept.verifier!,
  }
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${home.world.url}/mcp`), { authProvider: provider })
    return { client, transport, connected: client.connect(transport) }
  }
  const first = await connect()
  await expect(first.connected).rejects.toThrow(UnauthorizedError)

  const led = await fetch(kept.url!, { redirect: 'manual' })
  expect(led.status).toBe(302)
  const [page, query] = led.headers.get('location')!.split('/#/consent?')
  expect(page).toBe(home.world.url)
  const shown = await home.call('GET', `/api/consents/?${query}`, { as: home.member })
  expect(shown.body).toMatchObject({ client_name: 'Real client', answered_at: 'http://127.0.0.1:9' })
  const body = { ...Object.fromEntries(new URLSearchParams(query)), granted: 'read', projects: [home.project.id] }
  const { leads_to } = (await home.call('POST', '/api/consents/', { as: home.member, body })).body
  const back = new URL(leads_to)
  expect(`${back.origin}${back.pathname}`).toBe('http://127.0.0.1:9/callback')
  await first.transport.finishAuth(back.searchParams)

  const second = await connect()
  await second.connected
  const { tools } = await second.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('run_sql')
  expect(tools.map(({ name }) => name)).not.toContain('save_insight')
  const answer = await second.client.callTool({ name: 'run_sql', arguments: { query: 'select 1 + 1' } })
  expect(answer.isError ?? false).toBe(false)
  await second.client.close()

  const [key] = (await home.call('GET', '/api/personal_api_keys/', { as: home.member })).body
  expect(key).toMatchObject({ label: 'Real client', scoped_teams: [home.project.id] })
  expect(key.scopes).not.toContain('insight:write')
  await home.call('DELETE', `/api/personal_api_keys/${key.id}/`, { as: home.member })
  expect(
    (await home.call('POST', '/mcp', { as: (kept.tokens as unknown as { access_token: string }).access_token, body: {} })).status,
  ).toBe(401)
})

test('what saves is granted only when it is asked for and chosen', async () => {
  const { member, call } = held.home
  const { url, code, asked } = await consented(member, { granted: 'write' })
  expect(url.searchParams.get('state')).toBe('xyz')
  expect(url.searchParams.get('iss')).toBe(held.home.world.url)
  const { status, body, headers } = await redeemed({ code, client_id: asked.client_id, redirect_uri: address })
  expect([status, body.token_type, body.scope]).toEqual([200, 'Bearer', 'write'])
  expect(headers.get('cache-control')).toBe('no-store')
  expect((await call('GET', '/api/personal_api_keys/@current/', { as: body.access_token })).body.scopes).toContain('insight:write')
  const reads = { ...(await request({ scope: 'read' })), granted: 'write', projects: [] }
  expect(await call('POST', '/api/consents/', { as: member, body: reads })).toMatchObject(
    refused(400, 'invalid_input', undefined, 'granted'),
  )
})

test('a code works once, for a minute, for the client and the secret that asked', async () => {
  const { home } = held
  const { world, admin } = home
  const right = async () => {
    const { code, asked } = await consented(admin)
    return { code, client_id: asked.client_id }
  }
  const grant = { status: 400, body: { error: 'invalid_grant', error_description: expect.any(String) } }
  const once = await right()
  expect((await redeemed(once)).status).toBe(200)
  expect(await redeemed(once)).toMatchObject(grant)
  expect(await redeemed({ ...(await right()), code_verifier: 'another' })).toMatchObject(grant)
  expect(await redeemed({ ...(await right()), client_id: await registered({ client_name: 'Other' }) })).toMatchObject(grant)
  expect(await redeemed({ ...(await right()), redirect_uri: 'http://127.0.0.1/done' })).toMatchObject(grant)
  const changed = await right()
  expect(await redeemed({ ...changed, code: `${changed.code.slice(0, -8)}AAAAAAA=` })).toMatchObject(grant)
  const simultaneous = await right()
  expect((await Promise.all([redeemed(simultaneous), redeemed(simultaneous)])).map(({ status }) => status).toSorted()).toEqual([200, 400])
  const late = await right()
  world.now = new Date((world.now ?? new Date()).getTime() + 61_000)
  expect(await redeemed(late)).toMatchObject(grant)
})

describe('what is refused', () => {
  test.each<[string, object, string]>([
    ['no address', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a page', { redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    ['plain http of another machine', { redirect_uris: ['http://agent.example.com/'] }, 'invalid_redirect_uri'],
    ['a part of a page', { redirect_uris: ['https://agent.example.com/#x'] }, 'invalid_redirect_uri'],
    ['credentials', { redirect_uris: ['https://a:b@agent.example.com/'] }, 'invalid_redirect_uri'],
    ['a number', { redirect_uris: [1] }, 'invalid_redirect_uri'],
    [
      'too much',
      { redirect_uris: Array.from({ length: 9 }, (_, i) => `https://a.example/${i}${'x'.repeat(400)}`) },
      'invalid_client_metadata',
    ],
  ])('to register with %s', async (_, fields, error) => {
    expect(await held.home.call('POST', '/oauth/register', { body: { client_name: 'x', ...fields } })).toMatchObject({
      status: 400,
      body: { error },
    })
  })

  test.each<[string, object, string]>([
    ['an address that is not registered', { redirect_uri: 'https://evil.example.com/back' }, 'redirect_uri'],
    ['a longer address', { redirect_uri: `${address}/more` }, 'redirect_uri'],
    ['another path of this machine', { redirect_uri: 'http://127.0.0.1:80/other' }, 'redirect_uri'],
    ['no client', { client_id: 'nobody' }, 'client_id'],
    ['a token at once', { response_type: 'token' }, 'redirect_uri'],
    ['a secret in clear', { code_challenge_method: 'plain' }, 'redirect_uri'],
    ['another scope', { scope: 'read admin' }, 'redirect_uri'],
  ])('to ask with %s: the browser is led nowhere', async (_, fields, attr) => {
    const query = new URLSearchParams(await request(fields))
    const answer = await held.home.call('GET', `/oauth/authorize?${query}`)
    expect(answer).toMatchObject(refused(400, 'invalid_input', undefined, attr))
    expect(answer.headers.get('location')).toBeNull()
    expect((await held.home.call('POST', '/api/consents/refuse/', { as: held.home.member, body: await request(fields) })).status).toBe(400)
  })

  test('to consent with a key, with nothing, or for projects of others', async () => {
    const { call, key, member, outsider, project } = held.home
    const body = { ...(await request()), granted: 'read', projects: [] }
    expect((await call('POST', '/api/consents/', { body })).status).toBe(401)
    expect((await call('POST', '/api/consents/', { as: await key(member, ['*']), body })).status).toBe(403)
    const { code, asked } = await consented(outsider, { projects: [project.id] })
    expect(await redeemed({ code, client_id: asked.client_id })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('to consent with as many keys as a user may have', async () => {
    const user = await held.home.world.user('collector@acme.test', held.home.organization.id)
    for (let n = 0; n < 10; n++) await held.home.key(user, ['query:read'])
    const body = { ...(await request()), granted: 'read', projects: [] }
    const answer = await held.home.call('POST', '/api/consents/', { as: user, body })
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('only have 10 personal API keys')])
  })

  test('by the user: the application is told', async () => {
    const { body } = await held.home.call('POST', '/api/consents/refuse/', { as: held.home.member, body: await request() })
    const url = new URL(body.leads_to)
    expect([url.searchParams.get('error'), url.searchParams.get('state')]).toEqual(['access_denied', 'xyz'])
  })
})

test('the address of the client may have any port of this machine', async () => {
  const query = new URLSearchParams(await request({ redirect_uri: 'http://127.0.0.1:43123/done' }))
  expect((await held.home.call('GET', `/oauth/authorize?${query}`)).status).toBe(302)
})

test('where to begin is said with the refusal, and in four documents', async () => {
  const { call, world } = held.home
  const { status, headers } = await call('POST', '/mcp', { body: {} })
  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${world.url}/.well-known/oauth-protected-resource/mcp"`,
  ])
  for (const path of ['oauth-protected-resource', 'oauth-protected-resource/mcp'])
    expect((await call('GET', `/.well-known/${path}`)).body).toMatchObject({
      resource: `${world.url}/mcp`,
      authorization_servers: [world.url],
    })
  for (const path of ['oauth-authorization-server', 'openid-configuration'])
    expect((await call('GET', `/.well-known/${path}`)).body).toMatchObject({
      issuer: world.url,
      token_endpoint: `${world.url}/oauth/token`,
      code_challenge_methods_supported: ['S256'],
    })
})
