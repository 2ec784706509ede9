/** The first letters of the first words: `Ada Lovelace` is `AL`. */
export function initialsOf(name: string, most = 2): string {
  const words = name
    .replace(/@.*$/, '')
    .split(/[\s._-]+/)
    .filter((word) => word !== '')
  const [first = '?', second] = words
  return [first, second ?? '']
    .map((word) => [...word][0] ?? '')
    .join('')
    .slice(0, most)
    .toUpperCase()
}

/** A person, as a round tile with the initials. */
export const Face = ({ name }: { name: string }) => (
  <span class="face" aria-hidden="true">
    {initialsOf(name)}
  </span>
)
