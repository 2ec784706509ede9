import type { FileFormat, Migration } from '../format.ts'

/** Answers of queries in the background have files of their own. Those that were kept for their ten minutes are forgotten. */
const answersInFiles: Migration = { to: 2, statements: (database) => [`DROP TABLE IF EXISTS "${database}".main.query_runs`] }

/** The file itself; its tables are made by `openControl` from the shapes it is given, so a new table, or a new column that allows null, needs no step here. */
export const controlFile: FileFormat = {
  version: 2,
  create: (database) => [
    `CREATE TABLE "${database}".main.meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)`,
    `INSERT INTO "${database}".main.meta VALUES ('format', '2')`,
  ],
  migrations: [answersInFiles],
}
