import { listOf, text } from './fields.ts'

const mostTags = 100

/** Tags are compared in lower case. A quotation mark would not be found by `tagged`. */
export const tagList = () =>
  listOf(
    text({ max: 255 }).refine((tag) => /[\p{L}\p{N}]/u.test(tag) && !tag.includes('"') && !tag.includes('\\'), {
      error: 'A tag needs a letter or a digit, and cannot contain quotation marks or backslashes.',
    }),
  )
    .max(mostTags, { error: `A record can have at most ${mostTags} tags.` })
    .transform((tags) => [...new Set(tags.map((tag) => tag.toLowerCase()))])

export const tagsOf = ({ tags }: { readonly tags: unknown }): string[] => (Array.isArray(tags) ? (tags as string[]) : [])

/** Rows with the tag: in the JSON of a list, where a text in quotation marks is a whole element. */
export const tagged = (tag: string) => ({ text: JSON.stringify(tag.toLowerCase()), in: ['tags'] as const })
