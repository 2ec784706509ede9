import type { ScopeObject } from '../../../service/accounts/users/personal-keys.ts'
import { failures } from '../errors.ts'
import { defineResource, type Resource } from '../resource.ts'

interface NotKept {
  readonly path: string
  readonly object: ScopeObject
  readonly words: string
  readonly instead: string
}

const none = 'There is no equivalent.'
const refused = 'The answer is always an error'

/** Resources of PostHog that Waymark does not support. */
const resources: readonly NotKept[] = [
  { path: 'early_access_feature', object: 'early_access_feature', words: 'early access features', instead: none },
  { path: 'experiments', object: 'experiment', words: 'experiments', instead: none },
  { path: 'notebooks', object: 'notebook', words: 'notebooks', instead: none },
  { path: 'session_recordings', object: 'session_recording', words: 'session recordings', instead: none },
  { path: 'surveys', object: 'survey', words: 'surveys', instead: 'Answers of surveys can be sent as events.' },
]

export const notKeptResources: readonly Resource[] = resources.map(({ path, object, words, instead }) => {
  const missing = `Waymark does not support ${words}. ${instead}`
  const refuse = async () => {
    throw failures.notFound(missing)
  }
  return defineResource({
    name: path,
    summary: missing.replace(/\.$/, ''),
    path: `/api/projects/:project_id/${path}`,
    reach: 'project',
    object,
    missing,
    rows: (row) => [
      row({
        method: 'GET',
        name: 'list',
        summary: 'Always 404: not supported',
        status: 404,
        ignoresParameters: refused,
        handle: refuse,
      }),
      row({
        method: 'GET',
        path: ':id',
        name: 'retrieve',
        summary: 'Always 404: not supported',
        status: 404,
        ignoresParameters: refused,
        handle: refuse,
      }),
    ],
  })
})
