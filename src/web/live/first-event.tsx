import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { Empty } from '../ui/parts.tsx'
import { CodeBlock, serverAddress } from './code-block.tsx'
import { htmlSnippet } from './snippets.ts'

/** Ways to send an event to a server, each with its name. */
const snippets = (key: string, host: string): readonly (readonly [string, string])[] => [
  [
    'From a terminal',
    `curl ${host}/capture/ -H 'content-type: application/json' -d '${JSON.stringify({ api_key: key, event: 'hello', distinct_id: 'me' })}'`,
  ],
  ['From a web page', htmlSnippet(key, host).code],
  [
    'From Python',
    `pip install posthog

from posthog import Posthog
client = Posthog('${key}', host='${host}')
client.capture(distinct_id='me', event='hello')
client.flush()`,
  ],
  [
    'From a server with Node',
    `npm install posthog-node

import { PostHog } from 'posthog-node'
const client = new PostHog('${key}', { host: '${host}' })
client.capture({ distinctId: 'me', event: 'hello' })
await client.flush()`,
  ],
]

export function FirstEvent() {
  const { api_token, link } = useProject()
  return (
    <Empty title="Waiting for the first event">
      <p>Send one in any of these ways. This page shows it as soon as it has arrived.</p>
      <p>
        Events that exist already, in a CSV file or an export of another product:{' '}
        <a class="button" href={linkTo(link('import'))}>
          Import a file
        </a>
      </p>
      {snippets(api_token, serverAddress()).map(([title, code]) => (
        <CodeBlock key={title} title={title} code={code} />
      ))}
      <p>
        For React, Next.js, WordPress, a proxy, or page views without cookies: <a href={linkTo(link('settings/install'))}>web page</a>.
      </p>
    </Empty>
  )
}
