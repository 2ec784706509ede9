import { describe, expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

// Definitions of flags are for servers: there are none of them, and still not everybody is told.

const held = withHome()

describe.each([
  '/flags/definitions?token=x&send_cohorts',
  '/api/feature_flag/local_evaluation/?token=x&send_cohorts',
  '/api/projects/@current/feature_flags/new-ui/remote_config',
])('%s', (path) => {
  test('is answered with a personal key that may read flags', async () => {
    const { call, member, key } = held.home
    expect((await call('GET', path, { as: await key(member, ['feature_flag:read']) })).status).toBe(200)
  })

  test('is 401 without a key and with a wrong one, 403 with one for something else', async () => {
    const { call, member, key, project } = held.home
    expect(await call('GET', path)).toMatchObject(refused(401, 'not_authenticated'))
    for (const wrong of ['phx_nobody', project.api_token])
      expect(await call('GET', path, { as: wrong })).toMatchObject(refused(401, 'authentication_failed'))
    expect(await call('GET', path, { as: await key(member, ['query:read']) })).toMatchObject(refused(403, 'permission_denied'))
  })
})
