import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import type { LocalProject } from '../../../../src/project.ts'

let waymark: LocalWaymark
let project: LocalProject

const note = `"quoted", 'single'\n\u00e9\u{1F600}`
const sent = Array.from({ length: 30 }, (_, i) => ({
  event: `event ${i}`,
  distinct_id: `user ${i % 3}`,
  timestamp: new Date(Date.UTC(2026, 0, 5, 10, 0, 30 - i, i)).toISOString(),
  properties: { i, note, big: 'x'.repeat(i === 10 ? 5000 : 10), $set: { plan: 'pro' } },
}))

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject({ name: 'Shop', timezone: 'Europe/Berlin' })
  for (let i = 0; i < sent.length; i += 10) await project.ingest({ batch: sent.slice(i, i + 10) })
})
afterAll(() => waymark.close())

const most = { events: 1000, characters: 1_000_000 }

describe('stored events', () => {
  test('have what was sent, in the order of arrival', async () => {
    const { events, through } = await project.storedEvents.range({ after: 0, to: project.position, ...most })
    expect(through).toBe(project.position)
    expect(events.map(({ event }) => event)).toEqual(sent.map(({ event }) => event))
    expect(events.map(({ timestamp }) => new Date(timestamp).toISOString())).toEqual(sent.map(({ timestamp }) => timestamp))
    expect(events.map(({ properties }) => JSON.parse(properties).note)).toEqual(sent.map(() => note))
    expect(JSON.parse(events[4]!.person_properties)).toMatchObject({ plan: 'pro' })
    expect(events[4]!.person_id).toMatch(/^[0-9a-f-]{36}$/)
    expect(events[4]!.person_id).toBe(events[7]!.person_id)
    expect(events.every(({ uuid }) => /^[0-9a-f-]{36}$/.test(uuid))).toBe(true)
  })

  test.each([
    ['one event at a time', { events: 1, characters: 1_000_000 }],
    ['few characters: at least one event', { events: 1000, characters: 1 }],
    ['a large event among small ones', { events: 7, characters: 3000 }],
  ])('are read to the end in pieces: %s', async (_, pieces) => {
    const seen: string[] = []
    const to = project.position
    for (let after = 0; after < to; ) {
      const { events, through } = await project.storedEvents.range({ after, to, ...pieces })
      expect(through).toBeGreaterThan(after)
      expect(events.length).toBeLessThanOrEqual(pieces.events)
      seen.push(...events.map(({ event }) => event))
      after = through
    }
    expect(seen).toEqual(sent.map(({ event }) => event))
  })

  test('of positions without an event, nothing is read and the range ends', async () => {
    const to = project.position
    expect(await project.storedEvents.range({ after: to, to: to + 5, ...most })).toEqual({ events: [], through: to + 5 })
    const { events } = await project.storedEvents.range({ after: 0, to, ...most })
    const [second, fifth] = [events[1]!.position, events[4]!.position]
    expect((await project.storedEvents.at([fifth, second, to + 7])).map(({ position }) => position)).toEqual([second, fifth])
    expect(await project.storedEvents.at([])).toEqual([])
  })
})
