/** How many letters must be changed, added, dropped or swapped with their neighbour to turn one word into the other. */
export function spellingDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let best = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, beforePrevious[j - 2]! + 1)
      row.push(best)
    }
    beforePrevious = previous
    previous = row
  }
  return previous[b.length]!
}

const longestName = 100

/** The most cells of distance tables to compute for one name: a comparison takes the product of both lengths. */
const maxCells = 400_000

/** The likely names for a misspelled `name`, nearest first; upper and lower case are equal. */
export function nearestSpellings(name: string, names: Iterable<string>, most = 3): string[] {
  // Text is not spell-checked.
  if (name.length > longestName) return []
  const wanted = name.toLowerCase()
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  const near: { name: string; distance: number }[] = []
  let cells = 0
  for (const candidate of names) {
    if (Math.abs(candidate.length - wanted.length) > limit) continue
    cells += candidate.length * wanted.length
    if (cells > maxCells) break
    const distance = spellingDistance(wanted, candidate.toLowerCase())
    if (distance <= limit) near.push({ name: candidate, distance })
  }
  near.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
  return near.slice(0, most).map((n) => n.name)
}
