import { test } from 'vitest'
import { killRounds } from './kill-rounds.ts'

test('a process that is killed at steps spread over a round exports each event exactly once', async () => {
  await killRounds(6, (kill, steps) => 1 + Math.floor(((kill + 0.5) * steps) / 6))
})
