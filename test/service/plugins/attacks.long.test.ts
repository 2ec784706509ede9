import { afterEach, beforeEach, expect, test } from 'vitest'
import { runPlugin } from '../../harness/plugin-rows.ts'
import { type PluginServer, pluginServer } from './delivery/server.ts'

// While the plugins of one project attack the server, captures and queries of another go on: all of them end before the attack does.

const attacks: Readonly<Record<string, string>> = {
  'an endless loop': 'for (;;) {}',
  'a memory bomb': 'const all = []; for (;;) all.push(new Array(10000).fill(all.length))',
  'a regular expression': "/^(a+)+$/.test('a'.repeat(60) + '!')",
}
/** Each is ended after a second, and is switched off after three times. */
const plugins = 30
const baits = Array.from({ length: 5 }, () => ({ event: 'bait', distinct_id: 'u1' }))

let server: PluginServer
beforeEach(async () => {
  server = await pluginServer()
})
afterEach(() => server.close())

const attackWith = async (code: string) => {
  const { waymark } = server
  const attacker = await waymark.createProject({ name: 'Attacker' })
  const configs: number[] = []
  for (let n = 0; n < plugins; n++) configs.push(await runPlugin(waymark, attacker.id, code, { order: n }))
  return {
    attacker,
    configs,
    async end() {
      await waymark.accounts.context.store.write((tables) => tables.plugin_configs.update({ project_id: attacker.id }, { enabled: false }))
      await waymark.plugins.host.changed([attacker.id])
      await waymark.plugins.deliveries.changed([attacker.id])
    },
  }
}

/** What another project does meanwhile. */
const goOn = async () => {
  for (let i = 1; i <= 15; i++) {
    await server.project.ingest({ batch: [{ event: 'seen', distinct_id: 'u1', properties: { i } }] })
    const { results } = await server.project.query({
      kind: 'SqlLikeQuery',
      query: 'select count(), max(toFloat(properties.i)) from events',
    })
    expect(results).toEqual([[i, i]])
  }
}

test.each(Object.entries(attacks))('%s in transformations', async (_, attack) => {
  const { attacker, end } = await attackWith(`export function processEvent(event) { ${attack}\n return event }`)
  await attacker.ingest({ batch: baits })
  await goOn()
  expect(attacker.lag, 'the attack is not over').toBe(baits.length)
  await end()
  const { results } = await attacker.query({ kind: 'SqlLikeQuery', query: 'select event from events' })
  expect(results).toEqual(baits.map(({ event }) => [event]))
})

test.each(Object.entries(attacks))('%s in deliveries', async (_, attack) => {
  const { attacker, configs, end } = await attackWith(`export function onEvent() { ${attack} }`)
  await attacker.ingest({ batch: baits })
  await goOn()
  const { read } = server.waymark.accounts.context.store
  const over = await read.plugin_failed_deliveries.count({ plugin_config_id: configs, status: 'dead' })
  expect(over, 'the attack is not over').toBeLessThan(baits.length * plugins)
  await end()
})
