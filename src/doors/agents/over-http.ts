import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Scope } from '../../service/accounts/users/personal-keys.ts'
import { Api, type ApiOptions } from './api.ts'
import { agentServer } from './server.ts'

export interface HttpAccess extends ApiOptions {
  readonly may: (scope: Scope) => boolean
}

const field = 'data: '
const streams = 'text/event-stream'
const listening = 'subscriptions/listen'

/** An answer of older versions comes as a stream with one event; a caller that takes none gets what is in it. */
async function withoutStream(response: Response): Promise<Response> {
  if (!response.headers.get('content-type')?.startsWith(streams)) return response
  const lines = (await response.text()).split('\n')
  const data = lines.find((line) => line.startsWith(field))?.slice(field.length)
  return new Response(data ?? 'null', { status: response.status, headers: { 'content-type': 'application/json' } })
}

/** One message of an agent. Nothing is kept between two of them. */
export async function answerAgent(
  request: Request,
  message: { readonly method: string },
  { may, ...options }: HttpAccess,
): Promise<Response> {
  const api = new Api(options)
  const handler = createMcpHandler(() => agentServer({ api, may: ({ scope }) => may(scope) }), { keepAliveMs: 0 })
  const { url, method, signal } = request
  const headers = new Headers(request.headers)
  const takesStreams = headers.get('accept')?.includes(streams) === true
  if (takesStreams || message.method === listening)
    return handler.fetch(new Request(url, { method, headers, signal }), { parsedBody: message })
  headers.set('accept', `application/json, ${streams}`)
  return withoutStream(await handler.fetch(new Request(url, { method, headers, signal }), { parsedBody: message }))
}
