import type { LocalWaymark } from '../../../engine.ts'
import { nothingHeld } from '../../../service/accounts/users/enforcement.ts'
import { unlimited } from '../../../service/accounts/users/key-limits.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import { defaultConcurrency } from '../queries/concurrency.ts'
import { createService } from '../service.ts'
import { createSites } from '../site.ts'
import { appOf } from './app-of.ts'

// Requests of this process to its own routes. Their bodies are checked as those of any client; they reach every project and are not counted.

const uncounted: Required<RateLimits> = { api: [], query: [], draft: [], shared: [], session: [], test: [], scim: [] }
const origin = 'http://waymark.localhost'

export type Send = (request: Request) => Promise<Response>

export function sendAsOperator(waymark: LocalWaymark): Send {
  const app = appOf(waymark, {
    limits: () => uncounted,
    rows: () => undefined,
    allowsDownloads: () => true,
    concurrency: () => defaultConcurrency,
  })
  const caller = async () => {
    const { user } = await waymark.accounts.firstStart({ makesKey: false })
    const known = (await waymark.accounts.users.byId(user.id))!
    const about = { limits: unlimited, held: nothingHeld, authenticatedAt: waymark.clock() }
    return { via: 'host' as const, user: known, ...about, isOperator: true as const }
  }
  const service = createService(app, { siteOf: createSites({ publicUrl: origin }), caller })
  return (request) => service(request)
}

/** The address of a path of the API, with the parameters that have a value. */
export function addressOf(path: string, parameters: object = {}): URL {
  const url = new URL(path, origin)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue
    url.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return url
}
