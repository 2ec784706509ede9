import { expect, test } from 'vitest'
import { openTestProject } from '../../harness/duckdb.ts'

test('fifty mistakes are listed, and that there are more', async () => {
  const project = await openTestProject()
  try {
    const mistakesOf = (count: number) =>
      project.compile(`select ${Array.from({ length: count }, (_, i) => `gone${i}`).join(', ')} from events`).then(
        () => [],
        (error) => [error, ...error.others] as Error[],
      )
    const many = await mistakesOf(60)
    expect(many.filter(({ message }) => message.includes('gone'))).toHaveLength(50)
    expect(many.map(({ message }) => message)).toContain('The statement has more than 50 errors; these are the first')
    expect(await mistakesOf(50)).toHaveLength(50)
    expect(await mistakesOf(2)).toHaveLength(2)
  } finally {
    await project.close()
  }
})
