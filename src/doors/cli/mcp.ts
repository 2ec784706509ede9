import { resolve } from 'node:path'
import { followed, localOf } from '../../following.ts'
import { Api, type SendCall } from '../agents/api.ts'
import { openAnywhere } from '../connected/open-anywhere.ts'
import type { ClientParts } from '../library/client.ts'
import { callServer } from './call-server.ts'
import { type Command, type Values, wrongUsage } from './command.ts'
import { dataOption, mustBeDataDirectory, pluginsOfCommand } from './directory.ts'
import { clickhouseOption, engineOf, postgresOption } from './options/clickhouse-option.ts'

interface Reached {
  readonly api: Api
  close(): Promise<void>
}

/** A server, with the rights of a key. */
function serverAt(url: string, key: string): Reached {
  const send: SendCall = (method, path, body, signal) =>
    callServer(url, path, {
      method,
      signal,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  return { api: new Api({ send, pages: new URL(url).origin }), close: async () => undefined }
}

/** A directory, with the rights of those who can read its files; by its owner if another process has it open. */
async function directoryAt(values: Values): Promise<Reached> {
  const dataDir = resolve(values.required('data'))
  const engine = engineOf(values)
  const isShared = engine?.postgres !== undefined
  if (!isShared) await mustBeDataDirectory(dataDir)
  const { waymark } = await openAnywhere({
    ...(isShared ? {} : { dataDir, connect: true }),
    engine,
    exports: { runs: false },
    notifications: { runs: false },
    plugins: pluginsOfCommand(values),
    logRetention: { days: Number.POSITIVE_INFINITY }, // the server decides what it removes
  })
  const { sendAsOperator } = await import('../http/server/operator.ts')
  const toApi = followed<ClientParts>(waymark)?.send ?? sendAsOperator(localOf(waymark))
  const send: SendCall = (method, path, body, signal) => {
    const content = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return toApi(new Request(new URL(path, 'http://waymark.localhost'), { method, signal, ...content }))
  }
  return { api: new Api({ send, pages: values.text('pages') ?? null }), close: () => waymark.close() }
}

export const mcp: Command = {
  options: {
    data: dataOption,
    clickhouse: clickhouseOption,
    postgres: postgresOption,
    url: { value: 'URL', summary: 'a running server, in place of a directory; needs --key' },
    key: { value: 'KEY', summary: 'a personal API key for --url; its scopes are what the agent may do' },
    write: { summary: 'also list the tools that save insights, dashboards, annotations and cohorts' },
    pages: { value: 'URL', summary: 'with --data: where the pages are, for links in answers' },
  },
  run: async (values, { err }) => {
    const [url, key] = [values.text('url'), values.text('key')]
    if ((url === undefined) !== (key === undefined)) throw wrongUsage('--url and --key belong together.')
    if (url !== undefined && !URL.canParse(url)) throw wrongUsage(`--url must be a URL such as http://127.0.0.1:8000, but got ${url}.`)
    const reached = url !== undefined && key !== undefined ? serverAt(url, key) : await directoryAt(values)
    const { serveAgent } = await import('../agents/over-stdio.ts')
    const onError = (error: unknown) => err(`waymark: ${error instanceof Error ? error.message : String(error)}`)
    try {
      await serveAgent({ api: reached.api, writes: values.isOn('write'), onError })
    } finally {
      await reached.close()
    }
  },
}
