import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createConcurrency, defaultConcurrency } from '../../../src/doors/http/queries/concurrency.ts'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { ProjectRecord, User } from '../../../src/service/accounts/records.ts'
import { sessionOf } from '../../harness/session-of.ts'

// The places of queries that wait or run: many accounts of one person do not keep others out.

interface Waiting {
  readonly organization: string
  readonly user: number
  readonly hasBegun: boolean
  gone: Error | null
}
const places = (limits = defaultConcurrency) => {
  const { take } = createConcurrency(() => limits)
  return (organization: string, user: number, hasBegun = false): Waiting & { give: () => void } => {
    const one = { organization, user, hasBegun, gone: null as Error | null, give: () => {} }
    const waiting = {
      hasBegun: () => hasBegun,
      giveWay: (error: Error) => {
        one.gone = error
      },
    }
    one.give = take({ organizationId: organization, userId: user, projectId: user, via: 'session' }, waiting)
    return one
  }
}
const fill = (count: number, make: (i: number) => Waiting) => {
  const made: Waiting[] = []
  for (let i = 0; i < count; i++)
    try {
      made.push(make(i))
    } catch {
      // refused
    }
  return made
}
const held = (all: readonly Waiting[]) => all.filter(({ gone }) => gone === null)

describe('the rule', () => {
  test.each([
    ['eleven accounts of one organization', (i: number): [string, number] => ['evil', i % 11]],
    ['eleven accounts of eleven organizations', (i: number): [string, number] => [`evil ${i % 11}`, i % 11]],
    ['a hundred accounts of a hundred organizations', (i: number): [string, number] => [`evil ${i % 100}`, i % 100]],
  ])('%s leave a place for the next one', (_, who) => {
    const take = places()
    const attack = fill(3_000, (i) => take(...who(i)))
    expect(held(attack).length).toBeLessThanOrEqual(defaultConcurrency.inAll)
    const own = Array.from({ length: 3 }, () => take('victim', 10_000))
    expect(held(own)).toHaveLength(3)
    fill(3_000, (i) => take(...who(i)))
    expect(held(own), 'and do not take it back').toHaveLength(3)
    const [gone] = attack.filter((one) => one.gone)
    if (gone) expect(gone.gone).toMatchObject({ status: 503 })
  })

  test('a colleague gets a place too, when one fills those of the organization', () => {
    const take = places()
    const attack = fill(1_000, (i) => take('ours', i % 11))
    expect(held(attack)).toHaveLength(defaultConcurrency.perOrganization)
    expect(take('ours', 99).gone).toBeNull()
    expect(attack.filter(({ gone }) => gone)).toHaveLength(1)
    expect(() => Array.from({ length: 50 }, () => take('ours', 99)), 'but no more than the others have').toThrow(
      'your organization already has 200',
    )
  })

  test('what runs is not stopped, and who has as much as all others waits', () => {
    const take = places({ perProject: 3, perUser: 9, perOrganization: 9, inAll: 4 })
    for (let i = 0; i < 2; i++) take('one', 1, true)
    for (let i = 0; i < 2; i++) take('two', 2)
    expect(() => take('two', 2)).toThrow(expect.objectContaining({ status: 503 }))
    expect(() => take('one', 1)).toThrow(expect.objectContaining({ status: 503 }))
    const three = take('three', 3)
    expect(three.gone).toBeNull()
    expect(() => take('four', 4), 'nobody has two more who could give one').toThrow(expect.objectContaining({ status: 503 }))
    three.give()
    three.give()
    expect(take('four', 4).gone).toBeNull()
  })

  test('of any number of organizations, each gets the same when all want everything', () => {
    const take = places({ perProject: 3, perUser: 50, perOrganization: 50, inAll: 60 })
    const all = fill(6_000, (i) => take(`o${(i * 7919) % 6}`, (i * 31) % 24))
    const counts = new Map<string, number>()
    for (const { organization } of held(all)) counts.set(organization, (counts.get(organization) ?? 0) + 1)
    expect([...counts.values()].reduce((sum, one) => sum + one, 0)).toBe(60)
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(2)
  })
})

describe('on a server', () => {
  let waymark: LocalWaymark
  const attackers: { user: User; project: ProjectRecord; cookie: string }[] = []
  let victim: { user: User; project: ProjectRecord; cookie: string }
  const limits = { perProject: 3, perUser: 4, perOrganization: 8, inAll: 12 }
  let handle: ReturnType<typeof createHandler>

  const account = async (name: string) => {
    const { accounts } = waymark
    const user = await accounts.createUser(null, { email: `${name}@acme.test` }, 'owner')
    const organization = await accounts.organizations.create(user, { name })
    const project = (await accounts.context.store.read.projects.first({ organization_id: organization.id }))!
    return { user, project, cookie: `waymark_session=${await sessionOf(accounts, user)}` }
  }
  beforeAll(async () => {
    waymark = await open({ dataDir: ':memory:', threads: 1 })
    await waymark.accounts.firstStart({})
    for (let i = 0; i < 4; i++) attackers.push(await account(`attacker${i}`))
    victim = await account('victim')
    handle = createHandler(waymark, { concurrency: () => limits })
  })
  afterAll(() => waymark.close())

  const ask = async ({ project, cookie }: typeof victim, query: string, refresh: string) => {
    const answer = await handle(
      new Request(`http://localhost/api/projects/${project.id}/query/`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ query: { kind: 'SqlLikeQuery', query }, refresh, client_query_id: `${project.id} ${++asked}` }),
      }),
    )
    return { status: answer.status, body: JSON.parse(await answer.text()), id: `${project.id} ${asked}` }
  }
  let asked = 0
  const endless = (n: number) =>
    `select count() from numbers(100000000) a cross join numbers(1000) b cross join numbers(1000) c where modulo(a.number * b.number + c.number, 7) = ${n}`

  test.each(['force_async', 'force_blocking'])(
    'accounts with many queries in the background leave the next one an answer: %s',
    async (refresh) => {
      const started: [number, string][] = []
      for (let i = 0; i < 24; i++) {
        const who = attackers[i % attackers.length]!
        const answer = await ask(who, endless(i), 'force_async')
        if (answer.status === 202 || answer.status === 200) started.push([who.project.id, answer.id])
      }
      expect(started.length).toBeGreaterThanOrEqual(limits.inAll)
      const { runs } = waymark.asking
      const answer = await ask(victim, 'select 1', refresh)
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
      if (refresh === 'force_async')
        await vi.waitUntil(async () => (await runs.poll(victim.project.id, answer.id)).run.is_complete, { timeout: 50_000 })
      else expect(answer.body.results).toEqual([[1]])
      const gone = async () => {
        const ends = await Promise.all(started.map(([project, id]) => runs.poll(project, id)))
        return ends.find(({ run }) => run.is_error)
      }
      await vi.waitUntil(gone, { timeout: 50_000 }) // one gave way, and says why
      expect((await gone())!.run.error_message).toContain(String(limits.inAll))
      for (const [project, id] of started) await runs.cancel(project, id)
    },
  )
})
