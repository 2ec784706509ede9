/** A small database in memory that opens no file. */
export { type LockedDatabase, openLockedDatabase } from '../duckdb/locked-database.ts'
