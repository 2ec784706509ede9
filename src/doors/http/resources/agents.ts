import * as z from 'zod'
import { withinJson } from '../../../limits/bounds.ts'
import { check, text } from '../../../service/accounts/fields.ts'
import { allows } from '../../../service/accounts/users/personal-keys.ts'
import { defineResource, Reply } from '../resource.ts'

const message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: text({ max: 200 }),
  id: z.union([z.string(), z.number()]).optional().meta({ description: 'Without it nothing is answered' }),
  params: z.looseObject({}).optional(),
})

/** Questions are short, and a message is read on the thread that all requests share. */
const largestMessage = 1024 * 1024

export const agents = defineResource({
  name: 'agents',
  summary: 'Tools for agents by the Model Context Protocol ([agents.md](agents.md))',
  path: '/mcp',
  reach: 'user',
  object: null,
  rows: (row) => [
    row({
      method: 'POST',
      name: 'call',
      summary:
        'One message of the protocol, in its version of 2026-07-28 or an older one, without a session; each tool is requests to the routes of this page',
      scope: 'any',
      limitedKeys: 'any',
      body: withinJson(message, 'body'),
      mostBody: largestMessage,
      answer: z.looseObject({}).nullable(),
      handle: async ({ body, request, site, caller, again }) => {
        const asked = check(message, body)
        const { answerAgent } = await import('../../agents/over-http.ts')
        const access = {
          send: again,
          pages: site.base,
          may: (scope: Parameters<typeof allows>[1]) => caller.via !== 'key' || allows(caller.key, scope),
        }
        const response = await answerAgent(request, asked, access)
        return new Reply(response.status, response.body ?? undefined, Object.fromEntries(response.headers))
      },
    }),
  ],
})
