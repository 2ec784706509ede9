import type { Accounts } from '../accounts/accounts.ts'
import { open } from '../engine.ts'

export const dataOption = { value: 'DIR', summary: 'the data directory', default: './data' } as const

/** The accounts of a directory that no server has open, for one command. */
export async function withAccounts<T>(dataDir: string, work: (accounts: Accounts) => Promise<T>): Promise<T> {
  const waymark = await open({ dataDir })
  try {
    return await work(waymark.accounts)
  } finally {
    await waymark.close()
  }
}
