import { test } from 'vitest'
import { rollingRestarts } from './rolling-cases.ts'

test('two servers on one directory: restarts and a kill of the owner under load', { timeout: 120_000 }, () => rollingRestarts(2, 1))
