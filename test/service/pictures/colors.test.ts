import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { colorsOf } from '../../../src/service/pictures/charts/colors.ts'
import { darkColors, lightColors, paletteSize } from '../../../src/service/pictures/style.ts'

// How far apart colors are for people with each kind of color vision: Machado, Oliveira and Fernandes 2009, all of it missing.

type Triple = readonly [number, number, number]
const visions: Readonly<Record<string, readonly Triple[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}
const times = (rows: readonly Triple[], [a, b, c]: Triple) => rows.map(([x, y, z]) => x * a + y * b + z * c) as unknown as Triple
const linear = (color: string): Triple =>
  [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as unknown as Triple
const luminance = (color: string) => times([[0.2126, 0.7152, 0.0722]], linear(color))[0]
const contrast = (a: string, b: string) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (high + 0.05) / (low + 0.05)
}
function labOf(color: string, vision: readonly Triple[]): Triple {
  const seen = times(vision, linear(color)).map((part) => Math.min(1, Math.max(0, part))) as unknown as Triple
  const [x, y, z] = times(
    [
      [0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047],
      [0.2126, 0.7152, 0.0722],
      [0.0193 / 1.08883, 0.1192 / 1.08883, 0.9505 / 1.08883],
    ],
    seen,
  ).map((part) => (part > 0.008856 ? Math.cbrt(part) : 7.787 * part + 16 / 116)) as [number, number, number]
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}
const degrees = Math.PI / 180
const hueOf = (a: number, b: number) => (Math.atan2(b, a) / degrees + 360) % 360
/** CIEDE2000, in which 1 is about what an eye just sees. */
function distanceOf([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const high = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7))
  const more = 1.5 - 0.5 * high((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2)
  const [c1, c2] = [Math.hypot(more * a1, b1), Math.hypot(more * a2, b2)]
  const [h1, h2] = [hueOf(more * a1, b1), hueOf(more * a2, b2)]
  const turn = h2 - h1 > 180 ? h2 - h1 - 360 : h2 - h1 < -180 ? h2 - h1 + 360 : h2 - h1
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2]
  const h = Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2
  const wave = (of: number, by: number) => Math.cos((of * h + by) * degrees)
  const t = 1 - 0.17 * wave(1, -30) + 0.24 * wave(2, 0) + 0.32 * wave(3, 6) - 0.2 * wave(4, -63)
  const [byLight, byChroma, byHue] = [
    (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2)),
    (c2 - c1) / (1 + 0.045 * c),
    (2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * degrees)) / (1 + 0.015 * c * t),
  ]
  const bend = -2 * high(c) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * degrees)
  return Math.sqrt(byLight ** 2 + byChroma ** 2 + byHue ** 2 + bend * byChroma * byHue)
}

const distance = (one: string, other: string, vision: readonly Triple[]) => distanceOf(labOf(one, vision), labOf(other, vision))

// Test data of Sharma, Wu and Dalal 2005.
test.each<[Triple, Triple, number]>([
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
  [[50, 2.5, 0], [73, 25, -18], 27.1492],
  [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
])('the distance of %j and %j is %d', (one, other, expected) => {
  expect(distanceOf(one, other)).toBeCloseTo(expected, 4)
})

describe.each([
  // The papers that charts lie on: panels, the ground of pages, and dialogs.
  ['light', lightColors, ['#ffffff', '#f7f7f5'], [36, 62]],
  ['dark', darkColors, ['#1a1d21', '#121417', '#22262b'], [58, 90]],
] as const)('the %s palette', (_, colors, papers, [darkest, lightest]) => {
  test('has twenty colors that stand out from the paper, none of them nearly black or white', () => {
    expect(new Set(colors).size).toBe(20)
    for (const color of colors) {
      for (const paper of papers) expect(contrast(color, paper), `${color} on ${paper}`).toBeGreaterThanOrEqual(3)
      const [light, a, b] = labOf(color, visions.usual!)
      expect(light, color).toBeGreaterThan(darkest)
      expect(light, color).toBeLessThan(lightest)
      expect(Math.hypot(a, b), `${color} is not the grey of Other`).toBeGreaterThan(25)
    }
  })
  test.each(Object.entries(visions))('%s: the first eight are far apart, so are neighbours, and no two are alike', (_, vision) => {
    for (const [i, color] of colors.entries())
      for (const [k, other] of colors.slice(0, i).entries())
        expect(distance(color, other, vision), `${color} ${other}`).toBeGreaterThan(i < 8 ? 10.8 : k === i - 1 ? 11 : 4.7)
  })
})

describe('colors of values', () => {
  const rowsOf = (values: readonly string[]) => values.map((value) => ({ breakdown_value: value, label: value, order: 0 }))
  const drawn = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 30 })
  test('do not depend on their ranks', () => {
    fc.assert(
      fc.property(drawn, fc.nat(), (values, seed) => {
        const other = values.map((value, i) => [value, (i * 7919 + seed) % 31] as const).sort((a, b) => a[1] - b[1])
        const shuffled = other.map(([value]) => value)
        const colors = new Map(values.map((value, i) => [value, colorsOf(rowsOf(values))[i]]))
        expect(colorsOf(rowsOf(shuffled))).toEqual(shuffled.map((value) => colors.get(value)))
      }),
    )
  })
  test('differ as long as there are colors, and then their numbers do', () => {
    fc.assert(
      fc.property(drawn, (values) => {
        const colors = colorsOf(rowsOf(values))
        expect(new Set(colors).size).toBe(values.length)
        expect(new Set(colors.map((color) => color % paletteSize)).size).toBe(Math.min(values.length, paletteSize))
        if (values.length <= 8) expect(Math.max(...colors)).toBeLessThan(8)
      }),
    )
  })
  test('are grey for all values without a row, and one with the period before', () => {
    const other = '$$_posthog_breakdown_other_$$'
    const rows = [
      { breakdown_value: 'Chrome', label: 'Chrome', order: 0, compare_label: 'current' },
      { breakdown_value: other, label: other, order: 0, compare_label: 'current' },
      { breakdown_value: 'Chrome', label: 'Chrome', order: 0, compare_label: 'previous' },
    ]
    const [now, rest, before] = colorsOf(rows)
    expect(before).toBe(now)
    expect(rest).toBeLessThan(0)
  })
  test('of series without a breakdown are those of the palette in order', () => {
    expect(colorsOf(['b', 'a', 'b'].map((label, i) => ({ label, order: i % 2 ? 1 : 0 })))).toEqual([0, 1, 0])
  })
})
