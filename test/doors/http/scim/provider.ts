import { expect } from 'vitest'
import type { Domain, Organization, User } from '../../../../src/service/accounts/records.ts'
import type { Home } from '../conversation.ts'

// An identity provider that provisions a domain, over real HTTP.

export interface ScimAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any
  readonly headers: Headers
}
export interface ScimProvider {
  readonly domain: Domain
  readonly token: string
  send(method: string, path: string, body?: unknown): Promise<ScimAnswer>
  /** A new user with this name before the @. */
  user(name: string, more?: object): Promise<ScimAnswer>
}

export async function sendScim(
  { world }: Home,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  media = 'application/scim+json',
): Promise<ScimAnswer> {
  const response = await fetch(`${world.url}/scim/v2${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': media }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (text !== '') expect(response.headers.get('content-type'), `${method} ${path}: ${text}`).toContain('application/scim+json')
  const answer = text === '' ? null : JSON.parse(text)
  if (response.status >= 400)
    expect(answer, path).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(response.status),
      detail: expect.any(String),
    })
  return { status: response.status, body: answer, headers: response.headers }
}

/** Proves a domain of an organization, and makes its token as an administrator does. */
export async function provision(home: Home, name: string, organization: Organization, admin: User): Promise<ScimProvider> {
  const domain = await home.world.accounts.domains.vouch(name, organization.id)
  const made = await home.call('POST', `/api/organizations/${organization.id}/domains/${domain.id}/scim_token/`, { as: admin })
  expect([made.status, made.body]).toMatchObject([200, { value: expect.stringMatching(/^scim_[0-9A-Za-z]{40,44}$/) }])
  const token: string = made.body.value
  const send: ScimProvider['send'] = (method, path, body) => sendScim(home, token, method, path, body)
  return {
    domain,
    token,
    send,
    user: (before, more = {}) => {
      const address = `${before}@${name}`
      const emails = [{ value: address, type: 'work', primary: true }]
      return send('POST', '/Users', {
        userName: address,
        externalId: `ext ${before}`,
        name: { givenName: before },
        emails,
        active: true,
        ...more,
      })
    },
  }
}

export const patchOf = (...operations: readonly object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})
