import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { kernelModuleText } from '../../../build/kernels.mjs'
import * as bits from '../../../src/core/folds/days/bits.ts'
import { Edges } from '../../../src/core/folds/series/edges.ts'
import { blockWords } from '../../../src/core/lists/kept/person-set.ts'
import { type KernelMode, type KernelName, kernelsFor, mostSearched, switchKernels, takeCalled } from '../../../src/core/simd/kernels.ts'
import { EventSearch } from '../../../src/core/simd/search.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Each kernel finds what its loop in JavaScript finds.

afterEach(() => switchKernels('on'))

const inMode = <R>(mode: KernelMode, run: () => R): R => {
  switchKernels(mode)
  takeCalled()
  return run()
}
/** What the loops find is also what the kernels find, which were called. */
function expectSame<R>(run: () => R, ...kernels: KernelName[]): void {
  const expected = inMode('off', run)
  expect(takeCalled()).toEqual([])
  expect(inMode('always', run)).toEqual(expected)
  expect([...takeCalled()].sort()).toEqual(kernels.sort())
}

test('the module is what the source text compiles to (npm run kernels writes it)', async () => {
  const file = join(import.meta.dirname, '../../../src/core/simd/kernel-module.ts')
  expect(readFileSync(file, 'utf8')).toBe(await kernelModuleText())
})

test('this processor has the kernels', () => {
  expect(kernelsFor(mostSearched)).not.toBeNull()
})

/** Around steps of 16 and of 64, and the longest stretch. */
const lengths = [0, 1, 15, 16, 17, 63, 64, 65, 127, 1000, mostSearched - 1, mostSearched]
const length = fc.oneof(fc.nat(300), fc.constantFrom(...lengths))
/** Values that are cheap to draw, of any length. */
const mixed = (seed: number, at: number): number => {
  const x = Math.imul(at ^ seed ^ ((at ^ seed) >>> 15), 0x2c1b3c6d)
  return (Math.imul(x ^ (x >>> 12), 0x297a2d39) >>> 8) & 0xffff
}

test('names, and columns that are 1', () =>
  assertGenerated(
    fc.property(
      fc.record({
        seed: fc.nat(),
        from: fc.nat(40),
        length,
        names: fc.constantFrom(1, 2, 5, 40, 256),
        isWanted: fc.constantFrom('none', 'all', 'some', 'one', 'high'),
        columns: fc.nat(2),
      }),
      ({ seed, from, length: count, names, isWanted, columns }) => {
        const end = from + count
        const codes = Uint8Array.from({ length: end + 20 }, (_, i) => mixed(seed, i) % names)
        const byName = Int32Array.from({ length: names }, (_, name) =>
          isWanted === 'all' ||
          (isWanted === 'some' && name % 3 === 0) ||
          (isWanted === 'one' && name === names - 1) ||
          (isWanted === 'high' && name >= 128)
            ? 1
            : 0,
        )
        const values = Array.from({ length: columns }, (_, column) => Uint8Array.from(codes, (_, i) => mixed(seed + column + 1, i) % 3))
        const naive: number[] = []
        for (let i = from; i < end; i++) if (byName[codes[i]!] === 1 && values.every((one) => one[i] === 1)) naive.push(i - from)
        const search = new EventSearch(codes, byName, 0, values)
        const run = () => {
          const found = search.run(from, end)
          return [...search.found.subarray(0, found)]
        }
        expect(run()).toEqual(naive)
        expectSame(run, 'names', 'positions', ...(columns > 0 ? (['ones'] as const) : []))
      },
    ),
    { numRuns: 150 },
  ))

test('names of two bytes: those above 254 are one', () =>
  assertGenerated(
    fc.property(
      fc.record({
        seed: fc.nat(),
        from: fc.nat(40),
        length,
        wanted: fc.uniqueArray(fc.constantFrom<number>(0, 3, 17, 200, 254, 255, 256, 300, 65_535)),
        others: fc.nat(1),
      }),
      ({ seed, from, length: count, wanted, others }) => {
        const end = from + count
        const some = [0, 3, 17, 18, 200, 254, 255, 256, 300, 301, 32_768, 65_535]
        const codes = Uint16Array.from({ length: end + 9 }, (_, i) => some[mixed(seed, i) % some.length]!)
        const byName = Int32Array.from({ length: 400 }, (_, name) => (wanted.includes(name) ? 1 : 0))
        const isWanted = (code: number) => (code < byName.length ? byName[code]! : others) !== 0
        const search = new EventSearch(codes, byName, others, [])
        const found = inMode('always', () => search.run(from, end))
        expect([...takeCalled()].sort()).toEqual(['names', 'narrow', 'positions'])
        const places = [...search.found.subarray(0, found)].map((place) => from + place)
        const naive = Array.from(codes.subarray(from, end).keys(), (i) => from + i).filter((i) => isWanted(codes[i]!))
        expect(places.filter((i) => isWanted(codes[i]!))).toEqual(naive)
        expect(places.every((i) => isWanted(codes[i]!) || (!search.isExact && codes[i]! >= 255))).toBe(true)
        const byLoop = inMode('off', () => search.run(from, end))
        expect([...search.found.subarray(0, byLoop)].map((place) => from + place)).toEqual(naive)
      },
    ),
    { numRuns: 100 },
  ))

test('buckets of times', () =>
  assertGenerated(
    fc.property(
      fc.record({
        gaps: fc.array(fc.constantFrom(3_600e6, 82_800e6, 86_400e6, 90_000e6, 31 * 86_400e6, 7), { minLength: 1, maxLength: 40 }),
        start: fc.constantFrom(0, -1e15, 1_767_571_200e6),
        seed: fc.nat(),
        rows: fc.oneof(fc.nat(60), fc.constantFrom(8191, 8192, 8193, 20_001)),
        less: fc.nat(1),
        outside: fc.constantFrom(null, -1),
      }),
      ({ gaps, start, seed, rows, less, outside }) => {
        const edges = Float64Array.of(start, ...gaps.map((_, i) => start + gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0)))
        const table = new Edges(edges)
        const span = edges.at(-1)! - start
        const time = Float64Array.from({ length: rows + 3 }, (_, i) => {
          const edge = edges[mixed(seed, i) % edges.length]!
          const other = [edge - 1, edge, edge + 1, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, start - 5, edges.at(-1)! + 5]
          return i % 3 === 0 ? other[mixed(seed, i + 7) % other.length]! : start + Math.floor((mixed(seed, i) / 65_536) * span)
        })
        const counted = () => {
          const counts = new Int32Array(rows + 3).fill(77)
          table.count({ rows, time }, counts, { less, outside })
          return counts
        }
        const naive = Array.from(time.subarray(0, rows), (at) => {
          const before = edges.reduce((sum, edge) => sum + (edge <= at ? 1 : 0), 0)
          return outside !== null && (before === 0 || before === edges.length) ? outside : before - less
        })
        expect([...inMode('off', counted)]).toEqual([...naive, 77, 77, 77])
        expect([...inMode('always', counted)]).toEqual([...naive, 77, 77, 77])
        const isFine = span / 2 ** 20 < Math.min(...gaps) / 2 && (span / Math.min(...gaps)) * 8 + 2 < 2 ** 15
        expect(takeCalled()).toEqual(isFine ? ['buckets'] : [])
      },
    ),
    { numRuns: 200 },
  ))

const drawnBits = fc.record({ seed: fc.nat(), share: fc.constantFrom('none', 'all', 'few', 'half', 'ends') })
const bitsOf = ({ seed, share }: { readonly seed: number; readonly share: string }): Uint32Array =>
  Uint32Array.from({ length: blockWords }, (_, word) => {
    if (share === 'none') return 0
    if (share === 'all') return 0xffffffff
    if (share === 'ends') return word === 0 ? 1 : word === blockWords - 1 ? 0x80000000 : 0
    if (share === 'few') return mixed(seed, word) % 50 === 0 ? 1 << (seed % 32) : 0
    return (mixed(seed, word) << 16) | mixed(seed + 1, word)
  })

test('sets of persons', () =>
  assertGenerated(
    fc.property(drawnBits, drawnBits, (one, other) => {
      const changed = (change: (a: Uint32Array, b: Uint32Array) => void) => () => {
        const [a, b] = [bitsOf(one), bitsOf(other)]
        change(a, b)
        return [a, b]
      }
      expectSame(changed(bits.uniteBits), 'or')
      expectSame(
        changed((a, b) => bits.unite(a, { count: 1, listed: null, bits: b })),
        'or',
      )
      expectSame(changed(bits.intersect), 'and')
      expectSame(changed(bits.keepNew), 'fresh')
      const [a, b] = [bitsOf(one), bitsOf(other)]
      expectSame(() => bits.count(a), 'count')
      expectSame(() => bits.countOfBoth(a, b), 'countBoth')
      expectSame(() => bits.countOfEither(a, b), 'countEither')
    }),
    { numRuns: 60 },
  ))
