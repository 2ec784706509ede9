import * as z from 'zod'

const links = { next: z.string().nullable(), previous: z.string().nullable() }

export interface CursorPage<T> extends Readonly<z.output<z.ZodObject<typeof links>>> {
  readonly results: readonly T[]
}
export const cursorPageSchema = (of: z.ZodType) => z.object({ ...links, results: z.array(of) })

export interface Page<T> extends CursorPage<T> {
  readonly count: number
}
export const pageSchema = (of: z.ZodType) => z.object({ count: z.int(), ...links, results: z.array(of) })
