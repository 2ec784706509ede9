import type { FileFormat, Migration } from '../format.ts'
import { createStore, storeFormat } from './schema.ts'

/** Steps of store.duckdb, oldest first. A step never reads what a later version wrote. */
const storeMigrations: readonly Migration[] = []

export const storeFile: FileFormat = { version: storeFormat, create: createStore, migrations: storeMigrations }
