import { createHash } from 'node:crypto'
import { type ProjectApi, RecordRefused, type Row } from './api.ts'
import type { Made } from './made.ts'
import { type KindOfRecord, records } from './records.ts'
import { NotMoved, TooDeep } from './references.ts'

export interface LeftOut {
  readonly title: string
  readonly name: string
  readonly reason: string
}

export interface MovedKind {
  readonly title: string
  readonly made: number
  /** An earlier run has made them. */
  readonly known: number
}

export interface Moved {
  readonly kinds: readonly MovedKind[]
  readonly leftOut: readonly LeftOut[]
}

interface Waiting {
  readonly of: KindOfRecord
  readonly row: Row
  reason: string
}

/** Makes one record after the other. What names a record that comes later is tried again after it, until nothing more can be made. `target` null: nothing is written. */
export async function moveRecords(
  source: ProjectApi,
  target: ProjectApi | null,
  made: Made,
  onProgress: (line: string) => void,
): Promise<Moved> {
  const counts = new Map(records.map(({ title }) => [title, { made: 0, known: 0 }]))
  const leftOut: LeftOut[] = []
  let waiting: Waiting[] = []
  const make = async (of: KindOfRecord, row: Row): Promise<Waiting | null> => {
    try {
      const body = await of.body(row, made, source)
      const found = target ? await target.create(`${of.kind}/`, body, onceFor(made, of, row)) : { id: row.id }
      await made.add(of.kind, row.id, Number(found.id), target !== null)
      counts.get(of.title)!.made++
      return null
    } catch (error) {
      if (error instanceof NotMoved) return { of, row, reason: error.message }
      if (!(error instanceof RecordRefused) && !(error instanceof TooDeep)) throw error
      const reason = error instanceof RecordRefused ? error.reason : error.message
      leftOut.push({ title: of.title, name: nameOf(row), reason })
      return null
    }
  }
  const again = async () => {
    for (let before = -1; before !== waiting.length && waiting.length > 0; ) {
      before = waiting.length
      const left: Waiting[] = []
      for (const { of, row } of waiting) {
        const still = await make(of, row)
        if (still) left.push(still)
      }
      waiting = left
    }
  }
  for (const of of records) {
    for await (const row of of.rows(source)) {
      if (row.deleted === true) continue
      if (made.find(of.kind, row.id) !== undefined) {
        counts.get(of.title)!.known++
        continue
      }
      const still = await make(of, row)
      if (still) waiting.push(still)
    }
    await again()
    onProgress(`${of.title}: ${counts.get(of.title)!.made} made`)
  }
  for (const { of, row, reason } of waiting) leftOut.push({ title: of.title, name: nameOf(row), reason })
  return { kinds: records.map(({ title }) => ({ title, ...counts.get(title)! })), leftOut }
}

/** The same for the same record of the same projects. */
const onceFor = (made: Made, { kind }: KindOfRecord, { id }: Row): string =>
  createHash('sha256')
    .update(JSON.stringify([made.name, kind, id]))
    .digest('hex')

const nameOf = (row: Row): string =>
  [row.name, row.key, row.derived_name, row.content].find((one): one is string => typeof one === 'string' && one !== '') ??
  `number ${String(row.id)}`
