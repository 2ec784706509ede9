// As much of an XML parser as tells well-formed documents from others: it throws where a strict one does.

export interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly (XmlElement | string)[]
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u

const decoded = (text: string): string => {
  if (!allowed.test(text)) throw new Error(`A character that XML does not allow: ${JSON.stringify(text.slice(0, 80))}`)
  if (/[<]/.test(text)) throw new Error('A < that is not escaped')
  return text.replace(/&(#\d+|#x[\da-f]+|\w*)(;?)/gi, (found, name: string, end: string) => {
    if (end !== ';') throw new Error(`An & that is not escaped: ${found}`)
    if (name.startsWith('#x')) return String.fromCodePoint(Number.parseInt(name.slice(2), 16))
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)))
    const value = entities[name]
    if (value === undefined) throw new Error(`Unknown entity ${found}`)
    return value
  })
}

export function parseXml(text: string): XmlElement {
  let at = 0
  const element = (): XmlElement => {
    const open = /<([a-zA-Z][\w.-]*)((?:\s+[a-zA-Z_:][\w:.-]*="[^"<]*")*)\s*(\/?)>/y
    open.lastIndex = at
    const match = open.exec(text)
    if (!match) throw new Error(`Expected a tag at ${at}: ${text.slice(at, at + 60)}`)
    at = open.lastIndex
    const [, name = '', given = '', isEmpty] = match
    const attributes = new Map<string, string>()
    for (const [, key = '', value = ''] of given.matchAll(/([\w:.-]+)="([^"]*)"/g)) {
      if (attributes.has(key)) throw new Error(`Two attributes ${key}`)
      attributes.set(key, decoded(value))
    }
    const children: (XmlElement | string)[] = []
    if (isEmpty) return { name, attributes, children }
    for (;;) {
      const next = text.indexOf('<', at)
      if (next < 0) throw new Error(`<${name}> is not closed`)
      if (next > at) children.push(decoded(text.slice(at, next)))
      at = next
      const end = `</${name}>`
      if (text.startsWith('</', at)) {
        if (!text.startsWith(end, at)) throw new Error(`Expected ${end} at ${at}: ${text.slice(at, at + 40)}`)
        at += end.length
        return { name, attributes, children }
      }
      children.push(element())
    }
  }
  const root = element()
  if (at !== text.length) throw new Error(`More after the root: ${text.slice(at, at + 60)}`)
  return root
}

export function* elementsOf(root: XmlElement): Generator<XmlElement> {
  yield root
  for (const child of root.children) if (typeof child !== 'string') yield* elementsOf(child)
}

/** All texts of all elements of that name. */
export const textsOf = (root: XmlElement, name = 'text'): string[] =>
  [...elementsOf(root)].filter((one) => one.name === name).map(({ children }) => children.filter((one) => typeof one === 'string').join(''))
