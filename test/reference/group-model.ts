// Groups in plain objects: types by first use, at most five, and properties of which the newest hold.

type Properties = Record<string, unknown>
const mostTypes = 5

export interface ModelGroup {
  type: string
  key: string
  set?: Properties
}

export class GroupModel {
  readonly types: string[] = []
  private readonly known = new Map<string, { type: number; key: string; version: number; properties: Properties }>()
  /** Of `$groups` on an event, and of what identifies a group. */
  refused = 0

  private typeOf(type: string): number {
    if (!this.types.includes(type) && this.types.length < mostTypes) this.types.push(type)
    const index = this.types.indexOf(type)
    if (index < 0) this.refused++
    return index
  }

  identify({ type, key, set }: ModelGroup): void {
    const index = this.typeOf(type)
    if (index < 0) return
    const group = this.known.get(`${index} ${key}`)
    if (!group) {
      this.known.set(`${index} ${key}`, { type: index, key, version: 1, properties: { ...set } })
      return
    }
    const properties = { ...group.properties, ...set }
    const isChanged = Object.entries(properties).some(([name, value]) => !(name in group.properties) || group.properties[name] !== value)
    if (isChanged) Object.assign(group, { properties, version: group.version + 1 })
  }

  /** The keys of an event, by the number of their type. */
  keysOf(groups: Readonly<Record<string, string>>): string[] {
    const keys = Array.from({ length: mostTypes }, () => '')
    for (const [type, key] of Object.entries(groups)) {
      const index = this.typeOf(type)
      if (index >= 0) keys[index] = key
    }
    return keys
  }

  groups() {
    return [...this.known.values()]
  }
}
