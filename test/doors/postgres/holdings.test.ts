import { expect, test } from 'vitest'
import { Holdings } from '../../../src/doors/postgres/session/holdings.ts'

test('if connections hold too much together, the one that holds most ends', () => {
  const holdings = new Holdings(100)
  const ended: string[] = []
  const connection = (name: string) => ({ giveUp: () => void ended.push(name) })
  const [small, large, other] = [connection('small'), connection('large'), connection('other')]
  holdings.add(small, 20)
  holdings.add(large, 70)
  holdings.add(large, -10)
  holdings.add(other, 20)
  expect(ended).toEqual([])
  holdings.add(small, 1)
  expect(ended).toEqual(['large'])
  holdings.leave(large)
  holdings.add(other, 59)
  expect(ended).toEqual(['large'])
  holdings.leave(other)
  holdings.add(small, 79)
  expect(ended).toEqual(['large'])
  holdings.add(small, 1)
  expect(ended).toEqual(['large', 'small'])
})
