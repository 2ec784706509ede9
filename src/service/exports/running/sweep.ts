import type { BatchExport } from '../../accounts/records.ts'
import { isActive } from '../records.ts'
import type { SchedulerParts } from './scheduler-parts.ts'

const day = 86_400_000
const logDays = 30
const runDays = 90

/** Removes old runs and log lines of an export. */
export async function sweep({ context }: SchedulerParts, { id }: BatchExport): Promise<void> {
  const now = context.clock().getTime()
  const isOlder = (time: Date | null, days: number) => time !== null && now - time.getTime() > days * day
  await context.store.write(async (tables) => {
    const lines = await tables.batch_export_logs.find({ batch_export_id: id })
    await tables.batch_export_logs.remove({ id: lines.filter(({ timestamp }) => isOlder(timestamp, logDays)).map((one) => one.id) })
    const runs = await tables.batch_export_runs.find({ batch_export_id: id })
    const ended = runs.filter((run) => !isActive(run) && isOlder(run.finished_at, runDays))
    await tables.batch_export_runs.remove({ id: ended.map((one) => one.id) })
  })
}
