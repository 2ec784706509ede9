import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, served } from './served.ts'
import { toolStatements } from './tool-statements.ts'

// The statements that tools send when they connect, browse and draw their first chart: each is answered.

let server: Served
beforeAll(async () => {
  server = await served()
}, 60_000)
afterAll(() => server.close())

describe.each(Object.entries(toolStatements))('%s', (_, statements) => {
  test('all of its statements are answered', async () => {
    const client = await server.client()
    const failed: string[] = []
    for (const { sql, values, has, count } of statements)
      try {
        const { rows } = await client.query(sql, values as unknown[] | undefined)
        if (has) expect(rows).toContainEqual(expect.objectContaining(has))
        if (count !== undefined) expect(rows.length).toBe(count)
      } catch (error) {
        failed.push(`${sql.slice(0, 400)}\n  ${(error as Error).message.slice(0, 600)}`)
      }
    expect(failed).toEqual([])
  })
})
