import type { Waymark } from '../engine.ts'
import type { App, Log } from './app.ts'
import { createLoginAttempts } from './login-attempts.ts'
import { createQueryRuns } from './queries/runs.ts'
import { defaultRateLimits, type RateLimits } from './rate-limits.ts'
import { createService } from './service.ts'

export interface HandlerOptions {
  /** Gets one line for each request and each fault of ours, without personal data. */
  readonly log?: Log
  /** How often keys may call; asked at every call. */
  readonly limits?: () => RateLimits
}

/**
 * Answers the whole HTTP API on web-standard requests. `address` is the one the connection comes from.
 *
 * @example const handler = createHandler(waymark); const response = await handler(request)
 */
export const createHandler = (
  waymark: Waymark,
  { log, limits = () => defaultRateLimits }: HandlerOptions = {},
): ((request: Request, address?: string | null) => Promise<Response>) => {
  const app: App = {
    accounts: waymark.accounts,
    clock: waymark.clock,
    limits,
    queries: createQueryRuns(waymark.accounts),
    attempts: createLoginAttempts(waymark.clock),
    project: (id) => waymark.project(id),
    groupTypes: async () => [],
    readiness: async () => ({ isReady: true, checks: {} }),
  }
  return createService(app, { log })
}
