/** What a parameter means, as documentation. */
export type QueryParameter = string | { readonly words: string; readonly isRepeatable: true }

/** A parameter that may be sent several times. */
export const repeatable = (words: string): QueryParameter => ({ words: `${words}; may be repeated`, isRepeatable: true })
export const wordsOf = (parameter: QueryParameter): string => (typeof parameter === 'string' ? parameter : parameter.words)
