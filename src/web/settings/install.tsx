import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { CodeBlock, serverAddress } from '../live/code-block.tsx'
import { webSnippets } from '../live/snippets.ts'

export function InstallSection() {
  const { api_token, link } = useProject()
  return (
    <section class="block">
      <h2>Events from a web page</h2>
      <p class="note">
        One of these. What the library records by itself is in <a href={linkTo(link('settings/capture'))}>Capture</a>; events appear in{' '}
        <a href={linkTo(link('live'))}>Live</a> as they arrive.
      </p>
      {webSnippets(api_token, serverAddress()).map((one) => (
        <CodeBlock key={one.title} {...one} />
      ))}
    </section>
  )
}
