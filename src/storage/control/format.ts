import type { FileFormat } from '../format.ts'

/** The file itself; its tables are made by `openControl` from the shapes it is given, so a new table, or a new column that allows null, needs no step here. */
export const controlFile: FileFormat = {
  version: 1,
  create: (database) => [
    `CREATE TABLE "${database}".main.meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)`,
    `INSERT INTO "${database}".main.meta VALUES ('format', '1')`,
  ],
  migrations: [],
}
