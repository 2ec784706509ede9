/** Makes names unique: a name that is taken gets a number. Upper and lower case are equal, as in DuckDB. */
export function uniqueNames(numbered = (name: string, n: number) => `${name}_${n}`): (wanted: string) => string {
  const taken = new Set<string>()
  const next = new Map<string, number>()
  return (wanted) => {
    const key = wanted.toLowerCase()
    let name = wanted
    let n = next.get(key) ?? 2
    while (taken.has(name.toLowerCase())) name = numbered(wanted, n++)
    next.set(key, n)
    taken.add(name.toLowerCase())
    return name
  }
}
