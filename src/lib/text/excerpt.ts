/** The beginning of a user text, for a message. */
export const excerpt = (text: string, longest = 100): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)
