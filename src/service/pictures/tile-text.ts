import { element, type Markup } from './markup.ts'

// Texts of tiles: headings, lists, bold, code and links of Markdown. Everything else is shown as it was written.

/** Each of at most so many characters: a longer one is shown as it was written. */
const inline = /(\*\*[^*]{1,500}\*\*|`[^`]{1,500}`|\[[^\]]{1,200}\]\(https?:\/\/[^\s)]{1,1000}\))/

const spans = (text: string): readonly Markup[] =>
  text.split(inline).map((part) => {
    if (part.startsWith('**') && part.endsWith('**') && part.length > 4) return element('strong', {}, part.slice(2, -2))
    if (part.startsWith('`') && part.endsWith('`') && part.length > 2) return element('code', {}, part.slice(1, -1))
    const link = /^\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)$/.exec(part)
    return link ? element('a', { href: link[2]!, target: '_blank', rel: 'noopener noreferrer' }, link[1]!) : part
  })

/** One element per block. */
export const tileText = (body: string): readonly Markup[] =>
  body
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const heading = /^(#{1,4})\s(.*)$/.exec(block.split('\n')[0]!)
      const lines = block.split('\n').slice(heading ? 1 : 0)
      const isList = lines.length > 0 && lines.every((line) => /^\s*[-*]\s+/.test(line))
      return element(
        'div',
        {},
        heading ? [element('h2', { class: `level-${heading[1]!.length}` }, spans(heading[2]!.trim()))] : [],
        isList
          ? [
              element(
                'ul',
                {},
                lines.map((line) => element('li', {}, spans(line.replace(/^\s*[-*]\s+/, '')))),
              ),
            ]
          : lines.length > 0
            ? [element('p', {}, spans(lines.join('\n')))]
            : [],
      )
    })
