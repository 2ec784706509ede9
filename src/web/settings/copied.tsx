import { CopyButton } from '../ui/parts.tsx'

/** An address of this server, as the browser knows it. */
export const here = (path: string) => new URL(path, location.href.split('#', 1)[0]).href

/** A text for the other side, with a button that copies it. */
export function Copied({ label, text }: { label: string; text: string }) {
  return (
    <div class="field">
      <span>{label}</span>
      <div class="row">
        <code class="secret">{text}</code>
        <CopyButton text={text} />
      </div>
    </div>
  )
}
