/** Where several servers keep them. */
export const sharedAsidePlace = 'in the table cluster_set_aside of PostgreSQL'

/** What became of records that ended the engine. */
export const asideText = (records: readonly number[], place = 'in the folder set-aside'): string =>
  `${records.length === 1 ? 'record' : 'records'} ${records.slice(0, 10).join(', ')}${records.length > 10 ? ', …' : ''} crashed the engine each time ${records.length === 1 ? 'it was' : 'they were'} applied, and ${records.length === 1 ? 'is' : 'are'} kept ${place}; docs/reliability.md shows how to send ${records.length === 1 ? 'it' : 'them'} again`
