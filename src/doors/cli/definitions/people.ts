import { isObject } from '../../../lib/is-object.ts'
import { type ProjectApi, RecordRefused, type Row } from './api.ts'
import type { LeftOut } from './move-records.ts'

// The persons of a project, also those without events. Sent once more they change nothing, so a command that was stopped begins with the first.

const mostRows = 200
const mostCharacters = 2_000_000
const toldEvery = 10_000

export interface MovedPeople {
  readonly made: number
  readonly leftOut: readonly LeftOut[]
}

/** `target` null: nothing is written. */
export async function movePeople(source: ProjectApi, target: ProjectApi | null, onProgress: (line: string) => void): Promise<MovedPeople> {
  const leftOut: LeftOut[] = []
  let made = 0
  let batch: Row[] = []
  let characters = 0
  const send = async (persons: readonly Row[]): Promise<void> => {
    try {
      if (target && persons.length > 0) await target.post('persons/import/', { persons })
      const before = made
      made += persons.length
      if (Math.floor(made / toldEvery) > Math.floor(before / toldEvery)) onProgress(`people: ${made}`)
    } catch (error) {
      if (!(error instanceof RecordRefused)) throw error
      if (persons.length > 1) for (const one of persons) await send([one])
      else leftOut.push({ title: 'people', name: String((persons[0]!.distinct_ids as unknown[])[0]), reason: error.reason })
    }
  }
  const flush = async () => {
    const rows = batch
    batch = []
    characters = 0
    await send(rows)
  }
  for await (const row of source.rows('persons/')) {
    const person = personOf(row)
    if (!person) continue
    const length = JSON.stringify(person).length
    if (characters + length > mostCharacters) await flush()
    characters += length
    if (batch.push(person) === mostRows) await flush()
  }
  await flush()
  return { made, leftOut }
}

const personOf = ({ distinct_ids: ids, properties, created_at, is_identified }: Row): Row | null =>
  Array.isArray(ids) && ids.length > 0
    ? {
        distinct_ids: ids,
        properties: isObject(properties) ? properties : {},
        ...(typeof created_at === 'string' && { created_at }),
        is_identified: is_identified === true,
      }
    : null
