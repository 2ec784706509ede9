/** Looks at the files of a directory that nobody has open. */
export { openStoreInspector } from './duckdb/inspect-store.ts'
export { BrokenFileError } from './duckdb/instance.ts'
