import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Row } from '../../../src/doors/http/resource.ts'
import { routes } from '../../../src/doors/http/routes.ts'
import { rowLimits } from '../../../src/limits/limits.ts'
import { accountShapes } from '../../../src/service/accounts/records.ts'
import { placesOf } from '../../harness/schema-places.ts'
import { type Home, startHome } from './conversation.ts'

// The largest value in every field of every route that changes something, one after another: whatever is taken, no row of account data is larger than
// the table of limits says, definitions of projects neither, and nothing is a fault of the server.

let home: Home
beforeAll(async () => {
  home = await startHome()
  home.world.limits = { api: [], query: [], draft: [], shared: [], session: [] }
})
afterAll(() => home.world.close())

const large = 'x'.repeat(1_500_000)
/** The largest value of the place's own type. */
const valueFor = (type: string): unknown => (type === 'array' ? [large] : type === 'record' || type === 'object' ? { large } : large)

/** What ends what the test stands on. */
const isLeftOut = ({ name }: Row) =>
  /replace|^pipeline_|^organization_(batch|project)|^(query\.|events\.|login\.|password_links\.|setup\.|signup\.)|reset_token|remove|job/.test(
    name,
  )
const rows = routes.flatMap(({ path, rows: all }) =>
  [...all.values()].filter((row) => row.body && !isLeftOut(row)).map((row) => ({ path, row })),
)

const lengthOf = (row: Readonly<Record<string, unknown>>) =>
  Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + value.length
    return sum + (value !== null && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value).length : 0)
  }, 0)

/** Rows above their size. */
const tooLarge = async (): Promise<string[]> => {
  const { read } = home.world.accounts.context.store
  const found: string[] = []
  for (const table of Object.keys(accountShapes) as (keyof typeof accountShapes)[]) {
    const { size } = rowLimits[table]
    for (const row of await (read[table] as { find(where: object): Promise<readonly object[]> }).find({})) {
      const length = lengthOf(row as Record<string, unknown>)
      if (length > size) found.push(`${table}: ${length} characters, at most ${size}`)
    }
  }
  return found
}

test('no field of any route is kept larger than it may be', async () => {
  const { world, organization, project, owner, call } = home
  const made = new Map<string, string>()
  const pathOf = (path: string) =>
    `${path.replace(/:(\w+)/g, (_, name: string) => {
      if (name === 'organization_id') return organization.id
      if (name === 'project_id') return String(project.id)
      if (name === 'uuid' && path.startsWith('/api/users')) return '@me'
      return made.get(path.slice(0, path.indexOf('/:id'))) ?? String(project.id)
    })}/`
  const wrong: string[] = []
  const taken: string[] = []
  for (const { path, row } of rows) {
    for (const place of placesOf(row.body!)) {
      const { type } = place.schema._zod.def
      if (!/^(string|array|record|unknown|any|object)$/.test(type)) continue
      const answer = await call(row.method, pathOf(path), { as: owner, body: place.body(valueFor(type)) })
      const name = `${row.name} ${place.path.join('.')}`
      if (answer.status >= 500) wrong.push(`${name}: ${answer.status}`)
      if (answer.status < 300) taken.push(name)
      const id = row.isCreating && answer.status === 201 ? (answer.body?.id ?? answer.body?.short_id) : undefined
      if (id !== undefined) made.set(path, String(id))
    }
    if (taken.length > 0) for (const one of await tooLarge()) wrong.push(`after ${row.name}: ${one}`)
    taken.length = 0
  }
  expect([...new Set(wrong)]).toEqual([])
  const { cohorts, actions } = await world.waymark.project(project.id)
  for (const one of [...(await cohorts.list()), ...(await actions.list())]) expect(JSON.stringify(one).length).toBeLessThan(200_000)
  expect((await call('GET', '/api/users/@me/', { as: owner })).status).toBe(200)
})
