import { invalid } from '../refusals.ts'

// Refusals with the names that RFC 7644 gives them (section 3.12).

export const scimTypes = ['invalidFilter', 'invalidSyntax', 'invalidPath', 'noTarget', 'invalidValue', 'mutability', 'uniqueness'] as const
export type ScimType = (typeof scimTypes)[number]

export const refused = (type: ScimType, message: string) => invalid(message, null, type)
