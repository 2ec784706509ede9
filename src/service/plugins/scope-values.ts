/** The keys of one scope of plugin storage, with their values and what they take. */
export class ScopeValues {
  readonly values = new Map<string, string>()
  characters = 0

  get size() {
    return { keys: this.values.size, characters: this.characters }
  }

  set(key: string, json: string | null): void {
    const before = this.values.get(key)
    if (before !== undefined) this.characters -= key.length + before.length
    if (json === null) this.values.delete(key)
    else {
      this.values.set(key, json)
      this.characters += key.length + json.length
    }
  }
}
