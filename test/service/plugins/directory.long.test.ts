import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { bundledPlugins } from '../../../src/service/plugins/bundled/registry.ts'
import { runPlugin } from '../../harness/plugin-rows.ts'
import { mmdbOf } from './mmdb.ts'

// What plugins keep in a data directory, and what the operator gives them.

const folder = mkdtempSync(join(tmpdir(), 'waymark-plugins-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let now = new Date('2026-01-05T10:00:00Z')
const within = async <T>(name: string, work: (waymark: LocalWaymark) => Promise<T>, plugins: OpenOptions['plugins'] = {}): Promise<T> => {
  const options = { threads: 1, memoryLimit: '128MB', minFreeBytes: 0, durability: 'os', clock: () => now } as const
  const waymark = await open({ dataDir: join(folder, name), ...options, plugins: { runs: false, ...plugins } })
  try {
    return await work(waymark)
  } finally {
    await waymark.close()
  }
}
const event = (name: string, properties: object = {}) => ({ event: name, distinct_id: 'u1', properties })
const rows = async (project: LocalProject, what: string) =>
  (await project.query({ kind: 'SqlLikeQuery', query: `select ${what} from events order by timestamp` })).results
const noFilter = { after: null, before: null, search: '', types: [] }

test('tasks, jobs, storage and logs outlive the process; what is enabled runs after a start', async () => {
  const code = `
    exports.runEveryMinute = async ({ utils }) => { console.log('minute', await utils.cursor.increment('minutes')) }
    exports.jobs = { async greet({ name }, { storage }) { await storage.set('greeted', name); console.log('hello', name) } }
    exports.processEvent = async (event, { jobs, storage }) => {
      event.properties.greeted = await storage.get('greeted', null)
      if (event.event === 'later') await jobs.greet({ name: 'Ada' }).runIn(2, 'hours')
      return event
    }`
  const config = await within('kept', async (waymark) => {
    const project = await waymark.createProject()
    const id = await runPlugin(waymark, project.id, code)
    await waymark.plugins.host.tick() // the minute in which it is enabled has begun already
    await project.ingest([event('later')])
    expect(await rows(project, 'event, properties.greeted')).toEqual([['later', null]])
    now = new Date('2026-01-05T10:01:30Z')
    await waymark.plugins.host.tick()
    await waymark.plugins.host.tick()
    return id
  })
  const lines = await within('kept', async (waymark) => {
    const project = await waymark.project((await waymark.projects())[0]!.id)
    await waymark.plugins.host.tick() // the same minute
    now = new Date('2026-01-05T12:00:30Z')
    await waymark.plugins.host.tick()
    await waymark.plugins.host.tick()
    await project.ingest([event('after')])
    expect(await rows(project, 'event, properties.greeted')).toEqual([
      ['later', null],
      ['after', 'Ada'],
    ])
    return waymark.plugins.host.find(config, noFilter)
  })
  expect(
    lines
      .map(({ message }) => message)
      .toReversed()
      .sort(),
  ).toEqual(['hello Ada', 'minute 1', 'minute 2'])
  expect(new Set(lines.map(({ instance_id }) => instance_id)).size).toBe(2)
})

test('what plugins capture while the directory is closed is kept, and no event fails for it', async () => {
  const code = `export async function processEvent(event) {
    if (event.event === 'sent') await posthog.capture('captured', { n: event.properties.n })
    return event
  }`
  await within('closing', async (waymark) => {
    const project = await waymark.createProject()
    await runPlugin(waymark, project.id, code)
    await project.ingest(Array.from({ length: 50 }, (_, n) => event('sent', { n })))
  })
  await within('closing', async (waymark) => {
    const project = await waymark.project((await waymark.projects())[0]!.id)
    const query =
      "select event, count(), countIf(properties.$plugins_failed = '[]'), count(distinct properties.n) from events group by event order by event"
    expect((await project.query({ kind: 'SqlLikeQuery', query })).results).toEqual([
      ['captured', 50, 50, 50],
      ['sent', 50, 50, 50],
    ])
  })
})

describe('addresses', () => {
  test('cities of the database of the operator', async () => {
    const file = join(folder, 'cities.mmdb')
    writeFileSync(
      file,
      mmdbOf({ '8.8.8.0/24': { city: { names: { en: 'Berlin' } }, country: { iso_code: 'DE', names: { en: 'Germany' } } } }),
    )
    const geoip = bundledPlugins.find(({ url }) => url === 'inline://geoip')!
    await within(
      'geoip',
      async (waymark) => {
        const project = await waymark.createProject()
        await runPlugin(waymark, project.id, geoip.code)
        await project.ingest([event('known'), { ...event('unknown'), timestamp: '2026-01-06T10:00:00Z' }], { ip: '8.8.8.8' })
        expect(await rows(project, 'properties.$geoip_city_name, properties.$geoip_country_code')).toEqual([
          ['Berlin', 'DE'],
          ['Berlin', 'DE'],
        ])
      },
      { geoip: file },
    )
  })

  test.each([
    ['missing.mmdb', null, 'ENOENT'],
    ['odd.mmdb', 'no database', 'cannot be read'],
  ])('%s is refused when the directory is opened', async (name, content, reason) => {
    const file = join(folder, name)
    if (content !== null) writeFileSync(file, content)
    await expect(within(`refused-${name}`, async () => null, { geoip: file })).rejects.toMatchObject({
      code: 'validation-failed',
      attr: 'plugins.geoip',
      message: expect.stringContaining(reason),
    })
  })
})
