// The Markdown of our documents: headings, paragraphs, lists, tables, code and links; nothing else is in them.

export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly to: string }

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string; readonly anchor: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly isNumbered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }

/** As GitHub makes them. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** Cells between bars that are not escaped. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = []
  let cell = ''
  for (let i = 1; i < line.length; i++) {
    if (line[i] === '\\' && line[i + 1] === '|') {
      cell += '|'
      i++
    } else if (line[i] === '|') {
      cells.push(cell.trim())
      cell = ''
    } else cell += line[i]
  }
  return cells
}

const marker = /^(?:-|\d+\.) /
const headingLevel = (line: string): number => /^(#{1,6}) /.exec(line)?.[1]?.length ?? 0

export function blocksOf(markdown: string): readonly Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  let at = 0
  /** The lines while they belong to a block. */
  const take = (isPart: (line: string) => boolean): readonly string[] => {
    const first = at
    while (at < lines.length && isPart(lines[at]!)) at++
    return lines.slice(first, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    const level = headingLevel(line)
    if (line.trim() === '') at++
    else if (line.startsWith('```')) {
      at++
      blocks.push({ kind: 'code', text: take((one) => !one.startsWith('```')).join('\n') })
      at++
    } else if (level > 0) {
      const text = line.slice(level + 1)
      blocks.push({ kind: 'heading', level, text, anchor: anchorOf(text) })
      at++
    } else if (line.startsWith('|')) {
      const [head = '', , ...rows] = take((one) => one.startsWith('|'))
      blocks.push({ kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) })
    } else if (marker.test(line)) {
      const items: string[] = []
      for (const one of take((next) => next.trim() !== '')) {
        if (marker.test(one) || items.length === 0) items.push(one.replace(marker, ''))
        else items.push(`${items.pop()} ${one.trim()}`)
      }
      blocks.push({ kind: 'list', isNumbered: !line.startsWith('-'), items })
    } else {
      const text = take((one) => one.trim() !== '' && !one.startsWith('|') && !one.startsWith('```') && headingLevel(one) === 0)
      blocks.push({ kind: 'paragraph', text: text.join(' ') })
    }
  }
  return blocks
}

export function inlineOf(text: string): readonly Inline[] {
  const parts: Inline[] = []
  let plain = ''
  const push = (part: Inline, end: number): number => {
    if (plain !== '') parts.push({ kind: 'text', text: plain })
    plain = ''
    parts.push(part)
    return end
  }
  for (let at = 0; at < text.length; ) {
    const close = (mark: string, from: number) => text.indexOf(mark, from)
    const code = text[at] === '`' ? close('`', at + 1) : -1
    const strong = text.startsWith('**', at) ? close('**', at + 2) : -1
    const label = text[at] === '[' ? close('](', at) : -1
    const link = label > 0 ? close(')', label) : -1
    if (code > 0) at = push({ kind: 'code', text: text.slice(at + 1, code) }, code + 1)
    else if (strong > 0) at = push({ kind: 'strong', text: text.slice(at + 2, strong) }, strong + 2)
    else if (link > 0)
      at = push({ kind: 'link', text: text.slice(at + 1, label).replaceAll('`', ''), to: text.slice(label + 2, link) }, link + 1)
    else plain += text[at++]
  }
  if (plain !== '') parts.push({ kind: 'text', text: plain })
  return parts
}

export interface Hit {
  readonly heading: string
  readonly anchor: string
  readonly excerpt: string
}
const around = 70

const plainText = (text: string): string =>
  inlineOf(text)
    .map((part) => part.text)
    .join('')

/** Where a word begins with this; below 0: nowhere. */
function placeOf(text: string, begin: string): number {
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')) return at
  return -1
}

/** The first place in each part of a document that has all of these words. */
export function searchIn(markdown: string, search: string): readonly Hit[] {
  const words = search.toLowerCase().split(' ').filter(Boolean)
  const hits = new Map<string, Hit>()
  let [heading, anchor] = ['', '']
  for (const block of blocksOf(markdown)) {
    if (block.kind === 'heading') [heading, anchor] = [block.text, block.anchor]
    const parts = block.kind === 'list' ? block.items : block.kind === 'table' ? block.rows.map((row) => row.join(' ')) : [block.text]
    const text = parts.map((part) => (block.kind === 'code' ? part : plainText(part))).join(' ')
    const whole = `${heading} ${text}`.toLowerCase()
    if (hits.has(anchor) || !words.every((word) => placeOf(whole, word) >= 0)) continue
    const found = Math.max(0, placeOf(text.toLowerCase(), words[0] ?? ''))
    const excerpt = text.slice(Math.max(0, found - around), found + around)
    hits.set(anchor, { heading, anchor, excerpt })
  }
  return [...hits.values()]
}
