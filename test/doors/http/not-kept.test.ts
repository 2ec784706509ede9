import { expect, test } from 'vitest'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const base = '/api/projects/@current'
const header = 'x-waymark-not-kept'

test.each(['experiments', 'notebooks', 'session_recordings', 'surveys', 'early_access_feature'])(
  '%s are not kept, and every method says so',
  async (name) => {
    const { call, member } = held.home
    const words = name === 'early_access_feature' ? 'early access features' : name.replaceAll('_', ' ')
    const detail = expect.stringContaining(`Waymark does not support ${words}.`)
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '1/'],
      ['POST', ''],
      ['PATCH', '1/'],
      ['DELETE', '1/'],
    ] as const)
      expect(
        await call(method, `${base}/${name}/${path}`, { as: member, ...(method !== 'GET' && { body: {} }) }),
        `${method} ${path}`,
      ).toMatchObject(refused(404, 'not_found', detail))
  },
)

test.each([
  ['/api/surveys/?token=x', 'surveys'],
  ['/api/early_access_features/?token=x', 'early_access_features'],
  ['/api/web_experiments/?token=x', 'experiments'],
  ['/s/', 'session_recordings'],
  ['/array/x/config', null],
])('the empty answer of %s is marked', async (path, name) => {
  const { status, headers } = await held.home.call('GET', path)
  expect([status, headers.get(header)]).toEqual([200, name])
})
