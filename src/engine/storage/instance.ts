/** The engine that stores accounts, and events unless they are on a server. */

export { columnsOfFiles, parquetOfLines, repeatedKey } from './duckdb/attached/files.ts'
export { keepEmptyFile } from './duckdb/empty-files.ts'
export { headBytes, isDatabaseFile, isWhole, readHead, statedChecksum } from './duckdb/file/database-file.ts'
export { mustBeWhole } from './duckdb/file/whole-file.ts'
export { BrokenFileError, type Instance, isDiskFull, openInstance } from './duckdb/instance.ts'
export { storeFile } from './duckdb/migrations.ts'
