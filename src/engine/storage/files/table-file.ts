/** Reads CSV, Parquet and JSON. */
export { readTableFile } from '../duckdb/read-file.ts'
