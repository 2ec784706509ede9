import * as z from 'zod'

export const timeSchema = z.string().meta({ format: 'date-time' })
export const uuidSchema = z.string().meta({ format: 'uuid' })
export const freeSchema = z.unknown()
export const notEnforcedSchema = z.array(z.string()).meta({ description: 'Settings of this record that are stored but not enforced yet' })
