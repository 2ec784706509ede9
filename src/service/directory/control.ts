import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createTables, openControl } from '../../engine/storage/control/control-store.ts'
import { controlFile } from '../../engine/storage/control/format.ts'
import { mustBeWhole } from '../../engine/storage/duckdb/whole-file.ts'
import type { FileFormat } from '../../engine/storage/format.ts'
import { type Instance, isDiskFull } from '../../engine/storage/instance.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { type Accounts, createAccounts } from '../accounts/accounts.ts'
import { boundedStore } from '../accounts/bounded-store.ts'
import type { AccountContext } from '../accounts/context.ts'
import { type AccountStore, accountShapes, longTables } from '../accounts/records.ts'
import { createCnameLookup, createTxtLookup } from '../network/dns.ts'

const mebibyte = 1024 ** 2
/** What account data as the table of limits allows it needs. */
const usualMemory = 128 * mebibyte
const mostMemory = 2048 * mebibyte
/** Large texts exist several times while a checkpoint writes them. */
const timesItsFiles = 4

/** Bytes of memory that the files of account data need to be opened: they may be fuller than the table of limits allows now. */
export async function accountsMemory(dataDir: string): Promise<number> {
  const sizes = await Promise.all(
    ['control.duckdb', 'control.duckdb.wal'].map(async (name) => (await stat(join(dataDir, name)).catch(() => null))?.size ?? 0),
  )
  const files = sizes.reduce((sum, size) => sum + size, 0)
  return Math.min(usualMemory + timesItsFiles * files, mostMemory)
}

export const accountsFile: FileFormat = {
  ...controlFile,
  create: (database) => [...controlFile.create(database), ...createTables(accountShapes)],
}

/** Account data of a directory, in its `control.duckdb`. */
export async function openAccounts(
  instance: Instance,
  options: Partial<Omit<AccountContext, 'store' | 'newId'>> = {},
  isCopied = false,
): Promise<Accounts> {
  if (isCopied) await mustBeWhole(join(instance.dataDir, 'control.duckdb'))
  const isNew = await instance.attach('control', 'control.duckdb', accountsFile)
  const store: AccountStore = await openControl(instance, accountShapes, {
    isNew,
    long: longTables,
    onChange: () => instance.checkpoint('control'), // such statements do not stay in the write-ahead log, where their replay is at its weakest
    isReadOnly: instance.isReadOnly,
  })
  return createAccounts({
    store: await boundedStore(refusingWhenFull(store)),
    lookupTxt: createTxtLookup(),
    lookupCname: createCnameLookup(),
    ...options,
  })
}

/** A change that fails because the disk is full has no effect and can be retried. */
const refusingWhenFull = ({ read, write }: AccountStore): AccountStore => ({
  read,
  write: (work) =>
    write(work).catch((error: unknown) => {
      throw isDiskFull(error) ? new WaymarkError('no-space', {}, { cause: error }) : error
    }),
})
