import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { CopiedStore } from '../../../src/engine/storage/duckdb/copy-store.ts'
import { openInstance, projectDatabase } from '../../../src/engine/storage/duckdb/instance.ts'
import { replaceByCopy } from '../../../src/engine/storage/files/store-copy.ts'
import { open } from '../../../src/engine.ts'

// Compacts a store and is killed on the way.   node child DIRECTORY step STEP | after MILLISECONDS | loop one|two

const [dataDir = '', how = '', what = ''] = process.argv.slice(2)
const end = () => process.kill(process.pid, 'SIGKILL')

/** The steps of compacting one store, without a server around it. */
async function inSteps(): Promise<void> {
  const instance = await openInstance({ dataDir, memoryLimit: '256MB', threads: 2 })
  await instance.attachProject(1)
  const name = projectDatabase(1)
  const store = join(dataDir, 'projects', '1', 'store.duckdb')
  const space = new CopiedStore(instance, name, store)
  if (how === 'after') setTimeout(end, Number(what))
  await space.copy()
  if (what === 'copied') end()
  await instance.closeFile(name)
  if (what === 'closed') end()
  await replaceByCopy(store, (step) => {
    if (step === what) end()
  })
  await instance.attachProject(1)
  if (what === 'opened') end()
  await instance.close()
}

/** Compacts again and again while events arrive. Each line is the number of events that are acknowledged. */
async function inLoop(): Promise<void> {
  const waymark = await open({ dataDir, memoryLimit: '512MB', threads: 2, minFreeBytes: 0, isolate: what === 'two', onRecovery: () => {} })
  const project = await waymark.project(1)
  const query = { kind: 'SqlLikeQuery', query: 'select count() from events' } as const
  let sent = Number(((await project.query(query)).results as number[][])[0]![0])
  const sending = async () => {
    for (;;) {
      const batch = Array.from({ length: 50 }, (_, i) => ({
        event: 'more',
        distinct_id: `m${(sent + i) % 9}`,
        timestamp: '2026-04-01T10:00:00Z',
        properties: { n: sent + i },
      }))
      await project.ingest({ batch })
      sent += 50
      writeSync(1, `${sent}\n`)
    }
  }
  const compacting = async () => {
    for (;;) {
      const { projects } = await waymark.compact({ force: true })
      writeSync(1, `${projects[0]!.outcome}\n`)
    }
  }
  await Promise.all([sending(), compacting()])
}

await (how === 'loop' ? inLoop() : inSteps())
