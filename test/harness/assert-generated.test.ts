import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertGenerated, type Regression } from './assert-generated.ts'

const tests = resolve(import.meta.dirname, '..')

test('a saved input runs before anything is drawn', () => {
  const met: [number, string][] = []
  assertGenerated(
    fc.property(fc.nat(), fc.string(), (n, text) => {
      met.push([n, text])
    }),
    { numRuns: 5 },
  )
  expect(met[0]).toEqual([123456789, 'needle'])
  expect(met).toHaveLength(5)
})

test('a saved seed draws its input again', async () => {
  const met: number[] = []
  await assertGenerated(
    fc.asyncProperty(fc.nat(), async (n) => {
      met.push(n)
    }),
    { numRuns: 3 },
  )
  expect(met.slice(0, 3)).toEqual(fc.sample(fc.nat(), { seed: 5, numRuns: 3 }))
  expect(met).toHaveLength(6)
})

const failureOf = (work: () => void): string => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('Nothing failed')
}
const savedLine = (message: string) => JSON.parse(message.split('\n').at(-1)!) as Regression

test('a new failure says how it is saved', () => {
  const message = failureOf(() => assertGenerated(fc.property(fc.nat(), (n) => n < 10)))
  expect(message).toContain('add it to the list in test/regressions/harness/assert-generated.json')
  expect(savedLine(message)).toEqual({ test: 'a new failure says how it is saved', was: '…', input: [10] })
})

test('what cannot be written as JSON is saved by its seed', () => {
  const message = failureOf(() => assertGenerated(fc.property(fc.bigInt({ min: 0n, max: 5n }), () => false)))
  expect(savedLine(message)).toMatchObject({ seed: expect.any(Number), path: expect.any(String) })
})

test('every saved failure is of a test that is there', () => {
  const folder = join(tests, 'regressions')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
  const lost = files.flatMap((file) => {
    const source = ['', '.alone', '.long', '.largest']
      .map((place) => join(tests, file.replace(/\.json$/, `${place}.test.ts`)))
      .find((path) => existsSync(path))
    const text = source === undefined ? '' : readFileSync(source, 'utf8')
    const saved = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Regression[]
    // The title holds those of the groups around the test.
    return saved.filter(({ test }) => !text.includes(test.split(' > ').at(-1)!)).map(({ test }) => `${file}: ${test}`)
  })
  expect(files.length).toBeGreaterThan(0)
  expect(lost).toEqual([])
})
