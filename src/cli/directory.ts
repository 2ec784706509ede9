import { mkdir } from 'node:fs/promises'
import type { Accounts } from '../accounts/accounts.ts'
import { openAccounts } from '../control.ts'
import { WaymarkError } from '../errors/errors.ts'
import { openInstance } from '../storage/duckdb/instance.ts'

export const dataOption = { value: 'DIR', summary: 'the data directory', default: './data' } as const

/** The accounts of a directory that no server has open, for one command. */
export async function withAccounts<T>(dataDir: string, work: (accounts: Accounts) => Promise<T>): Promise<T> {
  await makeDirectory(dataDir)
  const instance = await openInstance({ dataDir })
  try {
    return await work(await openAccounts(instance))
  } finally {
    await instance.close()
  }
}

export const makeDirectory = (dataDir: string): Promise<unknown> =>
  mkdir(dataDir, { recursive: true }).catch((error: unknown) => {
    throw new WaymarkError(
      'unusable-directory',
      { dataDir, reason: error instanceof Error ? error.message : String(error) },
      { cause: error },
    )
  })
