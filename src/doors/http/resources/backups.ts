import type { BackupStatus } from '../../../service/backups/schedule.ts'
import { type BackupStateAnswer, backupStateSchema } from '../../answers/backups.ts'
import { failures } from '../errors.ts'
import { maybeTime, time } from '../present.ts'
import { defineResource } from '../resource.ts'

const mebibyte = 1024 ** 2

const present = (status: BackupStatus): NonNullable<BackupStateAnswer['backups']> => ({
  to: status.to,
  copies: status.copies,
  bytes: status.bytes === null ? null : status.bytes * mebibyte,
  copied_at: maybeTime(status.copied_at),
  reaches_back_to: maybeTime(status.reaches_back_to),
  due_at: time(status.due_at),
  failures: status.failures,
  latest_error: status.latest_error,
  verified_at: maybeTime(status.verified_at),
  verify_error: status.verify_error,
})

export const backups = defineResource({
  name: 'backups',
  summary: 'The backups that the server makes by itself (`waymark serve --backup`), of everything that it has. Not on a hosted server',
  path: '/api/organizations/:organization_id/backups',
  reach: 'organization',
  object: 'organization',
  read: 'admin',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'retrieve',
      summary: 'When the last copy was taken and the last one verified, and what can be restored',
      answer: backupStateSchema,
      handle: async ({ app }) => {
        // They are the operator's there, and of all organizations.
        if (app.accounts.context.settings().isHosted) throw failures.notFound()
        const status = await app.backups()
        return { backups: status && present(status) } satisfies BackupStateAnswer
      },
    }),
  ],
})
