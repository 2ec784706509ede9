import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepEmptyFile, openInstance, storeFile } from '../../engine/storage/instance.ts'
import { accountsFile } from './control.ts'

// The program of the build that writes the empty files of accounts and of projects: `node empty-files.mjs FOLDER`.

const [folder = '.'] = process.argv.slice(2)
const dataDir = await mkdtemp(join(tmpdir(), 'waymark-empty-'))
for (const [name, format] of Object.entries({ control: accountsFile, store: storeFile })) {
  const instance = await openInstance({ dataDir })
  await instance.attach(name, name, format)
  await instance.close()
  await keepEmptyFile(format, join(dataDir, name), folder)
}
await rm(dataDir, { recursive: true })
