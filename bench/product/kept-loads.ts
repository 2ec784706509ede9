import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { DataSet } from './generator.ts'

// What --keep leaves beside the folder of a contender: of which data set they are, and what loading them took.

interface Kept<Loaded> {
  readonly data: DataSet
  readonly loaded: Loaded
}

const fileOf = (folder: string): string => `${folder}.loaded.json`

/** Null: nothing was kept there. */
export function keptLoad<Loaded>(folder: string, data: DataSet): Loaded | null {
  if (!existsSync(fileOf(folder))) return null
  const kept = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Kept<Loaded>
  if (kept.data.events !== data.events || kept.data.seed !== data.seed)
    throw new Error(
      `${folder} has ${kept.data.events} events of seed ${kept.data.seed}: ask for those, keep others in another folder, or remove it`,
    )
  return kept.loaded
}

export const keepLoad = <Loaded>(folder: string, data: DataSet, loaded: Loaded): void =>
  writeFileSync(fileOf(folder), JSON.stringify({ data, loaded } satisfies Kept<Loaded>))

/** Further events arrive: the folder no longer has the data set alone. */
export const forgetLoad = (folder: string): void => rmSync(fileOf(folder), { force: true })
