import type { App } from '../app.ts'
import { failures } from '../errors.ts'
import { openApi } from '../reference/openapi.ts'
import type { Metrics } from './metrics.ts'
import { serverMetrics } from './server-metrics.ts'
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
  const metricsText = async (): Promise<string> => metrics.text(await serverMetrics(app))
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
