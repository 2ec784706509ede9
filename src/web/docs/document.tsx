import { useEffect, useRef } from 'preact/hooks'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { Scroll } from '../ui/list-table.tsx'
import { docSections } from './doc-list.ts'
import { type Block, blocksOf, inlineOf } from './markdown.ts'

/** A document, with the heading of an anchor in sight. */
export function Document({ name, markdown, anchor }: { name: string; markdown: string; anchor: string }) {
  const whole = useRef<HTMLElement>(null)
  useEffect(() => {
    const at = [...(whole.current?.querySelectorAll('[data-anchor]') ?? [])].find((one) => one.getAttribute('data-anchor') === anchor)
    at?.scrollIntoView({ block: 'start' })
  }, [markdown, anchor])
  // The page has the first heading as its own.
  const blocks = blocksOf(markdown).filter(({ kind }, i) => i > 0 || kind !== 'heading')
  return (
    <article class="doc" ref={whole}>
      {blocks.map((block, i) => (
        <BlockOf key={i} block={block} doc={name} />
      ))}
    </article>
  )
}

function BlockOf({ block, doc }: { block: Block; doc: string }) {
  switch (block.kind) {
    case 'heading': {
      const Heading = block.level <= 2 ? 'h2' : 'h3'
      return (
        <Heading data-anchor={block.anchor}>
          <Words text={block.text} doc={doc} />
        </Heading>
      )
    }
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case 'list': {
      const List = block.isNumbered ? 'ol' : 'ul'
      return (
        <List>
          {block.items.map((item, i) => (
            <li key={i}>
              <Words text={item} doc={doc} />
            </li>
          ))}
        </List>
      )
    }
    case 'table':
      return <TableOf block={block} doc={doc} />
    case 'paragraph':
      return (
        <p>
          <Words text={block.text} doc={doc} />
        </p>
      )
  }
}

const TableOf = ({ block, doc }: { block: Extract<Block, { kind: 'table' }>; doc: string }) => (
  <Scroll label={block.head.filter(Boolean).join(', ') || 'Table'}>
    <table class="rows">
      <thead>
        <tr>
          {block.head.map((cell, i) => (
            <th key={i}>
              <Words text={cell} doc={doc} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {block.rows.map((row, i) => (
          <tr key={i}>
            {row.map((cell, at) => (
              <td key={at}>
                <Words text={cell} doc={doc} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

function Words({ text, doc }: { text: string; doc: string }) {
  const { link } = useProject()
  return (
    <>
      {inlineOf(text).map((part, i) => {
        if (part.kind === 'code') return <code key={i}>{part.text}</code>
        if (part.kind === 'strong') return <strong key={i}>{part.text}</strong>
        if (part.kind === 'text') return part.text
        if (/^https?:/.test(part.to))
          return (
            <a key={i} href={part.to} rel="noreferrer" target="_blank">
              {part.text}
            </a>
          )
        const [file = '', anchor = ''] = part.to.split('#')
        const name = file === '' ? doc : file.replace(/\.md$/, '')
        if (!docSections.some((one) => one.name === name)) return part.text
        return (
          <a key={i} href={linkTo(link(`docs/${name}`), anchor === '' ? {} : { at: anchor })}>
            {part.text}
          </a>
        )
      })}
    </>
  )
}
