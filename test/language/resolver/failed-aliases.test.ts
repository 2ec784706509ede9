import { expect, test } from 'vitest'
import { openTestProject } from '../../harness/duckdb.ts'

test('a mistake in an alias is found once, however often others read it', async () => {
  const project = await openTestProject()
  // Each alias reads the one before it twice: found anew every time, the mistake would be found 2 ** 30 times.
  const aliases = Array.from({ length: 30 }, (_, i) => `a${i} + a${i} as a${i + 1}`)
  await expect(project.compile(`select nope as a0, ${aliases.join(', ')}`)).rejects.toThrow('Unable to resolve field: nope')
  await expect(project.compile(`select JSONExtract('1', now()) as a0, ${aliases.join(', ')}`)).rejects.toThrow('The name of a type')
  await project.close()
})
