import type { Visit } from '../resource.ts'

/** A parameter of lists whose records have a name and a description. */
export const searchParameter = { search: 'Text in the name or the description, ignoring case' }

/** Those that contain what the request searches for. */
export function searched<T extends { readonly name: string; readonly description?: string | null | undefined }>(
  { query }: Pick<Visit, 'query'>,
  all: readonly T[],
): readonly T[] {
  const wanted = query.get('search')?.trim().toLowerCase()
  return wanted ? all.filter(({ name, description }) => [name, description ?? ''].some((text) => text.toLowerCase().includes(wanted))) : all
}
