import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { makeProjects, serve } from './served.ts'

// A person with very many ids is deleted while others ask and send.

// `WAYMARK_IDS=300000`: the size that it is about, for a machine that does nothing else.
const ids = Number(process.env.WAYMARK_IDS ?? 50_000)
const idsOfRow = 10_000
/** The longest that others may wait, in milliseconds. */
const longest = 2_000
/** Bytes of the engine's process beside its budget. */
const beside = 600e6

/** For how long a request is sent again that comes when too much is waiting. */
const crowdedMs = 60_000

test.each([
  ['alone', false, false],
  ['with its events', true, false],
  ['with its events, among others', true, true],
])(
  '%s',
  async (_, withEvents, isBulk) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'waymark-deleting-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const { key, projects } = await makeProjects(dataDir, 2)
    const [own, other] = projects as [{ id: number; token: string }, { id: number; token: string }]
    const server = await serve(dataDir, '256MB', key)
    onTestFinished(() => server.kill())
    const capture = async ({ token }: { token: string }, batch: readonly object[]) => {
      for (const until = performance.now() + crowdedMs; ; ) {
        const { status, text } = await server.call('POST', '/batch/', { api_key: token, batch })
        if (status === 200) return
        if (status !== 503 || performance.now() > until) throw new Error(`${status} ${text}`)
      }
    }
    // Every id has an event, and was a person of its own.
    for (let from = 0; from < ids; from += idsOfRow)
      await capture(
        own,
        Array.from({ length: idsOfRow }, (_, i) => ({
          event: '$create_alias',
          distinct_id: 'somebody@example.com',
          properties: { alias: `0190a000-0000-7000-8000-${String(from + i).padStart(12, '0')}`, n: from + i },
        })),
      )
    await capture(own, [{ event: 'x', distinct_id: 'another', properties: { $set: { a: 1 } } }])
    await capture(other, [{ event: 'x', distinct_id: 'u' }])
    expect(await server.rows(own.id, 'select count(), count(distinct person_id) from events')).toEqual([[ids + 1, 2]])
    const [[uuid]] = (await server.rows(own.id, "select distinct person_id from events where event = '$create_alias'")) as [[string]]

    const waits: number[] = []
    let isDone = false
    const others = (async () => {
      while (!isDone) {
        const since = performance.now()
        const { status } = await server.call('GET', '/_readyz')
        expect(status).toBe(200)
        expect(await server.rows(other.id, 'select min(event) from events')).toEqual([['x']])
        await capture(other, [{ event: 'x', distinct_id: 'u' }])
        waits.push(performance.now() - since)
        await setTimeout(20)
      }
    })()
    const since = performance.now()
    const answer = isBulk
      ? await server.call('POST', `/api/projects/${own.id}/persons/bulk_delete/`, {
          distinct_ids: ['somebody@example.com'],
          delete_events: withEvents,
        })
      : await server.call('DELETE', `/api/projects/${own.id}/persons/${uuid}/${withEvents ? '?delete_events=true' : ''}`)
    const took = performance.now() - since
    isDone = true
    await others
    if (process.env.WAYMARK_FIGURES) console.log(_, { took, longest: Math.max(...waits), rounds: waits.length, ...server.peaks() })
    expect([answer.status, answer.text]).toEqual([202, ''])
    expect(await server.rows(own.id, 'select count(), count(distinct id) from persons')).toEqual([[1, 1]])
    expect(await server.rows(own.id, 'select count() from events')).toEqual([[withEvents ? 1 : ids + 1]])
    expect(server.hasFirstEngine()).toBe(true)
    expect(Math.max(...waits)).toBeLessThan(longest)
    expect(server.peaks().engine).toBeLessThan(256e6 + beside)
    // The same ids are others from now on.
    await capture(own, [{ event: 'again', distinct_id: 'somebody@example.com', properties: {} }])
    expect(await server.rows(own.id, "select count(), count(distinct person_id) from events where event = 'again'")).toEqual([[1, 1]])
  },
  600_000,
)
