import { open } from '../../../src/engine.ts'

// Sends ten events with the numbers from FROM on, and makes a backup.   node backup-child.mjs DIRECTORY PLACE FROM

const [dataDir = '', place = '', from = '0'] = process.argv.slice(2)
const waymark = await open({ dataDir, durability: 'os', minFreeBytes: 0, onRecovery: () => undefined })
const [known] = await waymark.projects()
const project = known ? await waymark.project(known.id) : await waymark.createProject({ name: 'Shop' })
const batch = Array.from({ length: 10 }, (_, i) => ({ event: 'e', distinct_id: `u${i % 3}`, properties: { n: Number(from) + i } }))
await project.ingest({ batch })
await waymark.backup(place)
await waymark.close()
