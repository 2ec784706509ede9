import { test } from 'vitest'
import { assertVisitsHold } from './cookieless-commands.ts'
import { openWorld } from './harness.ts'

test('random visitors, customers, retries and restarts, against the model and from the log alone', () =>
  assertVisitsHold({ open: () => openWorld(), numRuns: 60 }))

test('the same in transactions of one event, and with commits that fail', () =>
  assertVisitsHold({
    open: async () => {
      const world = await openWorld({ limits: { groupRows: 1 } })
      const { rows } = world
      world.failCommits = 2
      const settled = async (sql: string) => {
        await world.pipeline.caughtUp()
        world.errors.length = 0
        return rows(sql)
      }
      return Object.assign(world, { rows: settled })
    },
    numRuns: 8,
  }))
