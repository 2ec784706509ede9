/** The engine that stores accounts, and events unless they are on a server. */
export { BrokenFileError, type Instance, isDiskFull, openInstance } from './duckdb/instance.ts'
