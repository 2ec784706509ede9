import * as z from 'zod'

export interface Page<T> {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly T[]
}
export const pageSchema = (of: z.ZodType) =>
  z.object({ count: z.int(), next: z.string().nullable(), previous: z.string().nullable(), results: z.array(of) })
export interface CursorPage<T> {
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly T[]
}
export const cursorPageSchema = (of: z.ZodType) =>
  z.object({ next: z.string().nullable(), previous: z.string().nullable(), results: z.array(of) })
