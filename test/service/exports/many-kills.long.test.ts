import { test } from 'vitest'
import { killRounds } from './kill-rounds.ts'

// All 200:   WAYMARK_EXPORT_KILLS=200 npm run test:long -- test/service/exports/many-kills.long.test.ts
const kills = Number(process.env.WAYMARK_EXPORT_KILLS ?? 20)

test(`${kills} kills, at each step in turn, lose no event and double none`, { timeout: 1_200_000 }, async () => {
  await killRounds(kills, (kill, steps) => 1 + (kill % steps))
})
