import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Deferred, deferred } from '../../../src/lib/flow/deferred.ts'
import type { Kind } from '../../../src/service/jobs/kind.ts'
import { leaseMs } from '../../../src/service/jobs/leases.ts'
import { type Retry, retryWait } from '../../../src/service/jobs/retry.ts'
import { createRunner, type Runner } from '../../../src/service/jobs/runner.ts'
import { type Thing, type ThingParts, thingKind, thingStore, thingsOf } from './things.ts'

// The runner against a clock that a test sets, and a naive model of what it may do.

const start = Date.parse('2026-01-05T10:00:00Z')
const second = 1_000
const retry: Retry = { attempts: 4, firstMs: 10 * second, growth: 2, longestMs: 60 * second, jitter: 0.25 }
/** Everything that can go on without the clock has gone on. */
const quiet = async () => {
  for (let i = 0; i < 5; i++) await new Promise<void>((done) => setImmediate(done))
}

interface Attempt {
  readonly thing: Thing
  readonly runner: string
  readonly signal: AbortSignal
  readonly end: Deferred<void>
}

/** Runners on one store, whose attempts a test ends. */
const createWorld = (kinds: readonly Pick<ThingParts, 'name' | 'share' | 'retry'>[] = [{ name: 'thing', share: { slots: 2 }, retry }]) => {
  const clock = { now: start }
  const store = thingStore()
  const attempts: Attempt[] = []
  const reports: unknown[] = []
  const violations: unknown[] = []
  const kindsBy = new Map<Runner, readonly Kind<Thing>[]>()
  const hooks: Pick<ThingParts, 'onDue' | 'onFailure'> & { onStart?: (one: Attempt) => void } = {}
  const world = {
    clock,
    store,
    attempts,
    reports,
    violations,
    hooks,
    /** The kinds do not keep their failures. */
    withoutColumn: false,
    runner(owner: string, { isAlone = false, mostMs }: { readonly isAlone?: boolean; readonly mostMs?: number } = {}): Runner {
      const made = kinds.map((kind) => kindOf(kind, owner, mostMs))
      const report = (error: unknown) => void reports.push(error)
      const runner = createRunner({ context: { store, clock: () => new Date(clock.now) }, report, owner, isAlone }, made as Kind<unknown>[])
      kindsBy.set(runner, made)
      return runner
    },
    kindsOf: (runner: Runner) => kindsBy.get(runner)!,
    add: (id: string, project_id = 1, more: Partial<Thing> = {}) =>
      store.write((tables) =>
        thingsOf(tables).insert({ id, project_id, kind: 'thing', status: 'waiting', due_at: new Date(clock.now), failures: 0, ...more }),
      ),
    things: () => thingsOf(store.read).find({}),
    leases: () => store.read.leases.find({}),
  }
  const kindOf = (kind: (typeof kinds)[number], owner: string, mostMs: number | undefined): Kind<Thing> => {
    const { failed, ...made } = thingKind({
      ...kind,
      ...(mostMs !== undefined && { mostMs }),
      store,
      onDue: (due) => hooks.onDue?.(due),
      onFailure: (thing, next) => hooks.onFailure?.(thing, next),
      async run(thing, { signal }) {
        const one: Attempt = { thing, runner: owner, signal, end: deferred<void>() }
        signal.addEventListener('abort', () => one.end.reject(signal.reason))
        attempts.push(one)
        try {
          hooks.onStart?.(one)
        } catch (error) {
          violations.push(error) // or it would be a failure of the work
        }
        await one.end.promise.finally(() => attempts.splice(attempts.indexOf(one), 1))
      },
    })
    return world.withoutColumn ? made : { ...made, failed: failed! }
  }
  return world
}
const ids = (attempts: readonly Attempt[]) => attempts.map(({ thing }) => thing.id).sort()

describe('slots', () => {
  test('go to the project with the least in progress, then to what is due longest', async () => {
    const world = createWorld([{ name: 'thing', share: { slots: 3, ofProject: 2 }, retry }])
    for (let i = 0; i < 5; i++) await world.add(`a${i}`, 1, { due_at: new Date(start - 10_000 + i) })
    await world.add('b', 2)
    const runner = world.runner('one')
    await runner.tick()
    await quiet()
    expect(ids(world.attempts)).toEqual(['a0', 'a1', 'b'])
    world.attempts.find(({ thing }) => thing.id === 'b')!.end.resolve()
    await quiet()
    expect(ids(world.attempts), 'a project has no more than its own').toEqual(['a0', 'a1'])
    world.attempts[0]!.end.resolve()
    await quiet()
    expect(ids(world.attempts), 'without another look').toEqual(['a1', 'a2'])
    await runner.close()
  })

  test('work that failed goes behind other work of its age, for ten minutes at most', async () => {
    const world = createWorld([{ name: 'thing', share: { slots: 1 }, retry }])
    await world.add('failed', 1, { failures: 3, due_at: new Date(start - 60_000) })
    await world.add('new', 1)
    await world.add('old', 1, { failures: 99, due_at: new Date(start - 11 * 60_000) })
    const order: string[] = []
    world.hooks.onStart = ({ thing, end }) => {
      order.push(thing.id)
      end.resolve()
    }
    const runner = world.runner('one')
    await runner.tick()
    await quiet()
    expect(order).toEqual(['old', 'new', 'failed'])
    await runner.close()
  })

  test('an attempt now needs no slot, and is the same as one in progress', async () => {
    const world = createWorld([{ name: 'thing', share: { slots: 1 }, retry }])
    await world.add('a')
    await world.add('b')
    const runner = world.runner('one')
    await runner.tick()
    await quiet()
    const now = (id: string) => {
      const item = { id, project_id: 1, kind: 'thing', status: 'waiting', due_at: new Date(start), failures: 0 } as const
      return runner.now(world.kindsOf(runner)[0]!, { id, projectId: 1, at: start, item })
    }
    const ended = Promise.all([now('a'), now('b'), now('b')])
    await quiet()
    expect(ids(world.attempts)).toEqual(['a', 'b'])
    for (const one of [...world.attempts]) one.end.resolve()
    await ended
    expect((await world.things()).map(({ status }) => status)).toEqual(['done', 'done'])
    await runner.close()
  })
})

describe('retries', () => {
  test.each<[string, Retry]>([
    ['without jitter', { ...retry, jitter: 0 }],
    ['with jitter', retry],
    ['that grow for long', { attempts: 1_000, firstMs: 1, growth: 3, longestMs: 1e9, jitter: 0.5 }],
  ])('%s: each wait is within its bounds', (_, one) => {
    for (let failures = 1; failures < 300; failures++) {
      // By addition, as somebody would who knows no powers.
      let middle = one.firstMs
      for (let n = 1; n < failures && middle < one.longestMs; n++) middle *= one.growth
      middle = Math.min(middle, one.longestMs)
      for (const random of [0, 0.3, 0.5, 1]) {
        const wait = retryWait(one, failures, random)
        expect(wait).toBeGreaterThanOrEqual(middle * (1 - one.jitter) - 1e-6)
        expect(wait).toBeLessThanOrEqual(middle * (1 + one.jitter) + 1e-6)
      }
      expect(retryWait(one, failures, 0.5)).toBeCloseTo(middle, 6)
    }
  })

  test('work without a column for failures rests in its lease, which other processes see, and the next failure waits longer', async () => {
    const world = createWorld()
    world.withoutColumn = true
    await world.add('a')
    const waits: number[] = []
    for (let i = 0; i < 3; i++) {
      const runner = world.runner(`process ${i}`)
      world.hooks.onStart = ({ end }) => end.reject(new Error('no'))
      await runner.tick()
      await quiet()
      const [lease] = await world.leases()
      expect(lease).toMatchObject({ owner: null, failures: i + 1 })
      waits.push(lease!.until.getTime() - world.clock.now)
      expect(await runner.tick()).toBe(lease!.until.getTime())
      expect(world.reports).toHaveLength(i + 1)
      world.clock.now = lease!.until.getTime()
      await runner.close()
    }
    for (const [i, wait] of waits.entries()) expect(Math.abs(wait / (10 * second * 2 ** i) - 1)).toBeLessThanOrEqual(0.25)
    const last = world.runner('last')
    world.hooks.onStart = ({ end }) => end.resolve()
    await last.tick()
    await quiet()
    expect([(await world.things())[0]!.status, await world.leases()]).toEqual(['done', []])
    await last.close()
  })
})

describe('leases', () => {
  test('are renewed while work goes on, and end by themselves when nobody renews them', async () => {
    const world = createWorld()
    await world.add('a')
    const [first, second_] = [world.runner('first'), world.runner('second')]
    await first.tick()
    await quiet()
    for (let i = 0; i < 10; i++) {
      world.clock.now += leaseMs - 1
      await first.renew()
      await second_.tick()
      await quiet()
      expect(world.attempts).toMatchObject([{ runner: 'first' }])
    }
    world.clock.now += leaseMs
    await second_.tick()
    await quiet()
    // The first one was only slow: it learns that its lease is gone, and its result is not written.
    expect(world.attempts).toMatchObject([{ runner: 'first' }, { runner: 'second' }])
    await first.renew()
    await quiet()
    expect(world.attempts).toMatchObject([{ runner: 'second' }])
    expect(await world.leases()).toMatchObject([{ owner: 'second' }])
    world.attempts[0]!.end.resolve()
    await quiet()
    expect([(await world.things())[0], await world.leases()]).toMatchObject([{ status: 'done', failures: 0 }, []])
    await Promise.all([first.close(), second_.close()])
  })

  test('the result of a process that has lost its lease is not written', async () => {
    const world = createWorld()
    await world.add('a')
    const [first, other] = [world.runner('first'), world.runner('other')]
    await first.tick()
    await quiet()
    world.clock.now += leaseMs
    await other.tick()
    await quiet()
    world.attempts[0]!.end.resolve()
    await quiet()
    expect((await world.things())[0]!.status).toBe('waiting')
    expect(await world.leases()).toMatchObject([{ owner: 'other' }])
    await Promise.all([first.close(), other.close()])
  })

  test('of processes that have ended are removed by one that is alone, and after a day by any', async () => {
    const world = createWorld()
    await world.add('a')
    await world.runner('killed').tick()
    await quiet()
    world.attempts.length = 0
    const alone = world.runner('alone', { isAlone: true })
    await alone.tick()
    await quiet()
    expect(world.attempts).toMatchObject([{ runner: 'alone' }])
    await alone.close()
    await world.store.write((tables) =>
      tables.leases.insert({ id: 'thing gone', project_id: 1, kind: 'thing', owner: null, until: new Date(world.clock.now), failures: 3 }),
    )
    world.clock.now += 25 * 3_600_000
    const any = world.runner('any')
    await any.tick()
    expect((await world.leases()).filter(({ id }) => id === 'thing gone')).toEqual([])
    await any.close()
  })
})

describe('stopping', () => {
  test('aborts what runs, gives the leases back, and starts nothing more; the next process goes on without a failure', async () => {
    const world = createWorld()
    for (const id of ['a', 'b', 'c']) await world.add(id)
    const first = world.runner('first')
    await first.tick()
    await quiet()
    const signals = world.attempts.map(({ signal }) => signal)
    await first.close()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect([first.running, await world.leases()]).toEqual([0, []])
    expect(await first.tick()).toBe(Number.POSITIVE_INFINITY)
    const next = world.runner('next')
    world.hooks.onStart = ({ end }) => end.resolve()
    await next.tick()
    await quiet()
    expect(await world.things()).toMatchObject(Array.from({ length: 3 }, () => ({ status: 'done', failures: 0 })))
    await next.close()
  })

  test('waits for what may end', async () => {
    const world = createWorld([{ name: 'thing', share: { slots: 2, graceMs: 60_000 }, retry }])
    await world.add('a')
    const runner = world.runner('one')
    await runner.tick()
    await quiet()
    const closed = runner.close()
    await quiet()
    expect(world.attempts[0]!.signal.aborted).toBe(false)
    world.attempts[0]!.end.resolve()
    await closed
    expect((await world.things())[0]!.status).toBe('done')
  })

  test('the time limit of an attempt aborts it, and counts as a failure', async () => {
    const world = createWorld()
    await world.add('a')
    const runner = world.runner('one', { mostMs: 20 })
    const failed = deferred<void>()
    world.hooks.onFailure = () => failed.resolve()
    await runner.tick()
    await failed.promise
    await runner.settled()
    expect([(await world.things())[0], await world.leases()]).toMatchObject([{ status: 'waiting', failures: 1 }, []])
    await runner.close()
  })
})

interface Plan {
  readonly projects: number
  readonly kinds: readonly { readonly slots: number; readonly ofProject: number; readonly jitter: number; readonly attempts: number }[]
  /** By project: many things, few things. */
  readonly things: readonly {
    readonly project: number
    readonly kind: number
    readonly after: number
    readonly fails: number
    readonly lasts: number
  }[]
  readonly runners: number
  readonly closeAt: number
}
const plans: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 4 }).chain((projects) =>
  fc.record({
    projects: fc.constant(projects),
    kinds: fc.array(
      fc.record({
        slots: fc.integer({ min: 1, max: 4 }),
        ofProject: fc.integer({ min: 1, max: 4 }),
        jitter: fc.constantFrom(0, 0.25),
        attempts: fc.integer({ min: 1, max: 4 }),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    things: fc.array(
      fc.record({
        project: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: projects }) }),
        kind: fc.integer({ min: 0, max: 1 }),
        after: fc.integer({ min: 0, max: 60 }),
        fails: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 5 }) }),
        lasts: fc.integer({ min: 0, max: 20 }),
      }),
      { minLength: 1, maxLength: 25 },
    ),
    runners: fc.integer({ min: 1, max: 2 }),
    closeAt: fc.integer({ min: 1, max: 60 }),
  }),
)

test('whatever is due, however it fails: nothing runs twice at a time, nobody starves, waits are within their bounds, and everything ends', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const kinds = plan.kinds.map(({ slots, ofProject, jitter, attempts }, i) => ({
        name: `kind ${i}`,
        share: { slots, ofProject },
        retry: { ...retry, jitter, attempts },
      }))
      const world = createWorld(kinds)
      const plans = new Map(plan.things.map((one, i) => [`t${i}`, { ...one, kind: one.kind % kinds.length }]))
      for (const [id, { project, kind, after }] of plans)
        await world.add(id, project, { kind: `kind ${kind}`, due_at: new Date(start + after * second) })
      const ends = new Map<Attempt, number>()
      const tries = new Map<string, number>()
      /** What each kind has found at the last look, and nobody has started since. */
      const seen = new Map<string, Thing>()
      const notBefore = new Map<string, number>()
      world.hooks.onDue = (due) => {
        for (const thing of due) seen.set(thing.id, thing)
      }
      const released = new Set<string>()
      world.hooks.onStart = (one) => {
        const { thing, runner } = one
        const kind = kinds.find(({ name }) => name === thing.kind)!
        const others = world.attempts.filter((other) => other !== one)
        expect(
          others.map((other) => other.thing.id),
          'twice at a time',
        ).not.toContain(thing.id)
        const its = others.filter((other) => other.runner === runner && other.thing.kind === thing.kind)
        expect(its.length, 'slots').toBeLessThan(kind.share.slots)
        const ofProject = (project: number) => its.filter((other) => other.thing.project_id === project).length
        expect(ofProject(thing.project_id), 'slots of a project').toBeLessThan(kind.share.ofProject)
        expect(world.clock.now, 'before its time').toBeGreaterThanOrEqual(notBefore.get(thing.id) ?? 0)
        seen.delete(thing.id)
        if (plan.runners === 1) {
          // Who had less in progress, and waits longer, would have been next.
          const waiting = [...seen.values()].filter((other) => other.kind === thing.kind && !others.some((o) => o.thing.id === other.id))
          const least = Math.min(...waiting.map(({ project_id }) => ofProject(project_id)))
          expect(ofProject(thing.project_id), 'a project with less in progress waits').toBeLessThanOrEqual(least)
        }
        tries.set(thing.id, (tries.get(thing.id) ?? 0) + 1)
        ends.set(one, world.clock.now + plans.get(thing.id)!.lasts * second)
        one.signal.addEventListener('abort', () => released.add(thing.id))
      }
      world.hooks.onFailure = (thing, next) => {
        const { attempts, jitter } = kinds.find(({ name }) => name === thing.kind)!.retry
        const failures = thing.failures + 1
        expect(next === null, 'given up').toBe(failures >= attempts)
        if (!next) return
        const middle = Math.min(60, 10 * 2 ** (failures - 1)) * second
        const wait = next.getTime() - world.clock.now
        expect(Math.abs(wait - middle)).toBeLessThanOrEqual(middle * jitter + 1)
        notBefore.set(thing.id, next.getTime())
      }
      const failed = new Map<string, number>()
      let runners = Array.from({ length: plan.runners }, (_, i) => world.runner(`runner ${i}`))
      for (let step = 0; (await world.things()).some(({ status }) => status === 'waiting'); step++) {
        expect(step, 'everything ends').toBeLessThan(3_000)
        if (step === plan.closeAt) {
          await runners[0]!.close()
          const owners = (await world.leases()).map(({ owner }) => owner)
          expect(owners, 'leases are given back').not.toContain('runner 0')
          for (const one of [...ends.keys()]) if (one.runner === 'runner 0') ends.delete(one)
          runners = [world.runner('runner 2'), ...runners.slice(1)]
        }
        for (const runner of runners) await runner.tick()
        await quiet()
        if (world.violations.length > 0) throw world.violations[0]
        for (const [one, at] of ends)
          if (at <= world.clock.now) {
            ends.delete(one)
            seen.delete(one.thing.id)
            const { fails } = plans.get(one.thing.id)!
            const before = failed.get(one.thing.id) ?? 0
            if (before < fails) {
              failed.set(one.thing.id, before + 1)
              one.end.reject(new Error('no'))
            } else one.end.resolve()
          }
        await quiet()
        if (step % 10 === 0) for (const runner of runners) await runner.renew()
        world.clock.now += second
      }
      const done = await world.things()
      for (const { id, status, failures } of done) {
        const { fails, kind } = plans.get(id)!
        const { attempts } = kinds[kind]!.retry
        expect([status, failures], id).toEqual(fails >= attempts ? ['failed', attempts] : ['done', fails])
        // One more for each attempt that was aborted and given back.
        expect(tries.get(id), id).toBe(failures + (status === 'done' ? 1 : 0) + (released.has(id) ? 1 : 0))
      }
      expect(await world.leases()).toEqual([])
      expect(world.reports).toEqual([])
      for (const runner of runners) await runner.close()
    }),
    { numRuns: Number(process.env.WAYMARK_JOBS_MODEL_RUNS ?? 25) },
  )
})
