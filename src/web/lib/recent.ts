// What a person chose last, on this device.

const most = 5
const keyOf = (what: string) => `waymark.recent.${what}`

/** Names, the latest first. `what`: the project, and what is chosen. */
export function recentNames(what: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(what)) ?? '[]')
    return Array.isArray(stored) ? stored.filter((one): one is string => typeof one === 'string').slice(0, most) : []
  } catch {
    return [] // a browser without storage
  }
}

export function noteRecent(what: string, name: string): void {
  const names = [name, ...recentNames(what).filter((one) => one !== name)].slice(0, most)
  try {
    localStorage.setItem(keyOf(what), JSON.stringify(names))
  } catch {
    // nothing is remembered
  }
}
