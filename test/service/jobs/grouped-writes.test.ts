import { expect, test } from 'vitest'
import type { AccountStore, AccountTables } from '../../../src/service/accounts/records.ts'
import { groupedWrites } from '../../../src/service/jobs/grouped-writes.ts'

/** A store whose transactions can be held up, and what each of them wrote. */
const store = () => {
  const transactions: string[][] = []
  let release: () => void = () => undefined
  let held: Promise<void> = Promise.resolve()
  let current: string[] = []
  const write: AccountStore['write'] = async (work) => {
    current = []
    const result = await work({} as AccountTables)
    await held
    transactions.push(current)
    return result
  }
  return {
    transactions,
    grouped: groupedWrites({ write }),
    note: (name: string) => async () => {
      current.push(name)
      return name
    },
    hold() {
      held = new Promise((resolve) => {
        release = resolve
      })
    },
    release: () => release(),
  }
}

test('writes that come during another one share a transaction, and each has its own result', async () => {
  const { transactions, grouped, note, hold, release } = store()
  hold()
  const first = grouped(note('a'))
  const others = ['b', 'c', 'd'].map((name) => grouped(note(name)))
  release()
  expect(await Promise.all([first, ...others])).toEqual(['a', 'b', 'c', 'd'])
  expect(await grouped(note('e'))).toBe('e')
  expect(transactions).toEqual([['a'], ['b', 'c', 'd'], ['e']])
})

test('one that fails takes no others with it', async () => {
  const { transactions, grouped, note, hold, release } = store()
  hold()
  const first = grouped(note('a'))
  const others = [grouped(note('b')), grouped(() => Promise.reject(new Error('full'))), grouped(note('c'))]
  release()
  expect(await first).toBe('a')
  expect((await Promise.allSettled(others)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await grouped(note('d'))).toBe('d')
  expect(transactions).toEqual([['a'], ['b'], ['c'], ['d']])
})
