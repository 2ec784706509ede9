/** The engine that accounts are in, and events where no server has them. */
export { BrokenFileError, type Instance, isDiskFull, openInstance } from './duckdb/instance.ts'
