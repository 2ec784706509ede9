import { controlFile } from '../../engine/storage/control/format.ts'
import { type LargeRow, largestRows, removeRow, shortenRow } from '../../engine/storage/control/large-rows.ts'
import { type Instance, openInstance } from '../../engine/storage/instance.ts'
import { lockDirectory } from '../../engine/storage/locks/lock.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { type RowLimit, rowLimits } from '../../limits/limits.ts'
import { accountShapes } from '../accounts/records.ts'
import { accountsMemory } from './control.ts'

const limitOf = (table: string): RowLimit => rowLimits[table as keyof typeof rowLimits]

export interface ListedRow extends LargeRow {
  /** Characters that the table of limits allows. */
  readonly most: number
}

/** The largest rows of account data. The file must be attached. */
export const listLargest = async (instance: Instance, count: number): Promise<readonly ListedRow[]> =>
  (await largestRows(instance, accountShapes, count)).map((row) => ({ ...row, most: limitOf(row.table).size }))

export interface Trimmed extends ListedRow {
  readonly left: number
}

/** `TABLE/KEY`, as `doctor --largest` prints it. */
const readName = (name: string): Omit<LargeRow, 'characters'> => {
  const [table = '', ...rest] = name.split('/')
  const shape: Readonly<Record<string, string>> | undefined = Object.entries(accountShapes).find(([one]) => one === table)?.[1]
  const key = ['id', 'hash', 'key', 'name'].find((column) => shape && column in shape)
  if (!shape || !key || rest.length === 0)
    throw new WaymarkError('wrong-usage', {
      message: `--remove must be TABLE/KEY as \`waymark doctor --largest\` prints it, but got ${name}.`,
    })
  return { table, key: [key, rest.join('/')] }
}

/** Rows whose loss would leave others without an owner: their texts are cut, and their owners remove them. */
const kept = ['users', 'organizations', 'projects', 'memberships', 'counters']

/** Cuts the rows of account data that are larger than the table of limits allows, or removes one of them. No process may have the directory open. */
export async function trimAccounts(dataDir: string, remove: string | undefined): Promise<readonly Trimmed[]> {
  const asked = remove === undefined ? null : readName(remove)
  if (asked && kept.includes(asked.table))
    throw new WaymarkError('wrong-usage', {
      message: `A row of ${asked.table} cannot be removed: other rows belong to it. Without --remove, its texts are truncated.`,
    })
  const lock = await lockDirectory(dataDir)
  try {
    const instance = await openInstance({
      dataDir,
      memoryLimit: Math.max(await accountsMemory(dataDir), 512e6),
      threads: 1,
      concurrency: 1,
    })
    try {
      await instance.attach('control', 'control.duckdb', controlFile)
      if (asked) {
        const found = (await largestRows(instance, { [asked.table]: accountShapes[asked.table as keyof typeof accountShapes] }, 1e6)).find(
          ({ key }) => key[1] === asked.key[1],
        )
        if (!found || (await removeRow(instance, asked)) === 0)
          throw new WaymarkError('command-failed', { message: `There is no row ${remove}.` })
        return [{ ...found, most: limitOf(asked.table).size, left: 0 }]
      }
      const trimmed: Trimmed[] = []
      for (;;) {
        const large = await largestRows(instance, accountShapes, 100, (table) => limitOf(table).size)
        if (large.length === 0) return trimmed
        for (const row of large) {
          const most = limitOf(row.table).size
          const left = await shortenRow(instance, accountShapes[row.table as keyof typeof accountShapes], row, most)
          trimmed.push({ ...row, most, left })
        }
        await instance.checkpoint('control')
      }
    } finally {
      await instance.close()
    }
  } finally {
    await lock.release()
  }
}
