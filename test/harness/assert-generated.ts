import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect } from 'vitest'

// What a generated test once found stays: test/regressions/ has a file for each file of tests, with the inputs that failed and what was wrong. They are
// run before anything is drawn.

const tests = resolve(import.meta.dirname, '..')

export interface Regression {
  /** The full title of the test. */
  readonly test: string
  /** What was wrong. */
  readonly was: string
  /** The arguments of the property. */
  readonly input?: readonly unknown[]
  /** How to draw them, where they cannot be written as JSON. */
  readonly seed?: number
  readonly path?: string
}

/** The file that keeps what a file of tests found. */
const fileOf = (testPath: string): string =>
  join(
    tests,
    'regressions',
    `${relative(tests, testPath)
      .replace(/(\.(long|alone|largest))?\.test\.ts$/, '')
      .split('\\')
      .join('/')}.json`,
  )

/** The saved failures of the test that runs now. */
export function savedRegressions(): readonly Regression[] {
  const { testPath, currentTestName } = expect.getState()
  const file = fileOf(testPath!)
  if (!existsSync(file)) return []
  return (JSON.parse(readFileSync(file, 'utf8')) as Regression[]).filter(({ test }) => test === currentTestName)
}

/** The words that say how a failure is saved. */
export function howToSave(found: Pick<Regression, 'input' | 'seed' | 'path'>): string {
  const { testPath, currentTestName } = expect.getState()
  const line = JSON.stringify({ test: currentTestName, was: '…', ...found })
  return `To run this first from now on, add it to the list in test/${relative(tests, fileOf(testPath!))}, and say what was wrong:\n${line}`
}

function isJson(value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value)
  } catch {
    return false // bigints
  }
}

function judge<Ts>(details: fc.RunDetails<Ts>): void {
  if (!details.failed) return
  const { counterexample, seed, counterexamplePath } = details
  const found =
    counterexample !== null && isJson(counterexample)
      ? { input: counterexample as readonly unknown[] }
      : { seed, path: counterexamplePath ?? undefined }
  throw new Error(`${fc.defaultReportMessage(details)}\n\n${howToSave(found)}`, { cause: details.errorInstance })
}

/** `fc.assert`, with the saved failures of the test first; a new failure says how it is saved. */
export function assertGenerated<Ts extends unknown[]>(property: fc.IAsyncProperty<Ts>, params?: fc.Parameters<Ts>): Promise<void>
export function assertGenerated<Ts extends unknown[]>(property: fc.IProperty<Ts>, params?: fc.Parameters<Ts>): void
export function assertGenerated<Ts extends unknown[]>(
  property: fc.IAsyncProperty<Ts> | fc.IProperty<Ts>,
  params: fc.Parameters<Ts> = {},
): Promise<void> | void {
  const saved = savedRegressions()
  const examples = [...saved.flatMap(({ input }) => (input ? [input as Ts] : [])), ...(params.examples ?? [])]
  const rounds: fc.Parameters<Ts>[] = [
    ...saved.flatMap(({ seed, path }) => (seed === undefined ? [] : [{ ...params, seed, path, endOnFailure: true }])),
    { ...params, examples, numRuns: Math.max(params.numRuns ?? 100, examples.length) },
  ]
  if (property.isAsync())
    return (async () => {
      for (const round of rounds) judge(await fc.check(property as fc.IAsyncProperty<Ts>, round))
    })()
  for (const round of rounds) judge(fc.check(property as fc.IProperty<Ts>, round))
}
