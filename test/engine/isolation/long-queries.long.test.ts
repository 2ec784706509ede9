import { expect, test } from 'vitest'
import { createAdmission } from '../../../src/engine/admission/admission.ts'
import { openLocalBackend } from '../../../src/engine/backend/local-backend.ts'
import type { AnswerText, LongQueries } from '../../../src/engine/backend/long-queries.ts'
import { openInstance } from '../../../src/engine/storage/duckdb/instance.ts'
import { duckdbStores } from '../../../src/engine/storage/stores.ts'
import { type Deferred, deferred } from '../../../src/lib/flow/deferred.ts'
import type { ProjectRecord } from '../../../src/service/accounts/records.ts'
import { backendSettings } from '../../../src/service/asking/backend-settings.ts'

const sql = (query: string) => ({ kind: 'SqlLikeQuery', query })
const long = sql(`select length([${'1,'.repeat(10_000)}1])`)
const large = sql(`select length([${'1,'.repeat(7000)}1])`)

test('short queries are answered while long ones are planned elsewhere, also in their own project', async () => {
  const instance = await openInstance({ dataDir: ':memory:', threads: 1 })
  const stores = duckdbStores(instance, { log: {}, recovery: 'complete', isThorough: false })
  const planning: { readonly query: unknown; readonly answer: Deferred<AnswerText | null> }[] = []
  const longQueries: LongQueries = {
    answer(query) {
      const answer = deferred<AnswerText | null>()
      planning.push({ query, answer })
      return answer.promise
    },
    release: () => {},
  }
  const admission = createAdmission(2)
  const backendOf = (id: number) => {
    const record = { id, name: 'Test', timezone: 'UTC', week_start_day: 0, settings: {} } as unknown as ProjectRecord
    const home = { clock: () => new Date(), settings: () => backendSettings(record), onRecovery: () => {} }
    return openLocalBackend({
      ...home,
      stores,
      admission,
      longQueries,
      onError(error) {
        throw error
      },
    })
  }
  const [a, b] = [await backendOf(1), await backendOf(2)]
  const answer = async (backend: typeof a, project: number, query: object) => {
    const { answer: found } = await backend.answer(query, { wanted: { project, caller: 'test' } })
    return ((await found.object) as { readonly results: unknown }).results
  }
  const asked = [answer(a, 1, long), answer(a, 1, large), answer(a, 1, long)]
  for (const [i, backend] of [a, b].entries()) expect(await answer(backend, i + 1, sql('select 1'))).toEqual([[1]])
  while (planning.length < 3) await new Promise((resolve) => setImmediate(resolve))
  expect(planning.map(({ query }) => query)).toEqual(expect.arrayContaining([long, large, long]))
  const answerOf = (query: object) =>
    planning.splice(
      planning.findIndex((one) => one.query === query),
      1,
    )[0]!.answer
  answerOf(long).resolve({ text: '{"results":"from elsewhere"}', endsAt: null })
  answerOf(long).resolve(null)
  answerOf(large).reject(new Error('no plan'))
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes[1]).toMatchObject({ reason: new Error('no plan') })
  const others = [outcomes[0]!, outcomes[2]!].map((one) => (one as PromiseFulfilledResult<unknown>).value)
  // What nobody else could answer is answered here.
  expect(others).toEqual(expect.arrayContaining(['from elsewhere', [[10_001]]]))
  await a.close()
  await b.close()
  await instance.close()
})
