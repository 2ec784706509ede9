import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { openApi } from '../reference/openapi.ts'
import type { Metrics } from './metrics.ts'
import { createWebPages } from './web-pages.ts'

const text = (body: string, type = 'text/plain; charset=utf-8') => new Response(body, { headers: { 'content-type': type } })

/** Routes outside the API: the front page; liveness, readiness and metrics for operators; and the API description. */
export const monitoringRoutes = (
  app: App,
  metrics: Metrics,
): Readonly<Record<string, (request: Request) => Response | Promise<Response>>> => {
  const alive = () => text('ok\n')
  const ready = async (request: Request) => {
    const { checks } = await app.readiness()
    const excluded = new URL(request.url).searchParams.getAll('exclude')
    const unknown = excluded.find((name) => !Object.hasOwn(checks, name))
    if (unknown !== undefined)
      throw failures.invalid(`Unknown check ${unknown}: exclude takes ${Object.keys(checks).join(', ')}.`, 'exclude')
    const isReady = Object.entries(checks).every(([name, { isOk }]) => isOk || excluded.includes(name))
    return Response.json({ ready: isReady, checks }, { status: isReady ? 200 : 503 })
  }
  const metricsText = async (): Promise<string> => {
    const readiness = await app.readiness()
    const { waiting, running } = app.asking.load()
    const failed = await app.plugins.failedDeliveries.counts()
    const notices = await app.notifications.deliveries.counts()
    const gauges: Record<string, number> = {
      waymark_ready: readiness.isReady ? 1 : 0,
      waymark_statements_waiting: waiting,
      waymark_statements_running: running,
      waymark_deliveries_waiting: failed.waiting,
      waymark_dead_letters: failed.dead,
      waymark_notices_waiting: notices.waiting,
      waymark_notices_failed: notices.failed,
    }
    const backups = await app.backups()
    if (backups) {
      const seconds = (time: Date | null) => (time ? Math.floor(time.getTime() / 1000) : 0)
      gauges.waymark_backup_timestamp_seconds = seconds(backups.copied_at)
      gauges.waymark_backup_verified_timestamp_seconds = seconds(backups.verified_at)
      gauges.waymark_backup_failures = backups.failures + (backups.verify_error === null ? 0 : 1)
    }
    for (const [name, check] of Object.entries(readiness.checks))
      if (typeof check.detail === 'number') gauges[`waymark_${name}`] = check.detail
    return metrics.text(gauges)
  }
  // Anybody may ask, and the gauges ask the store.
  let made: { readonly at: number; readonly text: Promise<string> } | null = null
  const onceASecond = async (make: () => Promise<string>): Promise<Response> => {
    const now = performance.now()
    if (made === null || now - made.at >= 1000) made = { at: now, text: make() }
    const { text: asked } = made
    asked.catch(() => {
      made = null
    })
    return text(await asked, 'text/plain; version=0.0.4; charset=utf-8')
  }
  let description: string | undefined
  const pages = createWebPages()
  return {
    '/': pages.front,
    '/assets/:name': async (request) => {
      const { pathname } = new URL(request.url)
      const file = await pages.asset(request, pathname.slice(pathname.lastIndexOf('/') + 1))
      if (!file) throw failures.notFound('Not found.')
      return file
    },
    '/_health': alive,
    '/_livez': alive,
    '/_readyz': ready,
    '/_preflight': async () =>
      Response.json({
        ready: (await app.readiness()).isReady,
        email_service_available: app.accounts.context.mailer() !== null,
      }),
    '/metrics': () => onceASecond(metricsText),
    '/openapi.json': () => {
      description ??= JSON.stringify(openApi())
      return text(description, 'application/json')
    },
  }
}
