// Elements of an XML text, for checks beside those of the library. It reads less than XML allows: no comments, no CDATA, no DTD with its entities, no processing
// instructions. Identity providers send none of them, and attackers do.

export interface XmlElement {
  /** Without its prefix. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  readonly parent: XmlElement | null
  /** What stands directly in it. */
  readonly text: string
}
interface Building extends XmlElement {
  readonly children: Building[]
  readonly parent: Building | null
  text: string
}

const mostElements = 5_000
const mostLevels = 60
const declaration = /^<\?xml version=["']1\.0["'](?: encoding=["']utf-8["'])?(?: standalone=["'](?:yes|no)["'])?\s?\?>/i
const opening = /<(\/?)(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)/y
const attribute = /\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const closing = /\s*(\/?)>/y
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const refuse = (what: string) => new Error(`The XML ${what}`)
const decoded = (text: string): string =>
  text.replace(/&([^;&]*;?)/g, (_, name: string) => {
    const plain = name.endsWith(';') ? name.slice(0, -1) : ''
    if (Object.hasOwn(entities, plain)) return entities[plain]!
    const [, hex, decimal] = /^#(?:x([0-9A-Fa-f]{1,6})|(\d{1,7}))$/.exec(plain) ?? []
    const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16)
    if (!(code > 0 && code <= 0x10ffff)) throw refuse('has an unknown entity')
    return String.fromCodePoint(code)
  })

/** The root element, or an error. */
export function readXml(text: string): XmlElement {
  let at = declaration.exec(text)?.[0].length ?? 0
  let root: Building | null = null
  let open: Building | null = null
  let elements = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const attributesHere = (): Record<string, string> => {
    const found = new Map<string, string>()
    for (let one = match(attribute); one; one = match(attribute)) {
      if (found.has(one[1]!)) throw refuse('has an attribute twice')
      found.set(one[1]!, decoded(one[2] ?? one[3] ?? ''))
    }
    return Object.fromEntries(found)
  }
  for (let levels = 0; at < text.length; ) {
    const next = text.indexOf('<', at)
    const between = text.slice(at, next < 0 ? text.length : next)
    if (open) (open as Building).text += decoded(between)
    else if (between.trim() !== '') throw refuse('has text outside of its root')
    if (next < 0) break
    at = next
    const [, slash, name] = match(opening) ?? []
    if (name === undefined) throw refuse('has a comment, a DTD or a form that identity providers do not send')
    if (slash === '/') {
      if (!match(closing) || (open as Building | null)?.name !== name) throw refuse('is not well-formed')
      open = open!.parent
      levels--
      continue
    }
    const made: Building = { name, attributes: attributesHere(), children: [], parent: open, text: '' }
    const end = match(closing)
    if (!end || (!open && root)) throw refuse('is not well-formed')
    if (++elements > mostElements || levels > mostLevels) throw refuse('is too large')
    if (open) (open as Building).children.push(made)
    root ??= made
    if (end[1] === '/') continue
    open = made
    levels++
  }
  if (!root || open) throw refuse('is not well-formed')
  return root
}

export function* elementsIn(element: XmlElement): Generator<XmlElement, void, undefined> {
  yield element
  for (const child of element.children) yield* elementsIn(child)
}
export const childrenOf = (element: XmlElement, name: string): readonly XmlElement[] => element.children.filter((one) => one.name === name)
