import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundleSimulator, repository } from './bundle.ts'
import { plantedFolder, plantedNames } from './planted.ts'

interface Line {
  readonly seed: number
  readonly name?: string
  readonly hash: string
  readonly again?: string
  readonly failure: string | null
  readonly events: number
}

let program = ''
beforeAll(async () => {
  program = await bundleSimulator('sim-test')
})

const simulated = (...args: readonly string[]): Line[] =>
  execFileSync(process.execPath, [program, ...args], { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 27 })
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

test('a few seeds, and the plans that once failed, leave what the model has; the same seed has the same trace', () => {
  const folder = join(repository, 'test/sim/cases')
  const cases = readdirSync(folder).map((name) => join(folder, name))
  expect(cases.length).toBeGreaterThan(0)
  const lines = simulated(...cases, '--from', '4', '--to', '4', '--twice')
  expect(lines).toHaveLength(cases.length + 1)
  for (const line of lines) expect(line).toMatchObject({ failure: null })
  const drawn = lines.at(-1)!
  expect(drawn.again).toBe(drawn.hash)
  expect(drawn.events).toBeGreaterThan(10)
})

test.each(plantedNames())('the planted bug %s fits the sources', (name) => {
  execFileSync('git', ['apply', '--check', join(plantedFolder, `${name}.patch`)], { cwd: repository, stdio: 'pipe' })
})

test('there is a planted bug of each kind', () => {
  for (const kind of ['lost', 'doubled', 'reordered', 'stale', 'forgotten-fsync'])
    expect(plantedNames().some((name) => name.startsWith(kind))).toBe(true)
})
