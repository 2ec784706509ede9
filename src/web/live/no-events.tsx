import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'

/** On pages about events, of a project that has none. */
export function NoEvents() {
  const { link } = useProject()
  return (
    <p class="hint">
      No event has arrived yet. <a href={linkTo(link('live'))}>How to send the first one</a>, or{' '}
      <a href={linkTo(link('import'))}>import a file</a>
    </p>
  )
}
