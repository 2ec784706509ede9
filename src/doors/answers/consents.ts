import * as z from 'zod'

export const consentSchema = z.object({
  client_name: z.string().meta({ description: 'As the application calls itself' }),
  scope: z.enum(['read', 'write']).meta({ description: 'What it asks for; the user may grant less' }),
  answered_at: z.string().meta({ description: 'Where the browser goes with the answer, without its path' }),
})
export type ConsentAnswer = z.infer<typeof consentSchema>

export const leadsToSchema = z.object({ leads_to: z.string().meta({ description: 'The address of the application, with its answer' }) })
export type LeadsToAnswer = z.infer<typeof leadsToSchema>
