import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commands } from './commands.ts'
import {
  damageProject,
  findPlaces,
  type LogDamage,
  logDamages,
  makeKilledDirectory,
  projectOf,
  type StoreDamage,
  storeDamages,
} from './directory.ts'
import { expectations } from './expectations.ts'
import { buildAll } from './processes.ts'
import { surroundings } from './surroundings.ts'

// npm run test:damage [-- --only serve] [-- --log gone] : every damage of the log × every damage of the store × every command, in real processes, and
// what can be wrong around a directory.

const { values } = parseArgs({ options: { only: { type: 'string' }, log: { type: 'string' }, store: { type: 'string' } } })
const wanted = (given: string | undefined, name: string) => given === undefined || given === name

const folder = mkdtempSync(join(tmpdir(), 'waymark-damage-'))
const base = join(folder, 'base')
const failures: string[] = []
let done = 0
const attempt = async (name: string, work: () => Promise<void>) => {
  const began = performance.now()
  try {
    await work()
    done++
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${name}`)
  } catch (error) {
    failures.push(name)
    console.log(`FAILED    ${name}\n${error instanceof Error ? error.stack : error}`)
  }
}

try {
  const built = await buildAll()
  await makeKilledDirectory(base)
  const places = await findPlaces(projectOf(base))
  for (const [command, check] of Object.entries(commands)) {
    if (!wanted(values.only, command)) continue
    for (const log of Object.keys(logDamages) as LogDamage[])
      for (const store of Object.keys(storeDamages) as StoreDamage[]) {
        if (!wanted(values.log, log) || !wanted(values.store, store)) continue
        const dataDir = join(folder, 'data')
        cpSync(base, dataDir, { recursive: true })
        damageProject(projectOf(dataDir), places, log, store)
        await attempt(`${command}: log ${log}, store ${store}`, () => check(built, dataDir, expectations[log][store]))
        rmSync(dataDir, { recursive: true, force: true })
      }
  }
  for (const [name, check] of Object.entries(surroundings)) {
    if (!wanted(values.only, 'surroundings')) continue
    const dataDir = join(folder, 'data')
    cpSync(base, dataDir, { recursive: true })
    await attempt(name, () => check(built, dataDir))
    rmSync(dataDir, { recursive: true, force: true })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${done} as they must be, ${failures.length} not${failures.map((name) => `\n  ${name}`).join('')}`)
if (failures.length > 0) process.exitCode = 1
