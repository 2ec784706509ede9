import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { bundleSimulator, repository } from './bundle.ts'
import { findPlanted, plantedNames } from './planted.ts'

test('100 seeds leave what the model has', async () => {
  const program = await bundleSimulator('sim-long-test')
  const args = [program, '--from', '1', '--to', '100']
  const lines = execFileSync(process.execPath, args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 27 })
    .trim()
    .split('\n')
  expect(lines).toHaveLength(100)
  const results = lines.map((line) => JSON.parse(line) as { failure: string | null; met: Record<string, number> })
  expect(results.filter(({ failure }) => failure !== null)).toEqual([])
  const met = new Set(results.flatMap((one) => Object.keys(one.met)))
  for (const what of ['lists', 'pages', 'counts of days', 'exports', 'sessions']) expect([...met]).toContain(what)
  expect([...met].filter((what) => what.startsWith('damaged core/pages'))).not.toEqual([])
}, 1_800_000)

test.each(plantedNames())(
  'the planted bug %s is found within 100 seeds',
  async (name) => {
    expect(await findPlanted(name)).not.toBeNull()
  },
  1_800_000,
)
