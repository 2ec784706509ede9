import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { random } from '../../../bench/random.ts'
import { type Claim, createAdmission } from '../../../src/engine/admission/admission.ts'
import { debtMs, lightMs } from '../../../src/engine/admission/lanes.ts'
import { type Deferred, deferred } from '../../../src/lib/flow/deferred.ts'

// Which statements get execution slots. Statements are promises that a test settles; the clock is stopped unless a test advances it.

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A statement that runs until the test ends it, or until it is interrupted. */
interface Statement {
  readonly result: Promise<unknown>
  /** How often it was started. */
  readonly starts: () => number
  readonly isRunning: () => boolean
  end(): void
}

const settled = () => vi.advanceTimersByTimeAsync(0)
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

const desk = (places: number) => {
  const admission = createAdmission(places)
  const claim = (project: number, more: Partial<Parameters<typeof admission.claim>[0]> = {}): Claim =>
    admission.claim({ project, caller: 'a', seconds: 60, ...more })
  const ask = (by: Claim, options?: { canRestart?: boolean }): Statement => {
    let starts = 0
    let current: Deferred<void> | null = null
    const result = by
      .schedule(async ({ signal }) => {
        starts++
        const mine = deferred<void>()
        current = mine
        const stop = () => mine.reject(new Error('stopped'))
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop)
        await mine.promise.finally(() => {
          current = null
        })
      }, options)
      .finally(() => by.end(true))
    result.catch(() => undefined)
    return { result, starts: () => starts, isRunning: () => current !== null, end: () => current?.resolve() }
  }
  return { admission, claim, ask }
}

test('what has ended holds nothing: neither its signal nor the one of its caller has a listener', async () => {
  const { claim, ask } = desk(1)
  const caller = new AbortController()
  const [running, waiting] = [claim(1, { signal: caller.signal }), claim(2, { signal: caller.signal })]
  const [first, second] = [ask(running), ask(waiting)]
  await settled()
  for (const one of [first, second]) {
    one.end()
    await one.result
    await settled()
  }
  for (const signal of [running.signal, waiting.signal, caller.signal]) expect(getEventListeners(signal, 'abort')).toEqual([])
})

describe('between projects', () => {
  test('a small query is answered beside new heavy ones, which continue', async () => {
    const { claim, ask } = desk(2)
    const heavy = [1, 2, 3].map(() => ask(claim(1)))
    await settled()
    expect(heavy.map((one) => one.isRunning())).toEqual([true, true, false])
    const small = ask(claim(2))
    await pass(lightMs - 1)
    expect(small.isRunning(), 'each has its while').toBe(false)
    await pass(1)
    expect([small.isRunning(), ...heavy.map((one) => one.isRunning())]).toEqual([true, true, false, false])
    small.end()
    await settled()
    expect([small.starts(), ...heavy.map((one) => one.starts())], 'what was interrupted is begun again, behind what waited longer').toEqual(
      [1, 1, 1, 1],
    )
  })

  test('heavy async queries yield as well', async () => {
    const { claim, ask } = desk(2)
    const heavy = [1, 2, 3].map(() => ask(claim(1, { isBackground: true, seconds: 600 })))
    await pass(5_000)
    const small = ask(claim(2))
    await settled()
    expect(small.isRunning(), 'at once: they had their while').toBe(true)
    expect(heavy.filter((one) => one.isRunning())).toHaveLength(1)
  })

  test('the caller with the smallest share is next', async () => {
    const { claim, ask } = desk(1)
    const order: string[] = []
    const queued = (project: number, name: string) => {
      const one = ask(claim(project))
      one.result.then(() => order.push(name))
      return one
    }
    const first = queued(1, 'first of one')
    const others = [queued(1, 'second of one'), queued(1, 'third of one'), queued(2, 'first of two'), queued(2, 'second of two')]
    for (let i = 0; i < 5; i++) {
      await pass(10)
      for (const one of [first, ...others]) one.end()
      await settled()
    }
    expect(order).toEqual(['first of one', 'first of two', 'second of one', 'second of two', 'third of one'])
  })

  test('the second slot goes to the project without a slot', async () => {
    const { claim, ask } = desk(2)
    const own = [1, 2].map(() => ask(claim(1)))
    await pass(lightMs)
    const cost = { key: 'report', kind: null }
    const before = ask(claim(2, { cost }))
    await settled()
    await pass(lightMs)
    before.end()
    await settled()
    expect(own.map((one) => one.isRunning())).toEqual([true, true])
    await pass(lightMs)
    const known = ask(claim(2, { cost }))
    await settled()
    expect([known.isRunning(), ...own.map((one) => one.isRunning())], 'though it is known to be heavy').toEqual([true, true, false])
  })

  test('a statement is interrupted twice at most, then it waits for a slot that it may keep', async () => {
    const { claim, ask } = desk(2)
    const first = ask(claim(1))
    await pass(10)
    const later = ask(claim(1))
    for (let i = 0; i < 2; i++) {
      await pass(lightMs)
      const small = ask(claim(2))
      await settled()
      expect([small.isRunning(), later.isRunning()]).toEqual([true, false])
      small.end()
      await settled()
    }
    expect([later.starts(), later.isRunning()], 'one at most stays').toEqual([3, true])
    await pass(lightMs)
    const small = ask(claim(2))
    await settled()
    expect([small.isRunning(), first.isRunning(), later.isRunning()]).toEqual([true, false, true])
  })

  test('statements that cannot restart never take the last slot, nor more than half of the slots for one project', async () => {
    const { claim, ask } = desk(4)
    const streams = [1, 2, 3].map(() => ask(claim(1), { canRestart: false }))
    await settled()
    expect(streams.map((one) => one.isRunning())).toEqual([true, true, false])
    const others = [2, 3].map((project) => ask(claim(project), { canRestart: false }))
    await settled()
    expect(others.map((one) => one.isRunning())).toEqual([true, false])
    const light = ask(claim(4))
    await settled()
    expect(light.isRunning()).toBe(true)
  })

  test('a heavy query gets the slot of an endless one of somebody who has used more', async () => {
    const { claim, ask } = desk(2)
    const background = { isBackground: true, seconds: 600, cost: { key: 'report', kind: null } }
    const once = ask(claim(3, background))
    await pass(lightMs)
    once.end()
    const endless = [1, 2].map((project) => ask(claim(project, { isBackground: true, seconds: 600 })))
    await pass(lightMs)
    const heavy = ask(claim(3, background))
    await pass(debtMs - lightMs - 1)
    expect(heavy.isRunning(), 'each has its while').toBe(false)
    await pass(1)
    expect([heavy.isRunning(), endless.filter((one) => one.isRunning()).length]).toEqual([true, 1])
    heavy.end()
    await settled()
    expect(endless.map((one) => one.isRunning())).toEqual([true, true])
  })

  test.each(Array.from({ length: 60 }, (_, i) => i + 1))(
    'however many endless queries of others there are, one that ends gets its time: %i',
    async (seed) => {
      const draw = random(seed)
      const upTo = (most: number) => 1 + Math.floor(draw() * most)
      const { claim, ask } = desk(1 + upTo(3))
      const others = upTo(5)
      for (let i = upTo(16); i > 0; i--)
        ask(claim(upTo(others), { isBackground: draw() < 0.8, seconds: 600 })).result.catch(() => undefined)
      await pass(upTo(12_000))
      const needed = upTo(1_400)
      const one = ask(claim(99, { isBackground: true, seconds: 600 }))
      let ran = 0
      let starts = 0
      let waited = 0
      for (; ran < needed && waited < 60_000; waited += 20) {
        await pass(20)
        ran = one.isRunning() && one.starts() === starts ? ran + 20 : 0
        starts = one.starts()
      }
      expect(waited).toBeLessThan(60_000)
    },
  )
})

describe('within a project', () => {
  test('callers have equal shares', async () => {
    const { claim, ask } = desk(1)
    const order: string[] = []
    const queued = (caller: string) => {
      const one = ask(claim(1, { caller }))
      one.result.then(() => order.push(caller))
      return one
    }
    const all = [queued('a'), queued('a'), queued('a'), queued('b')]
    for (let i = 0; i < 4; i++) {
      await pass(10)
      for (const one of all) one.end()
      await settled()
    }
    expect(order).toEqual(['a', 'b', 'a', 'a'])
  })

  test('a query with a waiting client has priority over an async query', async () => {
    const { claim, ask } = desk(2)
    const background = [1, 2].map(() => ask(claim(1, { isBackground: true, seconds: 600 })))
    await pass(lightMs)
    const cost = { key: 'report', kind: null }
    const once = ask(claim(1, { cost }))
    await settled()
    await pass(lightMs)
    once.end()
    await settled()
    await pass(lightMs)
    const again = ask(claim(1, { cost }))
    await settled()
    expect([again.isRunning(), background.filter((one) => one.isRunning()).length]).toEqual([true, 1])
  })

  test('a query known to be light has priority over one known to be heavy', async () => {
    const { claim, ask } = desk(1)
    const cost = { key: 'heavy', kind: null }
    const first = ask(claim(1, { cost }))
    await pass(lightMs)
    first.end()
    await settled()
    const running = ask(claim(1))
    const [heavy, light] = [ask(claim(1, { cost })), ask(claim(1))]
    await settled()
    running.end()
    await settled()
    expect([heavy.isRunning(), light.isRunning()]).toEqual([false, true])
  })

  test('the cost of a new query is that of its kind', async () => {
    const { claim, ask } = desk(1)
    const first = ask(claim(1, { cost: { key: 'one funnel', kind: '1 FunnelsQuery' } }))
    await pass(lightMs)
    first.end()
    await settled()
    const running = ask(claim(1))
    const funnel = ask(claim(1, { cost: { key: 'another funnel', kind: '1 FunnelsQuery' } }))
    const other = ask(claim(1, { cost: { key: 'a trend', kind: '1 TrendsQuery' } }))
    await settled()
    running.end()
    await settled()
    expect([funnel.isRunning(), other.isRunning()]).toEqual([false, true])
  })
})

test('while rows are read the engine runs other statements, one per slot at most', async () => {
  const { claim } = desk(1)
  const reading = [deferred<void>(), deferred<void>(), deferred<void>()]
  const started: number[] = []
  const all = reading.map((rows, i) =>
    claim(1).schedule(async (turn) => {
      started.push(i)
      turn.hasRows()
      await rows.promise
    }),
  )
  await settled()
  expect(started, 'one reads, one has come to its place').toEqual([0, 1])
  reading[0]!.resolve()
  await settled()
  expect(started).toEqual([0, 1, 2])
  reading[1]!.resolve()
  reading[2]!.resolve()
  await Promise.all(all)
})

describe('the time of a query', () => {
  test('waiting counts, and the error says so', async () => {
    const { claim, ask } = desk(1)
    const kept = ask(claim(1, { seconds: 600 }), { canRestart: false })
    const late = claim(2, { seconds: 60 })
    const waiting = ask(late)
    await pass(40_600)
    kept.end()
    await settled()
    expect(waiting.isRunning()).toBe(true)
    await pass(19_399)
    expect(waiting.isRunning()).toBe(true)
    await pass(1)
    await expect(waiting.result).rejects.toThrow('stopped')
    expect(late.signal.reason).toMatchObject({ code: 'query-timeout', data: { seconds: 60, waited: 41, ran: 19 } })
    expect(late.signal.reason.message).toBe(
      'The query took longer than 60 seconds and was stopped: waited 41 s, ran 19 s. It waited in the queue for most of that time: retry later, or run fewer queries at a time.',
    )
  })

  test('synchronous work is stopped when its time is over or its caller has left', () => {
    const { claim } = desk(1)
    const one = claim(1, { seconds: 60 })
    one.check()
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)
    expect(() => one.check()).toThrow(expect.objectContaining({ code: 'query-timeout', data: { seconds: 60, waited: 0, ran: 60 } }))
    now.mockRestore()
    const left = new AbortController()
    const other = claim(1, { signal: left.signal })
    other.check()
    left.abort()
    expect(() => other.check()).toThrow(expect.objectContaining({ code: 'query-cancelled' }))
  })

  test('a query that times out in the queue leaves it', async () => {
    const { admission, claim, ask } = desk(1)
    ask(claim(1, { seconds: 600 }), { canRestart: false })
    const waiting = ask(claim(2))
    await pass(60_000)
    await expect(waiting.result).rejects.toMatchObject({ code: 'query-timeout', data: { waited: 60, ran: 0 } })
    expect(admission.waiting).toBe(0)
  })

  test('waiting for events to be applied counts, reading slowly does not', async () => {
    const { claim } = desk(1)
    const one = claim(1)
    const applied = deferred<string>()
    const first = one.awaits(applied.promise)
    await pass(20_000)
    applied.resolve('applied')
    expect(await first).toBe('applied')
    const source = async function* () {
      yield 1
      await new Promise((resume) => setTimeout(resume, 39_000))
      yield 2
      await new Promise((resume) => setTimeout(resume, 1_001))
      yield 3
    }
    const rows = one.paced(source())
    expect(await rows.next()).toEqual({ done: false, value: 1 })
    await pass(3_600_000)
    const second = rows.next()
    await pass(39_000)
    expect(await second).toEqual({ done: false, value: 2 })
    expect(one.signal.aborted).toBe(false)
    rows.next().catch(() => undefined)
    await pass(1_000)
    expect(one.signal.reason).toMatchObject({ data: { waited: 20, ran: 40 } })
  })

  test('a caller that leaves frees its slot, or its position in the queue', async () => {
    const { admission, claim, ask } = desk(1)
    const caller = new AbortController()
    const running = ask(claim(1, { signal: caller.signal }))
    const waiting = ask(claim(1, { signal: caller.signal }))
    const other = ask(claim(2))
    await settled()
    caller.abort()
    await expect(running.result).rejects.toThrow('stopped')
    await expect(waiting.result).rejects.toMatchObject({ code: 'query-cancelled' })
    await settled()
    expect([other.isRunning(), admission.waiting]).toEqual([true, 0])
  })
})

test('a query of very many statements costs the queue no more than each of them', async () => {
  const { admission, claim, ask } = desk(2)
  const left = new AbortController()
  const many = claim(1, { signal: left.signal })
  ask(claim(2, { seconds: 600 }), { canRestart: false })
  const before = process.cpuUsage().user
  const all = Array.from({ length: 20_000 }, () => ask(many))
  left.abort()
  await Promise.allSettled(all.map(({ result }) => result))
  expect(admission.waiting).toBe(0)
  // Comparing each statement with all others took 60 s.
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(10)
})
