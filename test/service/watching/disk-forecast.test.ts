import { expect, test } from 'vitest'
import { type FreeBytes, mostSamples, sampled, timeUntilFull } from '../../../src/service/watching/disk-forecast.ts'

// When the disk is full, by the free bytes of the last hours.

const hour = 3_600_000
const GiB = 1024 ** 3
const falling = (hours: number, from: number, perHour: number): FreeBytes => Array.from({ length: hours + 1 }, (_, i) => from - i * perHour)
const hoursUntilFull = (samples: FreeBytes, reserved = 0): number | null => {
  const until = timeUntilFull(samples, samples.at(-1)!, reserved)
  return until === null ? null : Math.round(until / hour)
}

test.each<readonly [name: string, samples: FreeBytes, reserved: number, hours: number | null]>([
  ['too little is known', falling(5, 100 * GiB, GiB), 0, null],
  ['six hours at the same rate', falling(6, 100 * GiB, GiB), 0, 94],
  ['what stays reserved is not free', falling(10, 100 * GiB, GiB), 40 * GiB, 50],
  ['nothing is used', falling(80, 100 * GiB, 0), 0, null],
  ['space is given back', falling(80, 100 * GiB, -GiB), 0, null],
  ['it is full', falling(3, GiB, 0), 2 * GiB, 0],
  // An import of some hours among three days is not the rate that counts.
  ['much within the last day', [...falling(66, 500 * GiB, 0), ...falling(5, 490 * GiB, 10 * GiB)], 0, null],
  ['a file that comes and goes', falling(72, 200 * GiB, GiB).map((free, i) => (i % 24 === 5 ? free! - 50 * GiB : free)), 0, 128],
  ['hours without a measurement', falling(72, 200 * GiB, GiB).map((free, i) => (i % 3 === 1 ? null : free)), 0, 128],
  ['the lower of two rates', [...falling(48, 1000 * GiB, 10 * GiB), ...falling(23, 519 * GiB, GiB)], 0, 496],
])('%s', (_, samples, reserved, hours) => {
  expect(hoursUntilFull(samples, reserved)).toBe(hours)
})

test('samples are one for each hour, of the last days', () => {
  let samples: FreeBytes = []
  let latest = 0
  const add = (hour: number, bytes: number) => {
    samples = sampled(latest, samples, hour, bytes)
    latest = Math.max(hour, latest)
  }
  for (const [hour, bytes] of [
    [10, 5],
    [10, 4],
    [11, 3],
    [14, 2],
    [13, 1], // the clock was set back
  ] as const)
    add(hour, bytes)
  expect(samples).toEqual([4, 3, null, null, 1])
  add(1000, 9)
  expect(samples).toHaveLength(mostSamples)
  expect(samples.filter((one) => one !== null)).toEqual([9])
})
