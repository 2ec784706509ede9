import { expect, test } from 'vitest'
import { openCustomers } from './customers.ts'
import { mutated } from './mutated.ts'

test('10,000 requests of a viewer, and no number of another customer', async () => {
  const opened = await openCustomers(600)
  try {
    for (let seed = 100; seed < 110; seed++) expect(await mutated(opened, 1000, seed)).toEqual([])
  } finally {
    await opened.directory.close()
  }
})
