import * as z from 'zod'
import { flag, listOf, text } from '../../../service/accounts/fields.ts'
import { mostMembers } from '../../../service/accounts/scim/groups.ts'

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

/** For readers: the service reads bodies by itself, as names may be in any case, and ignores other attributes. */
export const scimUserInput = z.object({
  userName: text({ max: 254 }).meta({ description: 'An e-mail address of the domain' }),
  externalId: text({ max: 400 }).nullable().optional(),
  name: z.object({ givenName: text({ max: 150 }).optional(), familyName: text({ max: 150 }).optional() }).optional(),
  displayName: text({ max: 400 }).nullable().optional(),
  active: flag().optional(),
  emails: listOf(z.object({ value: text({ max: 400 }), type: text({ max: 20 }).optional(), primary: flag().optional() })).optional(),
})
export const scimGroupInput = z.object({
  displayName: text({ max: 200 }),
  externalId: text({ max: 400 }).nullable().optional(),
  members: listOf(z.object({ value: text({ max: 50 }).meta({ description: 'The id of a user' }) }), 'ids')
    .max(mostMembers)
    .optional(),
})
