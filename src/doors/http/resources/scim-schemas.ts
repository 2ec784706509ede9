import * as z from 'zod'

// Resources of SCIM (RFC 7643), as far as this server has them.

const metaSchema = z.object({
  resourceType: z.string(),
  created: z.string().optional(),
  lastModified: z.string().optional(),
  location: z.string(),
})
export const scimUserSchema = z
  .object({
    schemas: z.array(z.string()),
    id: z.string(),
    externalId: z.string(),
    userName: z.string().meta({ description: 'The e-mail address of the account' }),
    name: z.object({ formatted: z.string(), givenName: z.string(), familyName: z.string() }),
    displayName: z.string(),
    active: z.boolean().meta({ description: 'Whether the account is a member of the organization, and not deactivated' }),
    emails: z.array(z.object({ value: z.string(), type: z.string(), primary: z.boolean() })),
    groups: z.array(z.object({ value: z.string(), display: z.string() })),
    meta: metaSchema,
  })
  .partial()
export type ScimUserAnswer = z.output<typeof scimUserSchema>
export const scimGroupSchema = z
  .object({
    schemas: z.array(z.string()),
    id: z.string(),
    externalId: z.string(),
    displayName: z.string().meta({ description: 'The name of the role' }),
    members: z.array(z.object({ value: z.string(), display: z.string() })),
    meta: metaSchema,
  })
  .partial()
export type ScimGroupAnswer = z.output<typeof scimGroupSchema>
export const scimListOf = <S extends z.ZodType>(resource: S) =>
  z.object({
    schemas: z.array(z.string()),
    totalResults: z.int(),
    startIndex: z.int(),
    itemsPerPage: z.int(),
    Resources: z.array(resource),
  })
