import { trimAccounts } from '../../service/directory/large-rows.ts'
import type { Command } from './command.ts'
import { dataOption, mustBeDataDirectory } from './directory.ts'

export const trim: Command = {
  options: {
    data: dataOption,
    remove: { value: 'TABLE/KEY', summary: 'remove this row instead, as `waymark doctor --largest` prints it' },
  },
  run: async (values, { out }) => {
    const dataDir = values.required('data')
    await mustBeDataDirectory(dataDir)
    const rows = await trimAccounts(dataDir, values.text('remove'))
    for (const { table, key, characters, left } of rows)
      out(
        `${table}/${key[1]}: ${characters.toLocaleString('en-US')} characters, now ${left === 0 ? 'removed' : left.toLocaleString('en-US')}`,
      )
    if (rows.length === 0) out('No row exceeds its limit.')
  },
}
