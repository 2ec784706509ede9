import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { open } from '../../src/engine.ts'
import { type Check, Failed, mustEqual } from './checks.ts'
import { type Cluster, command, engineOf, personalKey, projectKey, type Server } from './parts.ts'

// What people do at one server is there at the others at once.

const key = personalKey
const project = '/api/projects/1'

export const capture = (server: Server, events: readonly object[], ms?: number) =>
  server.call('POST', '/batch/', { body: { api_key: projectKey, batch: events }, ...(ms === undefined ? {} : { ms }) })
export const eventOf = (event: string, distinct_id: string, properties: object = {}) => ({
  uuid: randomUUID(),
  event,
  distinct_id,
  properties,
})

export async function sql(server: Server, statement: string): Promise<unknown> {
  const { status, body } = await server.call('POST', `${project}/query/`, {
    key,
    body: { query: { kind: 'SqlLikeQuery', query: statement }, refresh: 'force_blocking' },
  })
  if (status !== 200) throw new Error(`${server.name} answered ${status}: ${JSON.stringify(body)}`)
  return body.results
}
export const countOf = (server: Server, event: string) =>
  sql(server, `select count(), count(distinct person_id) from events where event = '${event}'`)

export async function togetherChecks(cluster: Cluster, [a, b]: readonly [Server, Server], check: Check): Promise<void> {
  await check('events sent to either server are in the next answer of both', async () => {
    for (let i = 0; i < 10; i++) {
      const [to, other] = i % 2 ? [a, b] : [b, a]
      mustEqual((await capture(to, [eventOf('seen', `u${i}`), eventOf('seen', 'ann')])).status, 200, 'status')
      mustEqual(await countOf(other, 'seen'), [[2 * (i + 1), i + 2]], `round ${i}`)
    }
  })

  await check('the same uuid sent to both servers is one event', async () => {
    const same = Array.from({ length: 20 }, (_, i) => eventOf('same', `s${i}`))
    await Promise.all([capture(a, same), capture(b, same), capture(a, same)])
    mustEqual(await countOf(b, 'same'), [[20, 20]], 'count')
  })

  await check('persons are identified and merged wherever the event comes', async () => {
    await capture(a, [eventOf('visit', 'anon-1')])
    await capture(b, [{ ...eventOf('$identify', 'max', { $anon_distinct_id: 'anon-1', $set: { plan: 'pro' } }) }])
    await capture(a, [eventOf('visit', 'max')])
    mustEqual(
      await sql(b, "select count(), count(distinct person_id) from events where event = 'visit' and person.properties.plan = 'pro'"),
      [[2, 1]],
      'one person',
    )
    const found = await a.call('GET', `${project}/persons/?distinct_id=anon-1`, { key })
    mustEqual(found.body.results[0].properties.plan, 'pro', 'the property at the other server')
  })

  await check('a change of a person waits for its outcome at the server that does not apply it', async () => {
    for (const [i, server] of [a, b].entries()) {
      await capture(server, [eventOf('there', `p${i}`)])
      const { body } = await server.call('GET', `${project}/persons/?distinct_id=p${i}`, { key })
      const [{ uuid }] = body.results
      const changed = await server.call('PATCH', `${project}/persons/${uuid}/`, { key, body: { properties: { by: server.name } } })
      mustEqual(changed.status, 200, JSON.stringify(changed.body))
      const other = server === a ? b : a
      mustEqual((await other.call('GET', `${project}/persons/${uuid}/`, { key })).body.properties.by, server.name, 'at the other server')
      mustEqual((await server.call('DELETE', `${project}/persons/${uuid}/`, { key })).status, 202, 'deleted')
      mustEqual((await other.call('GET', `${project}/persons/${uuid}/`, { key })).status, 404, 'gone at the other server')
    }
  })

  await check(
    'members and keys that one server makes work at once at the others, and are refused there once they are removed',
    async () => {
      const waymark = await open({ engine: engineOf(cluster) }) // a third one, in this process
      try {
        const { accounts } = waymark
        const [organization] = await accounts.context.store.read.organizations.find({})
        const user = await accounts.createUser(organization!.id, { email: 'ada@acme.test', first_name: 'Ada' }, 'admin')
        const { key: made, value } = await accounts.personalKeys.create(user, { label: 'hers', scopes: ['*'] })
        for (const server of [a, b])
          mustEqual((await server.call('GET', `${project}/`, { key: value })).status, 200, `the key at ${server.name}`)
        await accounts.personalKeys.remove(user, made)
        for (const server of [a, b])
          mustEqual((await server.call('GET', `${project}/`, { key: value })).status, 401, `removed, at ${server.name}`)
        const again = await accounts.personalKeys.create(user, { label: 'again', scopes: ['*'] })
        mustEqual((await b.call('GET', `${project}/`, { key: again.value })).status, 200, 'the second key')
        const left = await a.call('DELETE', `/api/organizations/@current/members/${user.uuid}/`, { key })
        mustEqual(left.status, 204, JSON.stringify(left.body))
        mustEqual(
          (await b.call('GET', `${project}/`, { key: again.value })).status >= 400,
          true,
          'the key of somebody who is no member any more',
        )
      } finally {
        await waymark.close()
      }
    },
  )

  await check('wrong passwords and requests count together, whichever servers they come to', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) {
      const body = { email: 'nobody@acme.test', password: `guess number ${i}` }
      const both = await Promise.all([a, b].map((server) => server.call('POST', '/api/login/', { body })))
      statuses.push(...both.map(({ status }) => status))
    }
    mustEqual(statuses, [...Array(10).fill(statuses[0]), ...Array(6).fill(429)], 'tries of one account')
    mustEqual(statuses[0]! < 429, true, `${statuses[0]}`)
    const left: number[] = []
    for (const server of [a, b, b, a]) {
      const response = await fetch(`${server.url}${project}/`, { headers: { authorization: `Bearer ${key}` } })
      await response.text()
      left.push(Number(response.headers.get('ratelimit-remaining')))
    }
    mustEqual(
      left.map((one) => left[0]! - one),
      [0, 1, 2, 3],
      'requests of one key',
    )
  })

  await check('settings of a project that one server changes are those of the others at once', async () => {
    const renamed = await b.call('PATCH', `${project}/`, { key, body: { name: 'Renamed', timezone: 'Asia/Tokyo' } })
    mustEqual(renamed.status, 200, JSON.stringify(renamed.body))
    mustEqual((await a.call('GET', `${project}/`, { key })).body.name, 'Renamed', 'the name')
    mustEqual(
      await sql(a, "select toString(toDateTime('2026-01-05 10:00:00')), toHour(toTimeZone(toDateTime('2026-01-05 10:00:00'), 'UTC'))"),
      [['2026-01-05 10:00:00.000000', 1]],
      'the time zone',
    )
    await b.call('PATCH', `${project}/`, { key, body: { timezone: 'UTC' } })
  })

  await check('an async query that one server runs is polled at the other, with its answer', async () => {
    const id = randomUUID()
    const query = { kind: 'SqlLikeQuery', query: "select count() from events where event = 'seen'" }
    const begun = await a.call('POST', `${project}/query/`, { key, body: { query, refresh: 'force_async', client_query_id: id } })
    mustEqual(begun.body.query_status.complete, false, JSON.stringify(begun.body))
    for (;;) {
      const { status, body } = await b.call('GET', `${project}/query/${id}/`, { key })
      mustEqual([200, 202].includes(status), true, `${status} ${JSON.stringify(body)}`)
      if (body.query_status.complete) {
        mustEqual(body.query_status.results.results, [[20]], 'the answer')
        break
      }
      mustEqual(body.query_status.error, false, JSON.stringify(body))
      await pause(50)
    }
  })

  await check('queries that wait or run are counted by both servers, and each cancels and shows those of the other', async () => {
    const ask = (server: Server, id: string, statement: string) =>
      server.call('POST', `${project}/query/`, {
        key,
        body: { query: { kind: 'SqlLikeQuery', query: statement }, refresh: 'force_async', client_query_id: id },
      })
    const slow = (n: number) =>
      `select count() from numbers(100000) a cross join numbers(4000) b where modulo(a.number * b.number, 7) = ${n} and a.number + b.number > ${n}`
    const ids = [randomUUID(), randomUUID(), randomUUID()]
    for (const [i, id] of ids.entries()) mustEqual((await ask(i % 2 ? b : a, id, slow(i))).status < 300, true, `query ${i}`)
    for (const server of [a, b]) mustEqual((await ask(server, randomUUID(), 'select 1')).status, 429, `a fourth one at ${server.name}`)
    const until = async (what: string, isSo: () => Promise<boolean>) => {
      const end = performance.now() + 10_000
      while (!(await isSo())) {
        if (performance.now() > end) throw new Failed(`not within ten seconds: ${what}`)
        await pause(20)
      }
    }
    await until('progress of a query of the other server', async () => {
      const { body } = await b.call('GET', `${project}/query/${ids[0]}/?show_progress=true`, { key })
      return body.query_status.query_progress !== null
    })
    for (const [i, id] of ids.entries()) {
      const other = i % 2 ? a : b
      mustEqual((await other.call('DELETE', `${project}/query/${id}/`, { key })).status, 204, 'cancelled at the other server')
      for (const server of [a, b]) mustEqual((await server.call('GET', `${project}/query/${id}/`, { key })).status, 404, 'its status')
    }
    // Their places are free once the servers that run them have stopped them.
    const next = [randomUUID(), randomUUID(), randomUUID()]
    for (const id of next) await until('a place', async () => (await ask(b, id, 'select 1')).status < 300)
    for (const id of next)
      await until('an answer', async () => (await a.call('GET', `${project}/query/${id}/`, { key })).body.query_status.complete)
  })

  await check('an import that is undone at one server takes nothing more at the other, and nothing of it is left', async () => {
    for (let round = 0; round < 5; round++) {
      const begun = await a.call('POST', `${project}/imports/`, { key, body: { file: `history ${round}.jsonl` } })
      const id = begun.body.id as string
      const send = (server: Server, i: number) =>
        server.call('POST', '/i/v1/analytics/events', {
          key: projectKey,
          body: {
            historical_migration: true,
            import_id: id,
            batch: [{ ...eventOf('undone', `import-${round}-${i}`), timestamp: '2026-01-05T10:00:00Z' }],
          },
        })
      const sending = Array.from({ length: 24 }, (_, i) => send(i % 2 ? a : b, i))
      await sending[round]
      const undone = await a.call('POST', `${project}/imports/${id}/undo/`, { key })
      mustEqual(undone.status, 200, JSON.stringify(undone.body))
      const sent = await Promise.all(sending)
      const statuses = new Set(sent.map(({ status }) => status))
      statuses.delete(200)
      statuses.delete(409)
      mustEqual([...statuses], [], 'other answers than "taken" and "over"')
      mustEqual((await send(b, 99)).status, 409, 'a late one')
      for (;;) {
        const { body } = await b.call('GET', `${project}/imports/${id}/`, { key })
        if (body.status !== 'undone') await pause(50)
        else {
          mustEqual(body.removed_events, sent.filter(({ status }) => status === 200).length, 'events that were taken and removed')
          break
        }
      }
      mustEqual(await countOf(b, 'undone'), [[0, 0]], `events of round ${round}`)
    }
  })

  await check('actions and cohorts that both servers make at the same time have ids of their own', async () => {
    const made = await Promise.all(
      [a, b, a, b].map((server, i) =>
        server.call('POST', `${project}/actions/`, { key, body: { name: `action ${i}`, steps: [{ event: 'seen' }] } }),
      ),
    )
    mustEqual(
      made.map(({ status }) => status),
      [201, 201, 201, 201],
      JSON.stringify(made.map(({ body }) => body)),
    )
    mustEqual(new Set(made.map(({ body }) => body.id)).size, 4, 'ids')
    const cohort = await b.call('POST', `${project}/cohorts/`, {
      key,
      body: {
        name: 'pros',
        filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } },
      },
    })
    mustEqual(cohort.status, 201, JSON.stringify(cohort.body))
    mustEqual(await sql(a, `select count() from persons where id in cohort ${cohort.body.id}`), [[1]], 'members at the other server')
  })

  await check('commands work beside the servers, without a directory', async () => {
    const made = command(cluster, ['keys', 'create', '--user', 'owner@waymark.local', '--label', 'made', '--scopes', '*', '--json'])
    mustEqual(made.status, 0, made.err)
    mustEqual((await b.call('GET', `${project}/`, { key: JSON.parse(made.out).personal_api_key })).status, 200, 'the key at a server')
    await capture(a, [eventOf('command', 'c')])
    const asked = command(cluster, ['query', "select count() from events where event = 'command'", '--project', '1', '--format', 'json'])
    mustEqual([asked.status, /\b1\b/.test(asked.out)], [0, true], `${asked.out}${asked.err}`)
    const file = join(cluster.folder, 'past.jsonl')
    const past = Array.from({ length: 30 }, (_, i) => ({
      uuid: randomUUID(),
      event: 'past',
      distinct_id: `d${i % 3}`,
      timestamp: '2026-01-05T10:00:00Z',
      properties: {},
    }))
    writeFileSync(file, past.map((one) => JSON.stringify(one)).join('\n'))
    const imported = command(cluster, ['import', file, '--project', '1'])
    mustEqual(imported.status, 0, imported.err)
    mustEqual(await countOf(b, 'past'), [[30, 3]], 'imported events at a server')
    for (const words of [['backup', join(cluster.folder, 'copy')], ['compact']]) {
      const refused = command(cluster, words)
      mustEqual(
        [refused.status === 0, /ClickHouse|several servers|Several servers|takes/.test(refused.err)],
        [false, true],
        `${words[0]}: ${refused.err}`,
      )
    }
  })
}
