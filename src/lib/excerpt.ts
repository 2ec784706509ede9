const longest = 100

/** What a message repeats of a text that somebody sent. */
export const excerpt = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)
