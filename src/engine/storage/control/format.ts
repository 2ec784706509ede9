import type { FileFormat, Migration } from '../format.ts'

/** Answers of async queries have files of their own. Answers that were stored for ten minutes in the table are dropped. */
const answersInFiles: Migration = { to: 2, statements: (database) => [`DROP TABLE IF EXISTS "${database}".main.query_runs`] }

/** The file itself. `openControl` creates its tables from the given shapes, so a new table or a new nullable column needs no step here. */
export const controlFile: FileFormat = {
  version: 2,
  create: (database) => [
    `CREATE TABLE "${database}".main.meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)`,
    `INSERT INTO "${database}".main.meta VALUES ('format', '2')`,
  ],
  migrations: [answersInFiles],
}
