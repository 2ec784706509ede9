/** The settings of a unit of systemd by section, each with its values in their order. */
export function unitOf(text: string): Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> {
  const sections: Record<string, Record<string, string[]>> = {}
  let section: Record<string, string[]> | null = null
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? []
    if (name) {
      sections[name] = section = {}
      continue
    }
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (!key || !section) throw new Error(`not a setting: ${line}`)
    section[key] = [...(section[key] ?? []), value!]
  }
  return sections
}
