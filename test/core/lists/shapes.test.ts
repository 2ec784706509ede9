import { afterAll, expect, test } from 'vitest'
import { ask, roadsOf, worlds } from './shapes.ts'

// The road of every shape of an insight query, as a table: `npx vitest run test/core/lists/shapes.test.ts -u` writes it.

const opened = worlds()
afterAll(() => opened.close())

test('the roads are those of the table', async () => {
  const { project, shapes } = await opened.open()
  const lines: string[] = []
  for (const [name, query] of Object.entries(shapes)) lines.push(`${name}: ${roadsOf(await ask(project, query))}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('./shapes.txt')
})
