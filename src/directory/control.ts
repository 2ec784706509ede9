import { type Accounts, createAccounts } from '../accounts/accounts.ts'
import type { AccountContext } from '../accounts/context.ts'
import { type AccountStore, type AccountTables, accountShapes, longTables } from '../accounts/records.ts'
import { WaymarkError } from '../errors/errors.ts'
import { createCnameLookup, createTxtLookup } from '../network/dns.ts'
import { openControl } from '../storage/control/control-store.ts'
import { controlFile } from '../storage/control/format.ts'
import { type Instance, isDiskFull } from '../storage/instance.ts'

/** Account data of a directory, in its `control.duckdb`. */
export async function openAccounts(instance: Instance, options: Partial<Omit<AccountContext, 'store' | 'newId'>> = {}): Promise<Accounts> {
  await instance.attach('control', 'control.duckdb', controlFile)
  const store: AccountStore = await openControl<AccountStore['read'], AccountTables>(instance, accountShapes, {
    long: longTables,
    onChange: () => instance.checkpoint('control'), // such statements do not stay in the write-ahead log, where their replay is at its weakest
    isReadOnly: instance.isReadOnly,
  })
  return createAccounts({ store: refusingWhenFull(store), lookupTxt: createTxtLookup(), lookupCname: createCnameLookup(), ...options })
}

/** A change that fails because the disk is full has no effect and can be retried. */
const refusingWhenFull = ({ read, write }: AccountStore): AccountStore => ({
  read,
  write: (work) =>
    write(work).catch((error: unknown) => {
      throw isDiskFull(error) ? new WaymarkError('no-space', {}, { cause: error }) : error
    }),
})
