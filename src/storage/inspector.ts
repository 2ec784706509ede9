/** Looks at the files of a directory that nobody has open, and at what a server has of it. */

export { openStoreInspector } from './duckdb/inspect-store.ts'
export { BrokenFileError } from './instance.ts'
export { openServerInspector, type ServerInspector } from './server-inspector.ts'
