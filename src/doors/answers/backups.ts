import * as z from 'zod'
import { timeSchema } from './fields.ts'

const backupsSchema = z.object({
  to: z.string().meta({ description: 'The folder, or `s3://bucket/prefix`, that copies are written to' }),
  copies: z.int().nullable().meta({ description: 'Number of copies there; null: none was taken yet' }),
  bytes: z.int().nullable().meta({ description: 'Size of the directory in the newest copy, rounded up to whole mebibytes' }),
  copied_at: timeSchema.nullable().meta({ description: 'The newest copy has everything that was acknowledged before this time' }),
  reaches_back_to: timeSchema.nullable().meta({ description: 'Each moment from this time to `copied_at` can be restored' }),
  due_at: timeSchema.meta({ description: 'When the next copy is taken' }),
  failures: z.int().meta({ description: 'Attempts that failed since the newest copy' }),
  latest_error: z.string().nullable().meta({ description: 'Why the latest attempt failed; null: it did not' }),
  verified_at: timeSchema.nullable().meta({ description: 'The time of the newest copy that was restored and compared' }),
  verify_error: z.string().nullable().meta({ description: 'Why the latest verification failed; null: it did not' }),
})
export const backupStateSchema = z.object({
  backups: backupsSchema.nullable().meta({ description: 'null: this server makes none by itself' }),
})
export type BackupStateAnswer = z.output<typeof backupStateSchema>
