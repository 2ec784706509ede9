import { type Watch, watchChange } from '../../../service/watching/watches.ts'
import { type WatchAnswer, type WatchesAnswer, watchesSchema, watchSchema } from '../../answers/notifications.ts'
import { maybeTime, time } from '../present.ts'
import { defineResource } from '../resource.ts'

const present = ({ name, isOfServer, title, summary, enabled, problems }: Watch): WatchAnswer => ({
  name,
  of: isOfServer ? 'server' : 'project',
  title,
  summary,
  enabled,
  problems: problems.map(({ subject_name, began_at, ended_at, told_at, lines }) => ({
    subject: subject_name,
    began_at: time(began_at),
    ended_at: maybeTime(ended_at),
    mailed_at: maybeTime(told_at),
    lines: [...(lines as readonly string[])],
  })),
})

export const watches = defineResource({
  name: 'watches',
  summary:
    'What a project is watched for, without anybody having set up an alert: the owners of its organization get one mail when it begins, and one when it is over. Administrators of the organization that the server was set up with also see what the server is watched for ([operations.md](operations.md#mails-to-owners))',
  path: '/api/projects/:project_id/watches',
  reach: 'project',
  object: 'project',
  write: 'admin',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'All of them, with their problems',
      answer: watchesSchema,
      handle: async ({ app, by, project }) => {
        const all = await app.watching.watches.list({ by, project })
        return { mails: app.accounts.context.mailer() !== null, results: all.map(present) } satisfies WatchesAnswer
      },
    }),
    row({
      method: 'PATCH',
      path: ':watch',
      name: 'update',
      summary: 'Switches the mails about one of them on or off',
      body: watchChange,
      answer: watchSchema,
      handle: async ({ app, by, project, params, body }) =>
        present(await app.watching.watches.change({ by, project }, params.watch!, body)),
    }),
  ],
})
