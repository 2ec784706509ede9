import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { openInstance, projectDatabase } from '../../../../src/engine/storage/duckdb/instance.ts'
import { storeFile } from '../../../../src/engine/storage/duckdb/migrations.ts'

// Brings a store to the format of today and is killed on the way: before a step, or so many milliseconds after it began.   node child DIRECTORY step|after NUMBER

const [dataDir = '', how, number = '0'] = process.argv.slice(2)
const end = () => process.kill(process.pid, 'SIGKILL')
const instance = await openInstance({ dataDir, memoryLimit: '256MB', threads: 2 })
const migrations = storeFile.migrations.map((step) => ({
  ...step,
  statements: (database: string) => {
    if (how === 'step' && step.to === Number(number)) end()
    return step.statements(database)
  },
}))
await instance.attach(
  projectDatabase(1),
  join('projects', '1', 'store.duckdb'),
  { ...storeFile, migrations },
  {
    notice: ({ kind }) => {
      if (kind === 'store-migration-progress') return
      writeSync(1, `${kind}\n`)
      if (kind === 'store-migrating' && how === 'after') setTimeout(end, Number(number))
    },
  },
)
await instance.close()
