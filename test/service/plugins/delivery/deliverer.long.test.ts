import { afterEach, describe, expect, test } from 'vitest'
import { deferred } from '../../../../src/lib/flow/deferred.ts'
import { eventRetry } from '../../../../src/service/plugins/delivery/parts.ts'
import { type DeliveryWorld, deliveryWorld, done, lasting, passing, switchedOff } from './world.ts'

let world: DeliveryWorld
afterEach(() => world.close())

const open = async (limits?: Parameters<typeof deliveryWorld>[0]) => {
  world = await deliveryWorld(limits)
  return world.waymark.createProject({ name: 'Shop' })
}
const receivedBy = (configId: number) => world.received.get(configId) ?? []
const statesOf = async (configId: number) => (await world.failed(configId)).map(({ event, status, attempts }) => [event, status, attempts])

describe('delivery', () => {
  test('begins with the events that are stored after a config was enabled, and has each of them once', async () => {
    const project = await open()
    await world.send(project, 3, 'before')
    const config = await world.add(project, () => done)
    const names = await world.send(project, 450)
    await world.drain()
    expect(receivedBy(config)).toEqual(names)
    expect(await world.failed(config)).toEqual([])
    expect(await world.position(config)).toBe(project.position)
  })

  test('goes only to configs that are enabled and have a function for events', async () => {
    const project = await open()
    const transformation = await world.add(project, () => done, ['processEvent'])
    const unloaded = await world.add(project, () => done, [])
    const webhook = await world.add(project, () => done, ['composeWebhook'])
    const disabled = await world.add(project, () => done)
    await world.setEnabled(disabled, false)
    const names = await world.send(project, 5)
    await world.drain()
    expect([transformation, unloaded, webhook, disabled].map(receivedBy)).toEqual([[], [], names, []])
  })

  test('of a config that was disabled and enabled again leaves out what was stored meanwhile', async () => {
    const project = await open()
    const config = await world.add(project, () => done)
    const first = await world.send(project, 2)
    await world.drain()
    await world.setEnabled(config, false)
    await world.send(project, 2, 'meanwhile')
    await world.drain()
    await world.setEnabled(config, true)
    const last = await world.send(project, 2)
    await world.drain()
    expect(receivedBy(config)).toEqual([...first, ...last])
  })

  test('goes on where it was after a restart', async () => {
    const project = await open()
    const config = await world.add(project, () => done)
    const first = await world.send(project, 25)
    await world.drain()
    const second = await world.send(project, 25)
    world.restart()
    await world.changed(null)
    await world.drain()
    expect(receivedBy(config)).toEqual([...first, ...second])
  })

  test('repeats one step after a crash', async () => {
    const project = await open({ eventsAtOnce: 10 })
    const config = await world.add(project, (event) => (event === 'event 17' ? 'hangs' : done))
    const names = await world.send(project, 100)
    await world.deliverer.tick()
    while (!receivedBy(config).includes('event 17')) {
      await new Promise(setImmediate)
      await world.deliverer.tick()
    }
    world.destinations.set(config, () => done)
    world.restart()
    await world.drain()
    expect(new Set(receivedBy(config))).toEqual(new Set(names))
    const again = receivedBy(config).filter((name, i, all) => all.indexOf(name) !== i)
    expect(again).toContain('event 17')
    expect(again.length).toBeLessThanOrEqual(20)
  })
})

describe('a delivery that fails', () => {
  test('is tried again until it succeeds', async () => {
    const project = await open()
    const config = await world.add(project, (event, attempt) => (event === 'event 3' && attempt < 6 ? passing : done))
    const names = await world.send(project, 10)
    await world.drainAll()
    expect(receivedBy(config).filter((name) => name === 'event 3')).toHaveLength(6)
    expect(new Set(receivedBy(config))).toEqual(new Set(names))
    expect(await world.failed(config)).toEqual([])
  })

  test('waits longer after each failure', async () => {
    const project = await open()
    const times: number[] = []
    await world.add(project, () => {
      times.push(world.clock.now.getTime())
      return passing
    })
    await world.send(project, 1)
    await world.drainAll()
    const waits = times.slice(1).map((time, i) => time - times[i]!)
    expect(times).toHaveLength(eventRetry.attempts)
    expect(waits.slice(2).every((wait, i) => wait >= waits[i + 1]!)).toBe(true)
    expect(waits[0]).toBeLessThanOrEqual(60_000)
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(24 * 3_600_000)
  })

  test('is a dead letter after the last attempt, and at once if it fails for good', async () => {
    const project = await open({ attempts: 3 })
    const config = await world.add(project, (event) => (event === 'event 1' ? passing : event === 'event 2' ? lasting : done))
    await world.send(project, 4)
    await world.drain()
    expect(await statesOf(config)).toEqual(
      expect.arrayContaining([
        ['event 1', 'waiting', 1],
        ['event 2', 'dead', 1],
      ]),
    )
    await world.drainAll()
    expect(await statesOf(config)).toEqual(
      expect.arrayContaining([
        ['event 1', 'dead', 3],
        ['event 2', 'dead', 1],
      ]),
    )
    expect(world.logs.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The event [0-9a-f-]{36} was not delivered and is a dead letter: answered with status 400$/),
      expect.stringMatching(/^The event [0-9a-f-]{36} was not delivered and is a dead letter: answered with status 503$/),
    ])
  })

  test('is not an attempt while the plugin is switched off', async () => {
    const project = await open({ attempts: 2 })
    let isOff = true
    const config = await world.add(project, () => (isOff ? switchedOff : done))
    const names = await world.send(project, 30)
    for (let i = 0; i < 5; i++) {
      await world.drain()
      world.clock.now = new Date(world.clock.now.getTime() + 600_000)
    }
    expect(await world.failed(config)).toEqual([])
    isOff = false
    world.received.clear()
    await world.drain()
    expect(receivedBy(config)).toEqual(names)
  })

  test('while another one succeeds, leaves no gap when the plugin is switched off in between', async () => {
    const project = await open({ attempts: 2 })
    let count = 0
    const config = await world.add(project, () => (++count > 4 && count < 40 ? switchedOff : done))
    const names = await world.send(project, 30)
    await world.drainAll()
    expect(new Set(receivedBy(config))).toEqual(new Set(names))
    expect(await world.failed(config)).toEqual([])
  })

  test('is tried at once when someone asks for it, also while a step of its config runs', async () => {
    const project = await open()
    const { promise, resolve } = deferred<void>()
    let isUp = false
    const config = await world.add(project, async (event) => {
      if (event === 'event 1') await promise
      return isUp || event === 'event 1' ? done : lasting
    })
    await world.send(project, 1)
    await world.drain()
    await world.send(project, 1)
    await world.deliverer.tick()
    while (!receivedBy(config).includes('event 1')) await new Promise(setImmediate)
    isUp = true
    const { store } = world.waymark.accounts.context
    await store.write((tables) =>
      tables.plugin_failed_deliveries.update({ plugin_config_id: config }, { status: 'waiting', attempts: 0, due_at: world.clock.now }),
    )
    world.deliverer.changed([config])
    resolve()
    await world.drain()
    expect(receivedBy(config)).toEqual(['event 0', 'event 1', 'event 0'])
    expect(await world.failed(config)).toEqual([])
  })

  test('drops the oldest dead letters when there are too many, and says how many', async () => {
    const project = await open({ dead: 5 })
    const config = await world.add(project, () => {
      world.clock.now = new Date(world.clock.now.getTime() + 1)
      return lasting
    })
    await world.send(project, 40)
    await world.drain()
    expect((await world.failed(config)).length).toBe(5)
    const dropped = world.logs.flatMap(({ message }) => /(\d+) of the oldest dead letters were dropped/.exec(message)?.[1] ?? [])
    expect(dropped.map(Number).reduce((sum, one) => sum + one)).toBe(35)
  })

  test('holds the position when too many events wait, so that an outage loses nothing and takes little room', async () => {
    const project = await open({ waiting: 20 })
    let isUp = false
    const config = await world.add(project, () => (isUp ? done : passing))
    const names = await world.send(project, 300)
    for (let i = 0; i < 30; i++) {
      await world.drain()
      world.clock.now = new Date(world.clock.now.getTime() + 60_000)
    }
    expect((await world.failed(config)).length).toBe(20)
    const steps = receivedBy(config).length
    expect(steps).toBeLessThan(300)
    isUp = true
    world.received.clear()
    await world.drainAll()
    expect(new Set(receivedBy(config))).toEqual(new Set(names))
    expect(receivedBy(config)).toHaveLength(300)
  })
})

describe('a config that hangs', () => {
  test('delays neither other configs nor other projects, however many there are', async () => {
    const project = await open({ quickMs: 20, quickSteps: 2, allSteps: 50 })
    const other = await world.waymark.createProject({ name: 'Other' })
    for (let i = 0; i < 10; i++) await world.add(project, () => 'hangs')
    const neighbour = await world.add(project, () => done)
    const stranger = await world.add(other, () => done)
    const [names, others] = [await world.send(project, 50), await world.send(other, 50, 'other')]
    const isComplete = () => receivedBy(neighbour).length === 50 && receivedBy(stranger).length === 50
    while (!isComplete()) {
      await world.deliverer.tick()
      await new Promise(setImmediate)
    }
    expect(receivedBy(neighbour)).toEqual(names)
    expect(receivedBy(stranger)).toEqual(others)
  })

  test('has few events in memory, and does not keep the server from closing', async () => {
    const project = await open({ eventsAtOnce: 4 })
    const config = await world.add(project, () => 'hangs')
    await world.send(project, 100)
    await world.deliverer.tick()
    while (receivedBy(config).length < 4) await new Promise(setImmediate)
    expect(receivedBy(config)).toHaveLength(4)
    await world.deliverer.close()
    expect(receivedBy(config)).toHaveLength(4)
    expect(await world.position(config)).toBe(0)
  })

  test('nor does a read that waits for what is applied before it', async () => {
    const project = await open({})
    const config = await world.add(project, () => done)
    await world.send(project, 10)
    let reads = 0
    const never = () => new Promise<never>(() => void reads++)
    Object.defineProperty(await world.waymark.project(project.id), 'storedEvents', { value: { range: never, at: never } })
    await world.deliverer.tick()
    while (reads === 0) await new Promise(setImmediate)
    await world.deliverer.close()
    expect(await world.position(config)).toBe(0)
    expect(world.reports).toEqual([])
  })
})
