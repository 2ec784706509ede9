import { join } from 'node:path'
import type { BatchExport } from '../../src/service/accounts/records.ts'
import type { Model } from './model.ts'
import { realFs as fs } from './world/real-fs.ts'
import type { World } from './world.ts'

// A batch export into a folder of the machine, judged by the files that are published: each event once, and all of them in the end.

interface Manifest {
  readonly files: readonly { readonly name: string; readonly rows: number }[]
}

/** The uuids of the events of all published files. */
function publishedIn(folder: string): readonly string[] {
  if (!fs.existsSync(folder)) return []
  const manifests = fs.readdirSync(folder).filter((name) => name.endsWith('.manifest.json') && !name.startsWith('.'))
  return manifests.flatMap((name) => {
    const { files } = JSON.parse(fs.readFileSync(join(folder, name), 'utf8')) as Manifest
    return files.flatMap((file) => {
      const lines = fs.readFileSync(join(folder, file.name), 'utf8').trim().split('\n')
      if (lines.length !== file.rows) throw new Error(`wrong export: ${file.name} has ${lines.length} rows, not ${file.rows}`)
      return lines.map((line) => (JSON.parse(line) as { uuid: string }).uuid)
    })
  })
}

export class Exported {
  /** Events that had arrived when the export got its first position: it may have them, or not. */
  private before: ReadonlySet<string> | null = null
  /** The clock may have gone back since, and events arrived later than it is. */
  private latest = 0
  private readonly world: World

  constructor(world: World) {
    this.world = world
  }

  private async record(): Promise<BatchExport | undefined> {
    return this.world.until(this.world.waymark.accounts.context.store.read.batch_exports.first({}))
  }

  /** After each step. */
  async judge(model: Model): Promise<void> {
    this.latest = Math.max(this.latest, this.world.machine.schedule.wallClock())
    const record = await this.record()
    if (!record) return
    const isFinal = (record.cut_position as unknown as { isFinal: boolean }).isFinal
    if (isFinal) this.before ??= new Set(model.everSent)
    const found = publishedIn(this.world.exportFolder)
    const once = new Set(found)
    if (once.size < found.length) throw new Error(`exported twice: event ${found.find((uuid, i) => found.indexOf(uuid) !== i)}`)
    const known = new Set(model.everSent)
    for (const uuid of found) if (!known.has(uuid)) throw new Error(`exported, but not acknowledged: event ${uuid}`)
  }

  /** At the end: days pass until all has been exported. */
  async finish(model: Model): Promise<void> {
    const { world } = this
    const { schedule } = world.machine
    let last: number | null = null
    for (let days = 0; days < mostDays; days++) {
      const record = await this.record()
      if (!record) return
      if (record.paused) throw new Error(`an export was paused: ${record.paused_reason}`)
      const active = await world.until(
        world.waymark.accounts.context.store.read.batch_export_runs.first({ batch_export_id: record.id, status: ['Starting', 'Running'] }),
      )
      last ??= Math.max(this.latest, record.cut_at.getTime())
      if (record.cut_at.getTime() > last && !active) break
      schedule.jump(Math.max(0, record.cut_at.getTime() + dayMs - schedule.wallClock()))
      await schedule.pass(waitMs)
    }
    await this.judge(model)
    const found = new Set(publishedIn(world.exportFolder))
    const { events } = model.at(schedule.wallClock()).contents // some are not kept any more
    const missing = events.filter(({ uuid }) => !found.has(uuid) && !this.before?.has(uuid))
    world.meets('exports')
    if (missing.length > 0) throw new Error(`not exported: ${missing.length} events, first ${missing[0]!.uuid}`)
  }
}

const dayMs = 86_400_000
/** Longer than the jitter of a run, and the first waits after failures. */
const waitMs = 12 * 60_000
const mostDays = 200
