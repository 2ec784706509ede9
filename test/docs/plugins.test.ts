import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { retryWait } from '../../src/service/jobs/retry.ts'
import { bundledPlugins } from '../../src/service/plugins/bundled/registry.ts'
import { usualLimits } from '../../src/service/plugins/delivery/open-deliveries.ts'
import { eventRetry } from '../../src/service/plugins/delivery/parts.ts'
import type { JsonObject } from '../../src/service/plugins/ports.ts'
import { defaultLimits } from '../../src/service/plugins/sandbox/limits.ts'
import { closeSharedSandbox, createWorld, eventOf, pluginOf } from '../service/plugins/world.ts'
import { webhookSamples } from './webhook-samples.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/plugins.md'), 'utf8')
afterAll(closeSharedSandbox)

const examples = [...page.matchAll(/```(js|ts)\n\/\/ ([\w-]+)\n([\s\S]*?)```\n\n```json\n([\s\S]*?)```/g)]
  .map(
    ([, language = '', name = '', code = '', given = '']) =>
      [name, language, code, JSON.parse(given) as { config: JsonObject; properties: JsonObject; becomes: JsonObject | null }] as const,
  )
  .filter(([, , , given]) => 'becomes' in given)

test('the page has its examples', () => {
  expect(examples.map(([name]) => name)).toEqual(['add-greeting', 'drop-tests', 'count-orders'])
  expect(webhookSamples.map(({ name }) => name)).toEqual(['stripe', 'github']) // test/doors/http/webhooks.test.ts runs them
})

test.each(examples)('%s', async (_, language, code, { config, properties, becomes }) => {
  const world = createWorld()
  await world.runtime.use(1, [pluginOf(code, 1, { config, file: `index.${language}` })])
  const [event] = await world.runtime.transform(1, [eventOf(properties)])
  const marks = { $plugins_succeeded: ['plugin 1 (1)'], $plugins_failed: [], $plugins_deferred: [] }
  expect(event?.properties ?? null).toEqual(becomes && { ...becomes, ...marks })
  expect(world.logs.filter(({ source }) => source === 'SYSTEM')).toEqual([])
  await world.runtime.close()
})

test('the limits of the page are those of the sandbox', () => {
  const { runMs, threadMs, awaitMs, memory, stack, value, openCalls, logLines } = defaultLimits
  const rows = [
    `| code that does not await anything of the server | ${runMs / 1000} s |`,
    `| a call with everything that it awaits | ${awaitMs / 1000} s |`,
    `| code that the engine cannot stop, such as a long function of its own | ${threadMs / 1000} s |`,
    `| memory | ${memory / 1024 / 1024} MB for each config of a plugin |`,
    `| depth of calls and data | ${stack / 1024} KB of stack |`,
    `| a value that is returned, stored or sent | ${value / 1024 / 1024} MB |`,
    `| calls of the server at once | ${openCalls} |`,
    `| lines of the log | ${logLines} per call, 600 per minute |`,
  ]
  for (const row of rows) expect(page).toContain(row)
})

test('the page lists the bundled plugins with their fields', () => {
  for (const { name, config_schema } of bundledPlugins) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${name} |`))
    expect([name, row?.split('|').at(-2)?.trim()]).toEqual([name, config_schema.map(({ key }) => `\`${key}\``).join(', ') || 'none'])
  }
})

test('what the page says about deliveries is so', () => {
  const { eventsOfStep, waiting, dead, quickMs, quickSteps, eventsAtOnce } = usualLimits
  const middle = 0.5
  const waits = Array.from({ length: eventRetry.attempts - 1 }, (_, i) => retryWait(eventRetry, i + 1, middle))
  expect([waits[0], waits[1]! / waits[0]!, waits.at(-1)]).toEqual([10_000, 3, 4 * 3_600_000])
  expect(waits.reduce((sum, one) => sum + one)).toBeGreaterThan(86_400_000)
  for (const text of [
    `up to ${eventsOfStep} events of a config come again`,
    `${eventRetry.attempts} attempts failed`,
    `At most ${waiting.toLocaleString('en')} of its events wait`,
    `Of dead letters, ${dead.toLocaleString('en')} are kept`,
    `longer than ${quickMs / 1000} seconds do not count among the ${quickSteps}`,
    `has ${eventsAtOnce} events`,
  ])
    expect(page).toContain(text)
})
