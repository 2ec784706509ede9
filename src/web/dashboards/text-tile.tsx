import type { ComponentChild } from 'preact'

// Texts of tiles: headings, lists, bold, code and links of Markdown. Everything else is shown as it was written.

const inline = /(\*\*[^*]+\*\*|`[^`]+`|\[[^\]]+\]\(https?:\/\/[^\s)]+\))/

const spans = (text: string): readonly ComponentChild[] =>
  text.split(inline).map((part, i) => {
    if (part.startsWith('**') && part.endsWith('**') && part.length > 4) return <strong key={i}>{part.slice(2, -2)}</strong>
    if (part.startsWith('`') && part.endsWith('`') && part.length > 2) return <code key={i}>{part.slice(1, -1)}</code>
    const link = /^\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)$/.exec(part)
    if (link)
      return (
        <a key={i} href={link[2]!} target="_blank" rel="noopener noreferrer">
          {link[1]}
        </a>
      )
    return part
  })

export function TextTile({ body }: { body: string }) {
  const blocks = body.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return (
    <div class="text-tile">
      {blocks.map((block, i) => {
        const heading = /^(#{1,4})\s+(.*)$/.exec(block.split('\n')[0]!)
        const lines = block.split('\n').slice(heading ? 1 : 0)
        const isList = lines.length > 0 && lines.every((line) => /^\s*[-*]\s+/.test(line))
        return (
          <div key={i}>
            {heading && <h2 class={`level-${heading[1]!.length}`}>{spans(heading[2]!)}</h2>}
            {isList && (
              <ul>
                {lines.map((line, at) => (
                  <li key={at}>{spans(line.replace(/^\s*[-*]\s+/, ''))}</li>
                ))}
              </ul>
            )}
            {!isList && lines.length > 0 && <p>{spans(lines.join('\n'))}</p>}
          </div>
        )
      })}
    </div>
  )
}
