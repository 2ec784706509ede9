import { describe, expect, test } from 'vitest'
import { DailySalts } from '../../../src/events/ingestion/cookieless/salts.ts'
import { sessionAt, sessionId } from '../../../src/events/ingestion/cookieless/session.ts'
import { rootDomain, siteOf, withoutTraces } from '../../../src/events/ingestion/cookieless/site.ts'
import { findVisitor, type VisitorFacts, type VisitorRules } from '../../../src/events/ingestion/cookieless/visitor.ts'
import { Visits } from '../../../src/events/ingestion/cookieless/visits.ts'
import type { PreparedEvent } from '../../../src/events/ingestion/decoding/prepare.ts'
import { isUuid } from '../../../src/lib/ids/time-ordered-uuid.ts'
import { assertVisitsHold } from './cookieless-commands.ts'
import { openWorld, type World } from './harness.ts'

// Visitors of pages that set no cookies, from the event to the store.

const cookieless = '$posthog_cookieless'
const firefox = 'Mozilla/5.0 (X11) Firefox/130'
const chrome = 'Mozilla/5.0 (X11) Chrome/130'

interface From {
  readonly ip?: string | null
  readonly userAgent?: string | null
}
const office: From = { ip: '203.0.113.7', userAgent: firefox }
const home: From = { ip: '198.51.100.4', userAgent: firefox }

interface Sent {
  readonly event: string
  readonly distinct_id?: string
  readonly timestamp?: string
  readonly uuid?: string
  readonly properties?: Record<string, unknown>
}
/** As the browser library sends it. */
const made = ({ properties, ...event }: Sent) => ({
  distinct_id: cookieless,
  ...event,
  properties: {
    $cookieless_mode: true,
    $host: 'shop.example',
    $device_id: null,
    distinct_id: event.distinct_id ?? cookieless,
    ...properties,
  },
})
const send = (world: World, from: From, ...events: readonly Sent[]) => world.pipeline.ingest({ batch: events.map(made) }, from)
const identified = (id: string, mail = `${id}@example.org`): Sent => ({
  event: '$identify',
  distinct_id: id,
  properties: { $anon_distinct_id: cookieless, $set: { email: mail } },
})

interface Stored {
  readonly event: string
  readonly id: string
  readonly person: number
  readonly session: string
  readonly properties: Record<string, unknown>
}
const stored = async (world: World): Promise<Stored[]> => {
  const rows = await world.rows(`SELECT n.name AS event, distinct_id AS id, session_id AS session, properties,
      coalesce((SELECT max(survivor) FROM person_merges m WHERE m.merged = e.person_no), e.person_no)::INTEGER AS person
    FROM events e JOIN event_names n USING (event_id) ORDER BY log_seq`)
  return rows.map((row) => ({ ...row, properties: JSON.parse(row.properties as string) as unknown }) as Stored)
}
const distinct = <T>(values: readonly T[]) => new Set(values).size
const kinds = (world: World) => world.pipeline.warnings().map(({ type, count }) => [type, count])
const inWorld = async (work: (world: World) => Promise<void>) => {
  const world = await openWorld()
  try {
    await work(world)
  } finally {
    await world.close()
  }
}

describe('who is one visitor', () => {
  const facts = (given: Record<string, unknown> = {}): VisitorFacts => ({
    properties: { $host: 'shop.example', ...given },
    ip: undefined,
    time: Date.parse('2026-01-15T11:00:00Z') * 1000,
  })
  const salts = new DailySalts(() => new Date('2026-01-15T12:00:00Z'))
  const rules = (sender: From & { claimedAddress?: string } = office, change: Partial<VisitorRules> = {}): VisitorRules => ({
    project: 1,
    timezone: 'UTC',
    salts,
    sender: { address: sender.ip ?? null, userAgent: sender.userAgent ?? null, claimedAddress: sender.claimedAddress ?? null },
    receivedAt: Date.parse('2026-01-15T12:00:00Z') * 1000,
    ...change,
  })
  const hash = (...of: Parameters<typeof findVisitor>) => {
    const found = findVisitor(...of)
    return 'missing' in found ? `no ${found.missing}` : found.hash
  }
  const usual = hash(rules(), facts())

  test.each([
    ['the same again', rules(), facts(), true],
    ['a later moment of the day', rules(), { ...facts(), time: Date.parse('2026-01-15T23:59:59Z') * 1000 }, true],
    ['another page of the site', rules(), facts({ $host: 'www.shop.example' }), true],
    ['the site by its URL', rules(), facts({ $host: undefined, $current_url: 'https://shop.example/cart?x=1' }), true],
    ['the address as IPv6 writes it', rules({ ...office, ip: '::ffff:203.0.113.7' }), facts(), true],
    ['an agent in the event', rules({ ip: office.ip, userAgent: 'a proxy' }), facts({ $raw_user_agent: firefox }), true],
    ['another address', rules(home), facts(), false],
    ['another browser', rules({ ip: office.ip, userAgent: chrome }), facts(), false],
    ['another site', rules(), facts({ $host: 'blog.example' }), false],
    ['another project', rules(office, { project: 2 }), facts(), false],
    ['more to tell by', rules(), facts({ $cookieless_extra: 'screen 3' }), false],
    ['the next day', rules(), { ...facts(), time: Date.parse('2026-01-16T00:00:00Z') * 1000 }, false],
    [
      'the day of another time zone',
      rules(office, { timezone: 'Asia/Tokyo' }),
      { ...facts(), time: Date.parse('2026-01-15T16:00:00Z') * 1000 },
      false,
    ],
    ['an address that the event names', rules(), facts({ $ip: office.ip }), false],
    ['an address that a header names', rules({ userAgent: firefox, claimedAddress: '203.0.113.7' }), facts(), false],
    ['another salt', rules(office, { salts: new DailySalts(() => new Date('2026-01-15T12:00:00Z')) }), facts(), false],
  ])('%s', (_, by, of, isSame) => {
    expect(hash(by, of)).toMatch(/^[\w-]{22}$/)
    expect(hash(by, of) === usual).toBe(isSame)
  })

  test.each([
    ['no address', rules({ userAgent: firefox }), facts(), 'no address'],
    ['no real address', rules({ ip: 'unknown', userAgent: firefox }), facts({ $ip: 'me' }), 'no address'],
    ['no agent', rules({ ip: '203.0.113.7' }), facts(), 'no user agent'],
    ['three days ago', rules(), { ...facts(), time: Date.parse('2026-01-12T23:59:59Z') * 1000 }, 'no day'],
    ['in two days', rules(), { ...facts(), time: Date.parse('2026-01-17T00:00:00Z') * 1000 }, 'no day'],
  ])('%s: nobody', (_, by, of, why) => expect(hash(by, of)).toBe(why))

  test('times that are made up create four salts at most', () => {
    const few = new DailySalts(() => new Date('2026-01-15T12:00:00Z'))
    for (let day = -40; day < 40; day++)
      findVisitor(rules(office, { salts: few }), { ...facts(), time: (Date.parse('2026-01-15T11:00:00Z') + day * 86_400_000) * 1000 })
    expect(few.days.length).toBe(4)
  })

  test.each([
    ['shop.example', 'shop.example'],
    ['www.shop.example', 'shop.example'],
    ['a.b.shop.co.uk', 'shop.co.uk'],
    ['shop.com.au', 'shop.com.au'],
    ['localhost', 'localhost'],
    ['192.0.2.17', '192.0.2.17'],
    ['[2001:db8::1]', '[2001:db8::1]'],
    ['WWW.Shop.Example.', 'shop.example'],
  ])('the site of %s is %s', (host, site) => expect(rootDomain(host)).toBe(site))

  test.each([
    [{ $host: 'www.shop.example:8080' }, 'shop.example'],
    [{ $host: 17, $current_url: 'https://eu.shop.example/a' }, 'shop.example'],
    [{ $current_url: `http://a${'\u0315'.repeat(300_000)}${'\u0300'.repeat(300_000)}/` }, ''],
    [{ $host: 'no host at all', $current_url: 'about:blank' }, ''],
    [{}, ''],
  ])('%.200j is of the site %j', (properties, site) => expect(siteOf(properties)).toBe(site))

  test('what tells who sent an event is removed, in all places', () => {
    const traces = {
      $ip: '203.0.113.7',
      $raw_user_agent: firefox,
      $cookieless_extra: 'x',
      $initial_raw_user_agent: firefox,
      $user_agent: firefox,
    }
    expect(
      withoutTraces({
        ...traces,
        a: 1,
        distinct_id: cookieless,
        $device_id: null,
        $set: { ...traces, b: 2 },
        $set_once: { ...traces, c: 3 },
      }),
    ).toEqual({
      a: 1,
      $set: { b: 2 },
      $set_once: { c: 3 },
    })
  })
})

/** What survives a process. */
const keeping = (before: readonly [number, Buffer][] = []) => ({
  kept: new Map(before),
  read() {
    return this.kept
  },
  write(salts: ReadonlyMap<number, Buffer>) {
    this.kept = new Map([...salts].map(([day, salt]) => [day, Buffer.from(salt)]))
  },
})

describe('salts', () => {
  const day = (text: string) => Date.parse(text) / 86_400_000

  test('are erased when no time zone takes events of the day, and kept until then', () => {
    let now = new Date('2026-01-15T12:00:00Z')
    const store = keeping()
    const salts = new DailySalts(() => now, store)
    const first = Buffer.from(salts.of(day('2026-01-15')))
    expect(new DailySalts(() => now, store).of(day('2026-01-15'))).toEqual(first)
    now = new Date('2026-01-18T11:59:59Z')
    salts.sweep()
    expect([...store.kept.keys()]).toEqual([day('2026-01-15')])
    expect(salts.of(day('2026-01-15'))).toEqual(first)
    now = new Date('2026-01-18T12:00:00Z')
    salts.sweep()
    expect([store.kept.size, salts.days]).toEqual([0, []])
    expect(salts.of(day('2026-01-18'))).not.toEqual(first)
  })

  test('what was left by a process that ended is erased at the start', () => {
    const store = keeping([[day('2026-01-10'), Buffer.alloc(32, 1)]])
    new DailySalts(() => new Date('2026-01-15T12:00:00Z'), store)
    expect(store.kept.size).toBe(0)
  })

  test('that cannot be kept are not used', () => {
    const store = {
      read: () => new Map(),
      write: () => {
        throw new Error('no disk')
      },
    }
    const salts = new DailySalts(() => new Date('2026-01-15T12:00:00Z'), store)
    expect(() => salts.of(day('2026-01-15'))).toThrow('no disk')
    expect(salts.days).toEqual([])
  })
})

describe('sessions', () => {
  const minute = 60_000_000
  const at = (minutes: number) => Date.parse('2026-01-15T12:00:00Z') * 1000 + minutes * minute
  test.each([
    ['half an hour of silence', [0, 30], [0, 0]],
    ['a moment more', [0, 30.001], [0, 1]],
    ['long, with events on the way', [0, 20, 40, 60, 80], [0, 0, 0, 0, 0]],
    ['out of order', [0, 20, 5, 40], [0, 0, 0, 0]],
    ['a late one of long ago, between', [120, 0, 121], [0, 1, 0]],
    ['just before', [30, 0, 45], [0, 0, 0]],
  ])('%s', (_, minutes, expected) => {
    let latest: Parameters<typeof sessionAt>[0] = null
    const ids = minutes.map((one) => {
      const found = sessionAt(latest, 'v', at(one))
      latest = found.latest
      return found.id
    })
    const order = [...new Set(ids)]
    expect(ids.map((id) => order.indexOf(id))).toEqual(expected)
  })

  test('an id is a UUID of version 7 that begins with the time, and the same again', () => {
    const id = sessionId('v', at(0))
    expect(isUuid(id)).toBe(true)
    expect(id[14]).toBe('7')
    expect('89ab').toContain(id[19])
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(at(0) / 1000)
    expect(sessionId('v', at(0))).toBe(id)
    expect(sessionId('w', at(0))).not.toBe(id)
  })
})

describe('from the event to the store', () => {
  test('five visitors are five people with a session each, and their addresses and agents are stored nowhere', () =>
    inWorld(async (world) => {
      const visitors = [office, home, { ...office, userAgent: chrome }, { ...home, userAgent: chrome }, { ...office, ip: '2001:db8::5' }]
      for (const from of visitors)
        await send(
          world,
          from,
          { event: '$pageview', properties: { $raw_user_agent: from.userAgent, $set_once: { $initial_raw_user_agent: from.userAgent } } },
          { event: 'read' },
        )
      const events = await stored(world)
      expect([distinct(events.map(({ id }) => id)), distinct(events.map(({ person }) => person))]).toEqual([5, 5])
      expect(distinct(events.map(({ session }) => session))).toBe(5)
      for (const { id, session, properties } of events) {
        expect(id).toMatch(/^cookieless_[\w-]{22}$/)
        expect(properties).toMatchObject({ $session_id: session, $cookieless_mode: true, $host: 'shop.example' })
        for (const name of ['$ip', '$raw_user_agent', '$device_id', 'distinct_id']) expect(properties).not.toHaveProperty(name)
      }
      const written = world.log.batches.flatMap(({ payloads, ip }) => [...payloads, String(ip)]).join('\n')
      const tables = JSON.stringify(
        await world.rows(
          'SELECT properties AS text FROM events UNION ALL SELECT properties FROM persons UNION ALL SELECT state FROM cookieless_visits UNION ALL SELECT samples FROM warnings',
        ),
      )
      for (const text of [written, tables])
        for (const trace of ['203.0.113.7', '198.51.100.4', '2001:db8', 'Mozilla', cookieless]) expect(text).not.toContain(trace)
      expect(kinds(world)).toEqual([])
    }))

  test('who has the same address and browser is one visitor', () =>
    inWorld(async (world) => {
      await send(world, office, { event: 'a' })
      await send(world, office, { event: 'b' })
      expect(distinct((await stored(world)).map(({ person }) => person))).toBe(1)
    }))

  test('identified, reset, and identified as somebody else: two customers and an anonymous visitor', () =>
    inWorld(async (world) => {
      await send(world, office, { event: 'before' }, identified('ada'), { event: 'as ada', distinct_id: 'ada' })
      await send(world, office, { event: 'after reset' })
      await send(world, office, identified('bob'), { event: 'as bob', distinct_id: 'bob' }, { event: 'late', distinct_id: 'ada' })
      await send(world, office, { event: 'last' })
      const events = await stored(world)
      const personOf = (name: string) => events.find(({ event }) => event === name)!.person
      const sessionOf = (name: string) => events.find(({ event }) => event === name)!.session
      expect(personOf('before')).toBe(personOf('as ada'))
      expect(personOf('late')).toBe(personOf('as ada'))
      expect(personOf('after reset')).toBe(personOf('as bob'))
      expect(distinct(['as ada', 'as bob', 'last'].map(personOf))).toBe(3)
      expect(sessionOf('before')).toBe(sessionOf('as ada'))
      expect(sessionOf('late')).toBe(sessionOf('as ada'))
      expect(sessionOf('after reset')).toBe(sessionOf('as bob'))
      expect(distinct(['as ada', 'as bob', 'last'].map(sessionOf))).toBe(3)
      const mails = await world.rows("SELECT properties ->> 'email' AS mail FROM persons WHERE is_identified ORDER BY 1")
      expect(mails.map(({ mail }) => mail)).toEqual(['ada@example.org', 'bob@example.org'])
      const ids = events.filter(({ event }) => event === '$identify').map(({ properties }) => properties.$anon_distinct_id)
      expect(ids).toEqual([events[0]!.id, events.find(({ event }) => event === 'after reset')!.id])
      expect(kinds(world)).toEqual([])
    }))

  test('a retried $identify counts once', () =>
    inWorld(async (world) => {
      const once = { ...identified('ada'), uuid: '018f0000-0000-7000-8000-000000000001' }
      await send(world, office, { event: 'before' }, once)
      await send(world, office, { event: 'after' })
      await send(world, office, once)
      await send(world, office, { event: 'after, too' })
      const events = await stored(world)
      expect(events.map(({ event }) => event)).toEqual(['before', '$identify', 'after', 'after, too'])
      expect(events[2]!.id).toBe(events[3]!.id)
    }))

  test('the day ends at midnight of the project, and events of two days ago still find theirs', () =>
    inWorld(async (world) => {
      world.timezone = 'Europe/Berlin'
      world.now = new Date('2026-01-15T22:59:00Z')
      await send(world, office, { event: 'today' })
      world.now = new Date('2026-01-15T23:00:00Z')
      await send(world, office, { event: 'tomorrow' })
      await send(world, office, { event: 'late', timestamp: '2026-01-15T22:59:30Z' })
      world.now = new Date('2026-01-17T22:59:59Z')
      await send(world, office, { event: 'very late', timestamp: '2026-01-15T12:00:00Z' })
      world.now = new Date('2026-01-17T23:00:00Z')
      const refused = await send(world, office, { event: 'too late', timestamp: '2026-01-15T12:00:00Z' })
      expect(refused).toMatchObject({ accepted: 0, dropped: 1, warnings: [{ type: 'cookieless_too_late' }] })
      const events = await stored(world)
      const [today, tomorrow, late, veryLate] = events.map(({ id }) => id)
      expect([today === tomorrow, today === late, today === veryLate, events.length]).toEqual([false, true, true, 4])
      expect(kinds(world)).toEqual([['cookieless_too_late', 1]])
    }))

  test('what visitors have done is removed after their day', () =>
    inWorld(async (world) => {
      await send(world, office, { event: 'a' }, identified('ada'), { event: 'b', distinct_id: 'ada' })
      const count = async () => (await world.rows('SELECT count(*)::INTEGER AS n FROM cookieless_visits'))[0]!.n
      expect(await count()).toBe(2)
      world.now = new Date('2026-01-18T23:59:00Z')
      await send(world, home, { event: 'later' })
      expect(await count()).toBe(3)
      world.now = new Date('2026-01-19T00:00:00Z')
      await world.pipeline.ingest({ event: 'another', distinct_id: 'u' })
      expect(await count()).toBe(1)
    }))

  const attacks: readonly (readonly [name: string, attack: (hash: string) => object])[] = [
    ['$identify with the id of all', () => ({ event: '$identify', distinct_id: 'mallory', properties: { $anon_distinct_id: cookieless } })],
    ['$identify with a hash', (hash) => ({ event: '$identify', distinct_id: 'mallory', properties: { $anon_distinct_id: hash } })],
    ['$identify of a hash', (hash) => ({ event: '$identify', distinct_id: hash, properties: { $anon_distinct_id: 'mallory' } })],
    ['$identify of the id of all', () => ({ event: '$identify', distinct_id: cookieless, properties: { $anon_distinct_id: 'mallory' } })],
    ['$create_alias of a hash', (hash) => ({ event: '$create_alias', distinct_id: 'mallory', properties: { alias: hash } })],
    ['$create_alias of the id of all', () => ({ event: '$create_alias', distinct_id: 'mallory', properties: { alias: cookieless } })],
    ['$merge_dangerously of a hash', (hash) => ({ event: '$merge_dangerously', distinct_id: 'mallory', properties: { alias: hash } })],
    ['$merge_dangerously into a hash', (hash) => ({ event: '$merge_dangerously', distinct_id: hash, properties: { alias: 'mallory' } })],
    [
      '$merge_dangerously without cookies',
      (hash) => ({ event: '$merge_dangerously', distinct_id: 'mallory', properties: { alias: hash, $cookieless_mode: true } }),
    ],
    [
      '$create_alias of all',
      () => ({ event: '$create_alias', distinct_id: cookieless, properties: { alias: 'mallory', $cookieless_mode: true } }),
    ],
    [
      '$identify without cookies, with a hash',
      (hash) => ({ event: '$identify', distinct_id: 'mallory', properties: { $anon_distinct_id: hash, $cookieless_mode: true } }),
    ],
    [
      '$identify without cookies, from elsewhere',
      () => ({ event: '$identify', distinct_id: 'mallory', properties: { $anon_distinct_id: cookieless, $cookieless_mode: true } }),
    ],
    [
      'the visitor’s address in the event',
      () => ({
        event: '$identify',
        distinct_id: 'mallory',
        properties: {
          $anon_distinct_id: cookieless,
          $cookieless_mode: true,
          $host: 'shop.example',
          $ip: office.ip,
          $raw_user_agent: firefox,
        },
      }),
    ],
    [
      'a visitor in the event',
      (hash) => ({
        event: '$identify',
        distinct_id: 'mallory',
        $cookieless: [hash.slice(11), 20468, 1],
        properties: { $cookieless_mode: true },
      }),
    ],
    [
      'a past $identify',
      () => ({
        event: '$identify',
        distinct_id: 'mallory',
        timestamp: '2026-01-15T11:00:00Z',
        properties: { $anon_distinct_id: cookieless, $cookieless_mode: true },
      }),
    ],
  ]
  test.each(attacks.flatMap(([name, attack]) => [[name, attack, false] as const, [`${name}, as past events`, attack, true] as const]))(
    'no merge: %s',
    (_, attack, isPast) =>
      inWorld(async (world) => {
        await world.pipeline.ingest({ event: 'own', distinct_id: 'mallory', properties: { $set: { name: 'Mallory' } } })
        await send(world, office, { event: 'visit' })
        const [, visit] = await stored(world)
        await world.pipeline.ingest({ batch: [attack(visit!.id)], historical_migration: isPast }, { ip: '192.0.2.66', userAgent: 'curl' })
        await send(world, office, { event: 'again' })
        const events = await stored(world)
        const mallory = events.find(({ event }) => event === 'own')!.person
        for (const { event, person, id } of events)
          if (event === 'visit' || event === 'again') expect([person === mallory, id]).toEqual([false, visit!.id])
        expect(events.filter(({ id }) => id === cookieless)).toEqual([])
      }),
  )

  test('an event with the id of all and without the mark is of a visitor, too', () =>
    inWorld(async (world) => {
      await world.pipeline.ingest({ event: 'a', distinct_id: cookieless }, office)
      await world.pipeline.ingest({ event: 'b', distinct_id: cookieless }, home)
      expect(distinct((await stored(world)).map(({ person }) => person))).toBe(2)
    }))

  test('an event that was stored with a hash before stays with it', () =>
    inWorld(async (world) => {
      const properties = { $cookieless_mode: true, $session_id: 's1' }
      await world.pipeline.ingest({
        batch: [
          { event: 'a', distinct_id: 'cookieless_abc', timestamp: '2025-01-01T00:00:00Z', properties },
          { event: 'b', distinct_id: 'ada', timestamp: '2025-01-01T00:00:00Z', properties },
        ],
        historical_migration: true,
      })
      expect((await stored(world)).map(({ id, session }) => [id, session])).toEqual([
        ['cookieless_abc', 's1'],
        ['ada', 's1'],
      ])
      expect(kinds(world)).toEqual([])
    }))

  test('beyond the limit visitors are still told apart, have one session a day, and are not linked', async () => {
    const visits = new Visits({ visits: async () => [] }, [[20468, 1]], 2)
    const event = (hash: string, change: Partial<PreparedEvent> = {}) =>
      ({
        distinctId: `cookieless_${hash}`,
        time: 20468 * 86_400_000_000,
        visitor: { hash, day: 20468, isIdentifying: false },
        propertiesFrom: 0,
        propertiesTo: 2,
        mergeWith: null,
        shape: { with: () => undefined },
        ...change,
      }) as unknown as Parameters<Visits['apply']>[0]
    const bytes = Buffer.from('{}')
    const first = visits.apply(event('a'), bytes)
    const second = visits.apply(event('b'), bytes)
    const later = visits.apply(event('b', { time: 20468.9 * 86_400_000_000 }), bytes)
    const known = visits.apply(
      event('b', { distinctId: 'ada', visitor: { hash: 'b', day: 20468, isIdentifying: true }, mergeWith: 'cookieless_b' }),
      bytes,
    )
    expect([first, second, later, known].map(({ isBeyondLimit }) => isBeyondLimit)).toEqual([false, true, true, true])
    expect(second.event.distinctId).toBe('cookieless_b')
    expect(later.event.sessionId).toBe(second.event.sessionId)
    expect(known.event.mergeWith).toBeNull()
  })
})

test('a few random visitors, against the model and from the log alone', () => assertVisitsHold({ open: () => openWorld(), numRuns: 5 }))
