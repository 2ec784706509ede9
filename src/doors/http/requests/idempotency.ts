import { createHash } from 'node:crypto'
import { isObject } from '../../../lib/is-object.ts'
import type { Accounts } from '../../../service/accounts/accounts.ts'
import type { AccountTables } from '../../../service/accounts/records.ts'
import type { Json } from '../../../service/accounts/store.ts'
import { failures } from '../errors.ts'

// A creating POST with an Idempotency-Key is executed once: a repeated request with the same key gets the first answer again.

const hour = 3_600_000
const lifetime = 24 * hour
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

/** Secrets are sent once. The stored answer has none. */
const withoutSecrets = (body: unknown, secrets: readonly string[]): Json => {
  if (Array.isArray(body)) return body.map((one) => withoutSecrets(one, secrets))
  if (!isObject(body)) return (body ?? null) as Json
  return { ...body, ...Object.fromEntries(secrets.map((name) => [name, null])) } as Json
}

/** The status of a request that another server has begun, and how long it may take: that server may have ended. */
const begun = 0
const longestMs = 10 * 60_000

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export const createIdempotency = (accounts: Accounts) => {
  const { store, clock, report, isShared } = accounts.context
  const running = new Set<string>()
  let sweptAt = Number.NEGATIVE_INFINITY
  /** Removes expired answers once an hour. */
  const sweep = async (tables: AccountTables, now: number) => {
    if (Math.abs(now - sweptAt) < hour) return
    sweptAt = now
    for (const { key, created_at } of await tables.idempotent_answers.find({}))
      if (now - created_at.getTime() >= lifetime) await tables.idempotent_answers.remove({ key })
  }

  const rowOf = (id: string, caller: string, print: string, { status, body }: { readonly status: number; readonly body: Json }) => ({
    key: id,
    user_id: Number(caller),
    request: print,
    status,
    body,
    created_at: clock(),
  })
  const knownOf = async (tables: Pick<AccountTables, 'idempotent_answers'> | typeof store.read, id: string, print: string) => {
    const known = await tables.idempotent_answers.first({ key: id })
    const age = known ? clock().getTime() - known.created_at.getTime() : 0
    if (!known || age >= lifetime) return null
    if (known.request !== print) throw failures.conflict('This Idempotency-Key was used for another request.')
    if (known.status !== begun) return { status: known.status, body: known.body }
    if (age >= longestMs) return null
    throw failures.conflict('A request with this Idempotency-Key is still running.')
  }
  /** Where other servers may get the same request: notes that it has begun here, or returns its answer. */
  const reserved = (id: string, caller: string, print: string): Promise<Answer | null> =>
    store.write(async (tables) => {
      const known = await knownOf(tables, id, print)
      if (known) return known
      await tables.idempotent_answers.remove({ key: id })
      await tables.idempotent_answers.insert(rowOf(id, caller, print, { status: begun, body: null }))
      return null
    })
  const act = async (id: string, work: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await work()
    } catch (error) {
      if (isShared) await store.write((tables) => tables.idempotent_answers.remove({ key: id })).catch(() => undefined)
      throw error
    }
  }

  return async (
    caller: string,
    key: string,
    request: { method: string; about?: readonly (string | number | null)[]; path: string; body: unknown; secrets: readonly string[] },
    work: () => Promise<Answer>,
  ): Promise<Answer> => {
    if (key.length > 255) throw failures.parse('The Idempotency-Key is longer than 255 characters.')
    const id = hash(`${caller} ${key}`)
    const print = hash(JSON.stringify([request.method, ...(request.about ?? []), request.path, request.body]))
    if (running.has(id)) throw failures.conflict('A request with this Idempotency-Key is still running.')
    running.add(id)
    try {
      const known = await (isShared ? reserved(id, caller, print) : knownOf(store.read, id, print))
      if (known) return known
      const answer = await act(id, work)
      const kept = store.write(async (tables) => {
        await sweep(tables, clock().getTime())
        await tables.idempotent_answers.remove({ key: id })
        const body = withoutSecrets(answer.body, request.secrets)
        await tables.idempotent_answers.insert(rowOf(id, caller, print, { status: answer.status, body }))
      })
      // The request has been executed, so the caller must get its answer even if it cannot be stored for a retry.
      await kept.catch((error: unknown) => report('failed to store the response for its idempotency key', error))
      return answer
    } finally {
      running.delete(id)
    }
  }
}
