import { spawn } from 'node:child_process'
import { decompress } from 'fzstd'
import lzString from 'lz-string'
import { describe, expect, test } from 'vitest'
import { random } from '../../bench/random.ts'
import { bodyLimits } from '../../src/doors/http/capture/handler.ts'
import { routes } from '../../src/doors/http/routes.ts'
import { compile } from '../../src/engine/execution/compile.ts'
import { duckdb } from '../../src/language/dialects/duckdb/dialect.ts'
import { registry } from '../../src/language/functions/registry.ts'
import { collectQuery, parseQuery } from '../../src/language/parser/parse.ts'
import { withoutTrailingSlashes } from '../../src/lib/text/without-trailing-slashes.ts'
import { queryKinds } from '../../src/queries/registry.ts'
import { openTestProject } from '../harness/duckdb.ts'
import { budgets } from './budgets.ts'
import { examine, passed, type Subject, sizesOf } from './examine.ts'
import { families } from './families.ts'
import { exponentOf, looksSteep } from './growth.ts'
import type { Figures, HttpInput, Probe } from './probe.ts'
import { attackProbes } from './probes/attacks.ts'
import { paths } from './probes/capture.ts'
import { crowdProbes } from './probes/crowds.ts'
import { zstdFrame } from './probes/encodings.ts'
import { functionProbes } from './probes/functions.ts'
import { lzBomb } from './probes/lz-bomb.ts'
import { examples } from './probes/queries.ts'
import { routeProbes } from './probes/routes.ts'
import { rules } from './probes/statements.ts'
import { ProcessTree } from './process-tree.ts'
import { childrenOf } from './processes.ts'
import { regressionProbe, regressions } from './regressions.ts'

// The fuzzer itself: that it tells what is in proportion from what is not, and that it drives what there is.

const nothingMade = { ids: new Map<string, string>(), strangers: [] }

describe('growth', () => {
  const at = (cost: (size: number) => number) => [1_000, 2_000, 4_000].map((size) => [size, cost(size)] as const) as never
  test.each<[string, (size: number) => number, number]>([
    ['in proportion', (n) => n / 10, 1],
    ['in proportion, above a fixed cost', (n) => 500 + n / 10, 1],
    ['with the square', (n) => n ** 2 / 10_000, 2],
    ['with the square, above a fixed cost', (n) => 800 + n ** 2 / 10_000, 2],
  ])('%s', (_, cost, expected) => {
    expect(exponentOf(at(cost), 30)).toBeCloseTo(expected, 1)
  })
  test('what costs next to nothing has no power', () => {
    expect(
      exponentOf(
        at((n) => n / 1_000),
        30,
      ),
    ).toBeNull()
  })
  test('a step is looked at again when it is out of proportion and no noise', () => {
    const steep = (a: number, b: number) =>
      looksSteep(
        [
          [1_000, a],
          [4_000, b],
        ],
        30,
        1.45,
      )
    expect([steep(10, 40), steep(10, 160), steep(1, 16), steep(0, 60), steep(1_000, 4_000)]).toEqual([false, true, false, true, false])
  })
})

/** A subject whose costs are a formula. */
const subjectOf = (cost: (size: number) => Partial<Figures>): Subject & { readonly sizes: number[] } => {
  const sizes: number[] = []
  const measure: Subject['measure'] = async (input, size) => {
    sizes.push(size)
    const none = { cpuMs: 0, wallMs: 0, holdMs: 0, othersMs: 0, residentMb: 0, diskBytes: 0, answerBytes: 0, status: 200, end: null }
    return { size, bytes: input.bytes, ...none, ...cost(size) }
  }
  return { sizes, measure, renew: async () => {} }
}
const probe: Probe = {
  name: 'test',
  door: 'capture',
  grows: 'input',
  from: 1_024,
  most: 1_048_576,
  make: (size) => ({ to: 'call', call: 'parse', given: '', bytes: size }),
}

describe('a probe', () => {
  test('that costs in proportion is driven to its largest size', async () => {
    const subject = subjectOf((size) => ({ cpuMs: size / 1_000, holdMs: size / 10_000 }))
    expect((await examine(probe, subject)).finding).toBeNull()
    expect(subject.sizes).toEqual(sizesOf(probe))
  })
  test('that costs its square is found with n, 2n and 4n', async () => {
    const { finding } = await examine(
      probe,
      subjectOf((size) => ({ cpuMs: size ** 2 / 1e7 })),
    )
    expect(finding?.what).toBe('grows with the power 2.0 of its size in processor time')
    expect(finding?.figures.map(({ size }) => size)).toEqual([finding!.size / 4, finding!.size / 2, finding!.size])
  })
  test('that is over a budget is found near the smallest size that is', async () => {
    const { finding } = await examine(
      probe,
      subjectOf((size) => ({ holdMs: size > 40_000 ? 900 : 1 })),
    )
    expect(finding?.what).toContain('holds the event loop for 900 ms')
    expect(finding!.size).toBeGreaterThan(40_000)
    expect(finding!.size).toBeLessThan(50_000)
  })
  test('that was slow once is not found', async () => {
    let isFirst = true
    const subject = subjectOf((size) => {
      const isSlow = size > 100_000 && isFirst
      if (isSlow) isFirst = false
      return { cpuMs: isSlow ? 5_000 : size / 1_000, holdMs: isSlow ? 5_000 : 1 }
    })
    expect((await examine(probe, subject)).finding).toBeNull()
  })
  test('is over each budget in its own words', () => {
    const none: Figures = {
      size: 1,
      bytes: 1_000_000,
      cpuMs: 0,
      wallMs: 0,
      holdMs: 0,
      othersMs: 0,
      residentMb: 0,
      diskBytes: 0,
      answerBytes: 0,
      status: 200,
      end: null,
    }
    const words = (change: Partial<Figures>) => passed({ ...none, ...change }, budgets.capture)
    expect(words({})).toBeNull()
    expect(words({ holdMs: 1e5 })).toContain('holds the event loop')
    expect(words({ cpuMs: 1e6 })).toContain('processor time')
    expect(words({ residentMb: 1e4 })).toContain('memory')
    expect(words({ diskBytes: 1e9 })).toContain('to disk')
    expect(words({ end: 'ended' })).toBe('ended')
  })
})

describe('what is driven', () => {
  const names = (probes: Iterable<Probe>, most: number) => {
    const found: string[] = []
    for (const one of probes) {
      found.push(one.name)
      if (found.length >= most) break
    }
    return found
  }

  test('the same seed gives the same probes, and each family knows its own by their names', () => {
    for (const family of families) {
      const [one, two] = [names(family.probes(random(3), nothingMade), 40), names(family.probes(random(3), nothingMade), 40)]
      expect(one, family.name).toEqual(two)
      for (const name of one) expect(name).toMatch(family.prefix)
      for (const name of one.slice(0, 5)) if (family.named?.(name)) expect(family.named(name)!.name).toBe(name)
    }
  })

  test('every route that takes a body', () => {
    const driven = new Set(names(routeProbes(random(1), nothingMade), 1e6).map((name) => name.split(' ').slice(1, 3).join(' ')))
    const rows = routes.flatMap((place) =>
      [...place.rows.values()].filter(({ body }) => body).map(({ method }) => `${method} ${place.path.replace(/:(\w+)/g, '{$1}')}/`),
    )
    expect(rows.filter((row) => !driven.has(row))).toEqual([])
    expect(rows.length).toBeGreaterThan(20)
  })

  test('every path of capture', () => {
    expect(Object.keys(paths).map(withoutTrailingSlashes)).toEqual(expect.arrayContaining(Object.keys(bodyLimits)))
  })

  test('every kind of query', () => {
    expect(Object.keys(queryKinds).filter((kind) => !(kind in examples))).toEqual([])
  })

  test('every function whose cases have a constant', () => {
    const driven = new Set(names(functionProbes(random(1)), 1e6).map((name) => name.split(' ')[1]))
    const left = [...registry.keys()].filter((name) => !driven.has(name))
    expect(driven.size).toBeGreaterThan(500)
    expect(left.length).toBeLessThan(registry.size / 4)
  })

  test('statements that can be read, but for those that are meant to be wrong', () => {
    const wrong = Object.entries(rules).filter(([, { from, write }]) => collectQuery(write(from)).errors.length > 0)
    expect(wrong.map(([name]) => name).sort()).toMatchInlineSnapshot(`
      [
        "a comment without its end",
        "a long type",
        "a text without its end",
        "commas",
        "operators",
        "semicolons",
        "strange signs",
        "tags",
        "unclosed parentheses",
      ]
    `)
  })

  test('queries at once that the engine takes: what is refused costs nothing', async () => {
    const project = await openTestProject()
    const context = await project.context()
    const all = [...crowdProbes(), ...attackProbes(random(1), nothingMade)].filter(({ door }) => door === 'queries' || door === 'accounts')
    const statements = all.map((one) => {
      const { body } = one.make(one.from) as HttpInput
      return (JSON.parse(body as string) as { query: { query: string } }).query.query
    })
    expect(statements.length).toBeGreaterThan(5)
    for (const statement of statements) expect(() => compile(parseQuery(statement), { context, dialect: duckdb }), statement).not.toThrow()
    await project.close()
  })

  test('what was found before', () => {
    for (const one of regressions()) expect(regressionProbe(one, nothingMade).name).toBe(one.probe)
  })
})

test('a bomb of LZString unpacks to the square of its length, about', () => {
  const unpacked = lzString.decompressFromBase64(lzBomb(1_024))
  expect(unpacked).toMatch(/^\[+$/)
  expect(unpacked.length).toBeGreaterThan(200_000)
})

test('frames of zstd are read by others', () => {
  for (const text of ['', 'a', 'abc'.repeat(100_000), ' '.repeat(1_000_000)])
    expect(new TextDecoder().decode(decompress(zstdFrame(Buffer.from(text))))).toBe(text)
})

test.skipIf(process.platform !== 'linux')('a server and its engine are measured together, and an engine that ends is seen', async () => {
  const server = spawn('sh', ['-c', 'sleep 100 & wait; sleep 100'])
  try {
    const tree = new ProcessTree(server.pid!)
    await expect.poll(() => childrenOf(server.pid!).length).toBe(1)
    const [child] = childrenOf(server.pid!)
    expect(tree.residentMb()).toBeGreaterThan(0)
    tree.forget()
    expect(tree.peakMb()).toBeGreaterThan(0)
    process.kill(child!, 'SIGKILL')
    await expect.poll(() => childrenOf(server.pid!).includes(child!)).toBe(false)
    const used = tree.ms()
    expect(tree.ended).toBe(1)
    expect(tree.ms()).toBeGreaterThanOrEqual(used) // what it took is not forgotten
    tree.forget()
    expect(tree.ended).toBe(0)
  } finally {
    for (const pid of childrenOf(server.pid!)) process.kill(pid, 'SIGKILL')
    server.kill('SIGKILL')
  }
})
