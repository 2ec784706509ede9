import { CopyButton } from '../ui/parts.tsx'

export function CodeBlock({ title, note, code }: { title: string; note?: string; code: string }) {
  return (
    <section class="snippet" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <CopyButton text={code} />
      </header>
      {note && <p class="note">{note}</p>}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </section>
  )
}

/** Where this page came from: clients send there. */
export const serverAddress = (): string => new URL('.', document.baseURI).href.replace(/\/$/, '')
