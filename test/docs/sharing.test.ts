import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withHome } from '../doors/http/conversation.ts'
import { httpExamples, pageOf, wanted } from './http-examples.ts'

// Every example of docs/sharing.md, in its order.

const page = pageOf('sharing.md')

const examples = httpExamples(page)

const held = withHome()
const requests: { readonly headers: Record<string, string>; readonly text: string }[] = []
const server = createServer(async (request, response) => {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part
  requests.push({ headers: request.headers as Record<string, string>, text })
  response.end()
})

beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { world, project, owner, call } = held.home
  world.now = new Date('2026-01-07T10:30:00Z')
  world.reachesPrivate = true
  const data = await world.projectData(project.id)
  const at = (day: string) => ({ event: 'signup', distinct_id: day, timestamp: `2026-01-0${day}T10:00:00Z` })
  await data.ingest({ batch: [at('5'), at('6'), { ...at('6'), distinct_id: 'other' }, at('7')] })
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] }
  await call('POST', `/api/projects/${project.id}/insights/`, { as: owner, body: { name: 'Signups', query } })
})
afterAll(
  () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    }),
)

test('the examples answer what the page says', async () => {
  const { call, owner, project, world } = held.home
  const known: Record<string, string> = { webhook: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
  expect(project.id).toBe(1)
  const { scheduler } = world.waymark.notifications
  for (const { method, path, body, status, answer } of examples) {
    const filled = (text: string) => text.replace(/<(\w+)>/g, (_, name: string) => known[name] ?? `no ${name}`)
    const as = path.startsWith('/api') ? owner : null
    const reply = await call(method, filled(path), { as, ...(body === undefined ? {} : { body: filled(body) }) })
    const about = `${method} ${path}`
    expect(reply.status, `${about} ${JSON.stringify(reply.body)}`).toBe(status)
    if (answer !== '') expect(reply.body, about).toEqual(wanted(JSON.parse(answer)))
    known.token = reply.body?.access_token ?? known.token
    if (path.endsWith('/alerts/')) Object.assign(known, { alert: reply.body.id, secret: reply.body.webhook_secret })
    for (;;) {
      await scheduler.tick()
      if (scheduler.running === 0) break
      await scheduler.settled()
    }
  }
  expect(requests.map(({ text }) => JSON.parse(text).type)).toEqual(['alert.firing', 'alert.test', 'subscription.test'])
  const [code = ''] = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, text]) => text!)
  const { isFromWaymark } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    isFromWaymark(headers: object, body: string, secret: string): boolean
  }
  const [{ headers, text }] = requests as [(typeof requests)[0]]
  expect(isFromWaymark(headers, text, known.secret!)).toBe(true)
  expect(isFromWaymark(headers, `${text} `, known.secret!)).toBe(false)
})
