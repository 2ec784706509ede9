import { test } from 'vitest'
import { rollingRestarts } from './rolling-cases.ts'

test('ten rolling restarts and ten kills, with the engine in a process of its own', { timeout: 600_000 }, () => rollingRestarts(10, 10))
test('the same in one process', { timeout: 600_000 }, () => rollingRestarts(10, 10, '--one-process'))
