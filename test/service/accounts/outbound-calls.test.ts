import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { type Deferred, deferred } from '../../../src/lib/flow/deferred.ts'
import type { AccountContext } from '../../../src/service/accounts/context.ts'
import { post } from '../../../src/service/accounts/context.ts'
import { createOutboundCalls } from '../../../src/service/accounts/outbound-calls.ts'

// What organizations have asked of others is asked a few at a time, and no organization waits for all of another's.

const settled = () => new Promise((resume) => setImmediate(resume))

test('two mails are sent at once, by turns of organizations, and more than may wait are reported', async () => {
  const sending: { to: string; done: Deferred<void> }[] = []
  const sent: string[] = []
  const reports: unknown[] = []
  const server = {
    send: async ({ to }: { to: string }) => {
      const done = deferred<void>()
      sending.push({ to, done })
      await done.promise
      sent.push(to)
    },
  }
  const context = {
    mailer: () => server,
    outbound: createOutboundCalls(),
    report: (_: string, error: unknown) => reports.push(error),
  } as unknown as AccountContext
  const mails = (name: string, count: number) => Array.from({ length: count }, (_, i) => ({ to: `${name}${i}`, subject: '', text: '' }))
  const all = [post(context, 'one', mails('a', 203)), post(context, 'two', mails('b', 2))]
  await settled()
  expect(sending.map(({ to }) => to)).toEqual(['a0', 'a1'])
  while (sent.length < 204) {
    sending.shift()!.done.resolve()
    await settled()
    expect(sending.length).toBeLessThanOrEqual(2)
  }
  await Promise.all(all)
  expect(sent.slice(0, 6)).toEqual(['a0', 'a1', 'a2', 'b0', 'a3', 'b1'])
  expect(reports).toMatchObject([{ code: 'busy' }])
})

let waymark: LocalWaymark
let asked = 0
let mostAtOnce = 0
const answers: Deferred<null>[] = []
beforeAll(async () => {
  const lookupCname = async () => {
    asked++
    const answer = deferred<null>()
    answers.push(answer)
    mostAtOnce = Math.max(mostAtOnce, answers.length)
    return answer.promise
  }
  waymark = await open({ dataDir: ':memory:', threads: 1, surroundings: { lookupCname } })
})
afterAll(() => waymark.close())

test('four names are looked up at once', async () => {
  const { accounts } = waymark
  const { personalKey, organization } = await accounts.firstStart({})
  const handler = createHandler(waymark)
  const call = (method: string, body?: object) =>
    handler(
      new Request(`http://localhost/api/organizations/${organization.id}/proxy_records/`, {
        method,
        headers: { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    )
  for (let i = 0; i < 10; i++) expect((await call('POST', { domain: `e${i}.acme.example` })).status).toBe(201)
  const listed = call('GET')
  while (asked < 10) {
    for (const answer of answers.splice(0)) answer.resolve(null)
    await settled()
  }
  for (const answer of answers.splice(0)) answer.resolve(null)
  expect(await (await listed).json()).toMatchObject({ count: 10 })
  expect(mostAtOnce).toBe(4)
})
