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
  expect(lines.filter((line) => (JSON.parse(line) as { failure: string | null }).failure !== null)).toEqual([])
}, 1_800_000)

test.each(plantedNames())(
  'the planted bug %s is found within 100 seeds',
  async (name) => {
    expect(await findPlanted(name)).not.toBeNull()
  },
  1_800_000,
)
