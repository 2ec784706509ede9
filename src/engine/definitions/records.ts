import type * as z from 'zod'
import { WaymarkError } from '../../errors/errors.ts'
import { readAs, validationData } from '../../errors/validation.ts'

export function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = readAs(schema, value)
  if ('misfit' in read) throw new WaymarkError('validation-failed', validationData(read.misfit, null))
  return read.data
}

/** The id of the request, if it is valid and free; else the next one. */
export function freeId(fields: unknown, taken: ReadonlySet<number>): number {
  const asked = (fields as { id?: unknown } | null)?.id
  if (typeof asked === 'number' && Number.isInteger(asked) && asked > 0 && asked <= 2 ** 31 - 1 && !taken.has(asked)) return asked
  let id = 1
  for (const other of taken) id = Math.max(id, other + 1)
  return id
}

type Alone = <T>(work: () => Promise<T>) => Promise<T>

/** Reads the current records and writes the result atomically. `alone`: where other processes do the same. */
export function oneAtATime(alone: Alone = (work) => work()): Alone {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const begin = () => alone(work)
    const next = last.then(begin, begin)
    last = next.catch(() => undefined)
    return next
  }
}
