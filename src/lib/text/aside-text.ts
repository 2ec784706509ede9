/** What became of records that ended the engine. */
export const asideText = (records: readonly number[]): string =>
  `${records.length === 1 ? 'record' : 'records'} ${records.slice(0, 10).join(', ')}${records.length > 10 ? ', …' : ''} ended the engine whenever applied, and ${records.length === 1 ? 'is' : 'are'} kept in the folder set-aside; docs/reliability.md says how to send ${records.length === 1 ? 'it' : 'them'} again`
