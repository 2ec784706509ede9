import { readableEvent } from '../../service/pictures/readable.ts'

/** The name of an event where it is read, as people say it; the pointer shows it as it is sent. `isWhole`: both are in sight, where the sent one is looked up. */
export function EventName({ of, isWhole = false }: { of: string; isWhole?: boolean }) {
  const readable = readableEvent(of)
  if (readable === of) return <>{of}</>
  return (
    <>
      <span title={of}>{readable}</span>
      {isWhole && <code class="sent-name">{of}</code>}
    </>
  )
}
