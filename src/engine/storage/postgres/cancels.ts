import { createHash } from 'node:crypto'
import type { Cancels, HearCancelled } from '../../../lib/flow/cancels.ts'
import type { Postgres } from './client.ts'
import { type News, told } from './news.ts'

// Cancelled queries, told through NOTIFY.

export interface SharedCancels extends Cancels {
  /** What other servers have told. */
  heard(news: News): void
}

/** Ids are of any length, and news have a number. */
const printOf = (id: string): number => createHash('sha256').update(id).digest().readUIntBE(0, 6)

export function cancelsThrough({ rows, schema }: Postgres): SharedCancels {
  let listener: HearCancelled = () => undefined
  return {
    tell: (project, id, isOnlyWaiting) =>
      rows(`SELECT ${told(schema, isOnlyWaiting ? 'withdrawn' : 'cancelled', '$1::integer', '$2::bigint')}`, [project, printOf(id)]),
    heard({ kind, project, seq }) {
      if (kind === 'cancelled' || kind === 'withdrawn') listener(project, (id) => printOf(id) === seq, kind === 'withdrawn')
    },
    listen(hear) {
      listener = hear
    },
  }
}
