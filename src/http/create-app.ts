import type { Accounts } from '../accounts/accounts.ts'
import type { App, ProjectData, Readiness } from './app.ts'
import { createLoginAttempts } from './login-attempts.ts'
import { defaultRateLimits, type RateLimits } from './rate-limits.ts'

/** What the engine lends to the HTTP API. */
export interface HttpEngine {
  readonly accounts: Accounts
  readonly clock: () => Date
  project(id: number): Promise<ProjectData>
  readiness(): Promise<Readiness>
}

export interface HttpOptions {
  readonly limits?: () => RateLimits
}

export const createApp = (engine: HttpEngine, { limits = () => defaultRateLimits }: HttpOptions = {}): App => ({
  accounts: engine.accounts,
  clock: engine.clock,
  limits,
  attempts: createLoginAttempts(engine.clock),
  project: (id) => engine.project(id),
  groupTypes: async () => [],
  readiness: () => engine.readiness(),
})
