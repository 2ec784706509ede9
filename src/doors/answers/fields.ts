import * as z from 'zod'

export const timeSchema = z.string().meta({ format: 'date-time' })
export const uuidSchema = z.string().meta({ format: 'uuid' })
export const freeSchema = z.unknown()
export const notEnforcedSchema = z.array(z.string()).meta({ description: 'Settings of this record that are stored but not enforced yet' })

/** The fields that a loose schema names: a page that reads another one does not compile. */
export type Known<T> = { [F in keyof T as string extends F ? never : F]: T[F] }
