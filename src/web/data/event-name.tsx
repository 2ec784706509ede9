import { readableEvent, readableProperty } from '../../service/pictures/readable.ts'

interface Props {
  /** As it is sent. */
  readonly of: string
  /** Both are in sight, where the sent one is looked up. */
  readonly isWhole?: boolean
}

function SentName({ of, readable, isWhole = false }: Props & { readonly readable: string }) {
  if (readable === of) return <>{of}</>
  return (
    <>
      <span title={of}>{readable}</span>
      {isWhole && <code class="sent-name">{of}</code>}
    </>
  )
}

/** The name of an event where it is read, as people say it; the pointer shows it as it is sent. */
export const EventName = (props: Props) => <SentName {...props} readable={readableEvent(props.of)} />

/** The same of a property. */
export const PropertyName = (props: Props) => <SentName {...props} readable={readableProperty(props.of)} />
