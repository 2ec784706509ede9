import * as z from 'zod'
import { uuidSchema } from './fields.ts'

export const lookSchema = z.object({ id: uuidSchema, target_email: z.string(), first_name: z.string(), organization_name: z.string() })
export type InvitationAnswer = z.output<typeof lookSchema>
