/** Inspects the files of a directory that is not open, and its data on a server. */

export { openStoreInspector } from '../duckdb/inspect-store.ts'
export { BrokenFileError } from '../instance.ts'
export { openServerInspector, type ServerInspector } from './server-inspector.ts'
