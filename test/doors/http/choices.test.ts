import { expect, test } from 'vitest'
import { withHome } from './conversation.ts'

// A value that cannot be chosen: the words are those that clients know, and `extra` says what can be.

const held = withHome()

test.each([
  ['a city for a zone', { timezone: 'Berlin' }, '"Berlin" is not a valid choice.', { suggestions: ['Europe/Berlin'] }],
  [
    'a zone misspelt',
    { timezone: 'Europe/Pariss' },
    '"Europe/Pariss" is not a valid choice.',
    { suggestions: ['Europe/Paris', 'Europe/Madrid', 'Europe/Prague'] },
  ],
  ['a number that is none of few', { week_start_day: 7 }, '"7" is not a valid choice.', { expected: 'One of 0, 1' }],
  ['a long text', { timezone: 'x'.repeat(2_000) }, `"${'x'.repeat(100)}…" is not a valid choice.`, null],
])('%s', async (_, body, detail, extra) => {
  const { call, admin, project } = held.home
  const answer = await call('PATCH', `/api/projects/${project.id}/`, { as: admin, body })
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_choice', detail, attr: Object.keys(body)[0] } })
  expect(answer.body.extra ?? null).toEqual(extra)
})

test('a scope misspelt', async () => {
  const { call, member } = held.home
  const answer = await call('POST', '/api/personal_api_keys/', { as: member, body: { label: 'x', scopes: ['qery:read'] } })
  expect(answer).toMatchObject({
    status: 400,
    body: { detail: 'Invalid scope: qery:read', extra: { suggestions: ['query:read', 'alert:read', 'user:read'] } },
  })
})

test("a project's public key in place of a personal one", async () => {
  const { home } = held
  const answer = await home.call('GET', '/api/users/@me/', { headers: { authorization: `Bearer ${home.project.api_token}` } })
  expect(answer).toMatchObject({
    status: 401,
    body: {
      detail: 'Personal API key found in request Authorization header is invalid.',
      extra: { expected: expect.stringContaining("project's public key") },
    },
  })
})
