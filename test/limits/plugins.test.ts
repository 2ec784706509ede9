import { afterAll, describe, expect, test } from 'vitest'
import { otherLimits } from '../../src/limits/limits.ts'
import { storageScope } from '../../src/service/plugins/server-calls.ts'
import { withHome } from '../doors/http/conversation.ts'
import { closeSharedSandbox, createWorld, eventOf, pluginOf } from '../service/plugins/world.ts'

// What a plugin keeps and sends is bounded by its config and its project, whatever its code does.

afterAll(closeSharedSandbox)

describe('the storage of a config', () => {
  /** The result of an expression in a plugin, with the storage as it was filled before. */
  const evaluated = async (expression: string, filled: Readonly<Record<string, string>> = {}) => {
    const world = createWorld()
    const plugin = pluginOf(
      `export async function processEvent(event, { storage, utils }) {
        const refused = async (work) => { try { await work(); return 'kept' } catch (error) { return error.message } }
        event.properties = { value: await (async () => (${expression}))() }
        return event
      }`,
    )
    for (const [key, json] of Object.entries(filled)) await world.ports.storage.set(storageScope(plugin), key, json)
    await world.runtime.use(plugin.projectId, [plugin])
    const [event] = await world.runtime.transform(plugin.projectId, [eventOf()])
    return {
      value: (event as { properties: { value: unknown } }).properties.value,
      size: await world.ports.storage.size(storageScope(plugin)),
    }
  }
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '1']))
  const { number: mostKeys } = otherLimits.storageKeys
  const { number: mostCharacters } = otherLimits.storageBytes
  const fullText = JSON.stringify('x'.repeat(99_000))
  const full = Object.fromEntries(Array.from({ length: Math.floor(mostCharacters / 99_010) }, (_, i) => [`k${i}`, fullText]))

  test.each([
    ['one key more', "await refused(() => storage.set('more', 1))", keys(mostKeys), `has ${mostKeys} keys, and the limit is ${mostKeys}`],
    ['a cursor more', "await refused(() => utils.cursor.init('more'))", keys(mostKeys), `has ${mostKeys} keys`],
    ['a key that is there', "await refused(() => storage.set('k7', 2))", keys(mostKeys), 'kept'],
    ['one more after one was removed', "(await storage.del('k1'), await refused(() => storage.set('more', 1)))", keys(mostKeys), 'kept'],
    [
      'more characters',
      "await refused(() => storage.set('more', 'x'.repeat(99000)))",
      full,
      `the limit is ${mostCharacters}. Remove keys with del()`,
    ],
    ['the same key, longer', "await refused(() => storage.set('k0', 'x'.repeat(99900)) .then(() => storage.set('k1', 'x'.repeat(99900))).then(async () => { for (let i = 2; i < 60; i++) await storage.set('k' + i, 'x'.repeat(99900)) }))", full, `the limit is ${mostCharacters}`], // biome-ignore format: one expression
    ['a shorter value', "await refused(() => storage.set('k0', 'short'))", full, 'kept'],
  ])('%s', async (_, expression, filled, expected) => {
    const { value, size } = await evaluated(expression, filled)
    expect(value).toContain(expected)
    expect(size.keys).toBeLessThanOrEqual(mostKeys)
    expect(size.characters).toBeLessThanOrEqual(mostCharacters)
  })
})

describe('events that a plugin captures', () => {
  const held = withHome()
  const code = `export async function processEvent(event) {
    if (event.event !== 'captured') await posthog.capture('captured', { from: event.event })
    return event
  }`
  const start = async (limit: number) => {
    const { call, owner, organization, world } = held.home
    const as = owner
    const { body: project } = await call('POST', `/api/organizations/${organization.id}/projects/`, { as, body: { name: `P${limit}` } })
    const plugins = `/api/organizations/${organization.id}/plugins/`
    const { body: plugin } = await call('POST', plugins, { as, body: { plugin_type: 'source', name: `plugin ${limit}` } })
    await call('PATCH', `${plugins}${plugin.id}/update_source`, { as, body: { 'index.ts': code } })
    const config = { plugin: plugin.id, enabled: true, order: 1 }
    expect((await call('POST', `/api/projects/${project.id}/plugin_configs/`, { as, body: config })).status).toBe(201)
    await world.accounts.eventQuotas.setByOperator(project.id, limit)
    // The plugin leaves these alone.
    const batch = Array.from({ length: 3 }, () => ({ event: 'captured', distinct_id: 'u' }))
    expect((await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })).status).toBe(200)
    const quota = async () => world.accounts.eventQuotas.of((await world.accounts.projects.byId(project.id))!)
    const stored = async () =>
      (
        await (
          await world.projectData(project.id)
        ).query({
          kind: 'SqlLikeQuery',
          query: 'select event, count() from events group by event order by event',
        })
      ).results
    await expect.poll(async () => (await quota()).taken).toBe(3)
    // Of a program with the library, whose own events have no limit.
    await (await world.projectData(project.id)).ingest({ batch: ['one', 'two', 'three'].map((event) => ({ event, distinct_id: 'u' })) })
    return { project, quota, stored }
  }

  test('count for the quota of the project', async () => {
    const { quota, stored } = await start(100)
    await stored() // the plugin runs when the events are stored
    await expect.poll(async () => (await quota()).taken).toBe(6)
    expect(await stored()).toContainEqual(['captured', 6])
  })

  test('are refused beyond it', async () => {
    const { project, quota, stored } = await start(3)
    const row = () => held.home.world.accounts.context.store.read.event_counts.first({ project_id: project.id })
    await stored()
    await expect.poll(async () => (await row())?.refused ?? 0).toBeGreaterThan(0)
    expect(await quota()).toMatchObject({ limit: 3, taken: 3 })
    expect(await stored()).toEqual([
      ['captured', 3],
      ['one', 1],
      ['three', 1],
      ['two', 1],
    ])
  })
})
