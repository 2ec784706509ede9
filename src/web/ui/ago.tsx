import { agoText, momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'

/** How long ago; the pointer shows the exact time, in the zone of the project. */
export function Ago({ of, never = '–' }: { of: string | null | undefined; never?: string }) {
  const { timezone } = useProject()
  if (!of) return <>{never}</>
  return (
    <time dateTime={of} title={momentText(of, timezone)}>
      {agoText(of)}
    </time>
  )
}
