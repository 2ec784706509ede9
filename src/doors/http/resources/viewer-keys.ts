import * as z from 'zod'
import type { ViewerKey } from '../../../service/accounts/records.ts'
import { viewerTokenInput } from '../../../service/viewers/grant.ts'
import { viewerKeyInput } from '../../../service/viewers/keys.ts'
import { type ViewerKeyAnswer, type ViewerTokenAnswer, viewerKeySchema, viewerTokenSchema } from '../../answers/sharing.ts'
import { time } from '../present.ts'
import { defineResource } from '../resource.ts'

// What an application needs to show charts to its own customers.

const present = (key: ViewerKey, secret: string | null = null): ViewerKeyAnswer => ({
  id: key.id,
  name: key.name,
  secret,
  created_by: key.created_by_id,
  created_at: time(key.created_at),
})

export const viewerKeys = defineResource({
  name: 'viewer_keys',
  summary: 'Keys that an application signs the tokens of its viewers with ([viewers.md](viewers.md))',
  path: '/api/projects/:project_id/viewer_keys',
  reach: 'project',
  object: 'sharing_configuration',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The keys, without their secrets',
      answer: z.array(viewerKeySchema),
      handle: async ({ app, project }) => (await app.viewers.keys.list(project)).map((key) => present(key)),
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'Makes a key; its secret is shown only once',
      body: viewerKeyInput,
      status: 201,
      answer: viewerKeySchema,
      secrets: ['secret'],
      handle: async (visit) => {
        const { key, secret } = await visit.app.viewers.keys.create(visit, visit.body)
        return present(key, secret)
      },
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Removes a key: from the next request on, its tokens open nothing',
      handle: (visit) => visit.app.viewers.keys.remove(visit, visit.params.id!),
    }),
  ],
})

export const viewerTokens = defineResource({
  name: 'viewer_tokens',
  summary: 'Tokens for the viewers of an application, for those who do not sign them themselves ([viewers.md](viewers.md))',
  path: '/api/projects/:project_id/viewer_tokens',
  reach: 'project',
  object: 'sharing_configuration',
  rows: (row) => [
    row({
      method: 'POST',
      name: 'create',
      summary: 'Makes a token, signed with the newest key. A project without a key gets one',
      body: viewerTokenInput,
      answer: viewerTokenSchema,
      handle: async ({ app, project, body }): Promise<ViewerTokenAnswer> => {
        const { id, token, expiresAt } = await app.viewers.keys.sign(project, body)
        return { id, token, expires_at: time(expiresAt) }
      },
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'revoke',
      summary: 'Ends one token, by its id (`jti`)',
      handle: (visit) => visit.app.viewers.keys.revoke(visit, visit.params.id!),
    }),
  ],
})
