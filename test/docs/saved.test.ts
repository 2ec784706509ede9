import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { refreshModes } from '../../src/service/asking/refresh.ts'
import { mostTiles } from '../../src/service/saved/tiles.ts'
import { largestOfAll, largestStatement, mostViews } from '../../src/service/saved/views.ts'
import { withHome } from '../doors/http/conversation.ts'

// The examples of the page.

const page = readFileSync(join(import.meta.dirname, '../../docs/saved.md'), 'utf8')
const blocks = (language: string) => [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!)

const held = withHome()
const scopes = [...page.matchAll(/`(\w+:(?:read|write))`/g)].map(([, scope]) => scope!)
let key: string
beforeAll(async () => {
  const { world, owner, organization, project, call } = held.home
  const current = { current_organization_id: organization.id, current_project_id: project.id }
  await world.accounts.context.store.write((tables) => tables.users.update({ id: owner.id }, current))
  key = await held.home.key(owner, scopes)
  const batch = ['a', 'b'].map((distinct_id) => ({ event: 'signup', distinct_id, properties: { plan: distinct_id } }))
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
})

/** Runs a curl command of the page, as a shell would read it. */
const run = async (command: string, ids: Readonly<Record<string, string | number>> = {}) => {
  const filled = command.replace(/<(\w+)>/g, (_, name: string) => String(ids[name]))
  const path = /http:\/\/127\.0\.0\.1:8000([^\s"]+)/.exec(filled)![1]!
  const method = /-X (\w+)/.exec(filled)?.[1] ?? 'GET'
  const body = /-d '(.*)'\n/s.exec(filled)?.[1]?.replaceAll(`'"'"'`, "'")
  return held.home.call(method, path, { as: key, ...(body === undefined ? {} : { body: JSON.parse(body) as object }) })
}

test('every request of the page is answered as the page says', async () => {
  const [insight, itsAnswer, dashboard, itsTiles, annotation, filters, view, ...others] = blocks('sh')
  expect(others).toEqual([])
  const { status, body: made } = await run(insight!)
  expect([status, made.name, made.tags]).toEqual([201, 'Sign-ups per day', ['growth']])
  expect((await run(itsAnswer!, { SHORT_ID: made.short_id })).body).toMatchObject({ id: made.id, result: [{ count: 2 }] })
  const board = await run(dashboard!, { ID: made.id })
  expect(board).toMatchObject({
    status: 201,
    body: { pinned: true, filters: { date_from: '-30d' }, tiles: [{ insight: null }, { color: 'blue' }] },
  })
  const whole = await run(itsTiles!, { ID: board.body.id })
  expect(whole.body.tiles).toMatchObject([
    { text: { body: '# Growth' } },
    { insight: { id: made.id, result: [{ count: 2 }] }, error: null },
  ])
  expect(await run(annotation!)).toMatchObject({ status: 201, body: { scope: 'organization' } })
  expect(await run(filters!)).toMatchObject({ status: 201, body: { name: 'Customers in Europe' } })
  expect(await run(view!)).toMatchObject({
    status: 201,
    body: { name: 'signups', columns: [{ type: 'string' }, { type: 'datetime' }, { name: 'plan' }] },
  })
  const [statement] = blocks('sql')
  const asked = await held.home.call('POST', '/api/projects/@current/query/', {
    as: key,
    body: { query: { kind: 'HogQLQuery', query: statement } },
  })
  expect(asked.body).toMatchObject({
    columns: ['plan', 'people'],
    results: [
      ['a', 1],
      ['b', 1],
    ],
  })
})

test('the page names every mode, and the limits', () => {
  for (const mode of refreshModes) expect(page, mode).toContain(`\`${mode}\``)
  expect(page).toContain(`at most ${mostTiles} tiles`)
  for (const limit of [mostViews, largestStatement, largestOfAll]) expect(page).toContain(limit.toLocaleString('en'))
})
